"""A stream's history in a few hundred points, however long it is.

Rounds are gathered in blocks of equal size. When there are too many blocks, neighbors are merged and
the size doubles, so a stream of a million rounds has as many points as one of a few hundred. List
lengths and chosen scores are kept as histograms, from which quantiles are read; the last lists are kept as they are.
"""

import math
from array import array
from dataclasses import dataclass, field
from typing import Any, Final

from shortlist.rounds.shown import to_null
from shortlist.service.engine.lengths import Counts, Floats, Lengths, Sums, no_counts, no_floats, no_sums

__all__ = ["Histogram", "Series"]

#: The most blocks; then neighbors are merged.
_MOST_BLOCKS: Final = 200
_BINS: Final = 60
#: How many lists are recent.
_RECENT: Final = 200
#: The largest score that is drawn: twice the range that reaches it is still a number.
_LARGEST: Final = 1e306


@dataclass(slots=True)
class Histogram:
    """How often which score was chosen. The range doubles whenever a score lies outside of it."""

    #: Which fit of the score this is of; another one starts from scratch.
    of: int | None = None
    low: float = 0.0
    width: float = 0.0
    counts: list[int] = field(default_factory=list)

    def add(self, of: int, value: float) -> None:
        """Count a score; one whose bins would be wider than floats reach is left out."""
        if abs(value) > _LARGEST:
            return
        if self.of != of or not self.counts:
            self.of, self.counts = of, [0] * _BINS
            self.width = max(abs(value), 1e-9) / _BINS * 2
            self.low = value - self.width * _BINS / 2
        while value < self.low or value >= self.low + self.width * _BINS:
            self._double(downwards=value < self.low)
        self.counts[min(int((value - self.low) / self.width), _BINS - 1)] += 1

    def _double(self, *, downwards: bool) -> None:
        merged = [self.counts[i] + self.counts[i + 1] for i in range(0, _BINS, 2)]
        if downwards:
            self.low -= self.width * _BINS
            self.counts = [0] * (_BINS // 2) + merged
        else:
            self.counts = merged + [0] * (_BINS // 2)
        self.width *= 2


@dataclass(slots=True)
class Series:
    """The history of a stream: a column for each figure, a row for each block."""

    #: How many rounds are in a block.
    size: int = 1
    rounds: Counts = field(default_factory=no_counts)
    hits: Counts = field(default_factory=no_counts)
    misses: Counts = field(default_factory=no_counts)
    candidates: Sums = field(default_factory=no_sums)
    lengths: Lengths = field(default_factory=Lengths)
    #: Where things stood after the block's last event; minus infinity where there is no level.
    at: Floats = field(default_factory=no_floats)
    threshold: Floats = field(default_factory=no_floats)
    level: Floats = field(default_factory=no_floats)
    #: The length of the last lists, and of how many candidates each.
    recent_lengths: Counts = field(default_factory=no_counts)
    recent_candidates: Counts = field(default_factory=no_counts)
    chosen: Histogram = field(default_factory=Histogram)

    def show(self, length: int, candidates: int) -> None:
        """Take a list that was shown."""
        if not self.rounds or self.rounds[-1] >= self.size:
            self._begin()
            if len(self.rounds) > _MOST_BLOCKS:
                self._merge()
        self.rounds[-1] += 1
        self.candidates[-1] += candidates
        self.lengths.add(length)
        for recent, value in ((self.recent_lengths, length), (self.recent_candidates, candidates)):
            recent.append(value)
            if len(recent) > _RECENT:
                del recent[0]

    def recent(self) -> dict[str, Any]:
        """Return median and 90th percentile of the length of the last lists, and their median of candidates.

        >>> history = Series()
        >>> for length in [100] * 50 + [1] * 200:
        ...     history.show(length, 100)
        >>> history.recent()
        {'list_length_median': 1, 'list_length_p90': 1, 'candidates_median': 100}
        """
        lengths, candidates = sorted(self.recent_lengths), sorted(self.recent_candidates)
        last = len(lengths) - 1
        return {
            "list_length_median": lengths[last // 2] if lengths else None,
            "list_length_p90": lengths[math.ceil(0.9 * last)] if lengths else None,
            "candidates_median": candidates[last // 2] if candidates else None,
        }

    def answer(self, kind: str) -> None:
        """Take an answer."""
        if not self.rounds:  # the charts have just started again
            self._begin()
        self.hits[-1] += kind == "hit"
        self.misses[-1] += kind == "miss"

    def pick(self, of: int, score: float) -> None:
        """Take what was picked: what the score, of the fit with this number, made of it."""
        self.chosen.add(of, score)

    def mark(self, at: float, threshold: float, level: float = -math.inf) -> None:
        """Say where things stand after an event."""
        if not self.rounds:  # the charts have just started again
            self._begin()
        self.at[-1], self.threshold[-1], self.level[-1] = at, threshold, level

    def _begin(self) -> None:
        """Begin a block."""
        for counted in (self.rounds, self.hits, self.misses, self.candidates):
            counted.append(0)
        for values, value in ((self.at, 0.0), (self.threshold, -math.inf), (self.level, -math.inf)):
            values.append(value)
        self.lengths.begin()

    def _merge(self) -> None:
        """Merge neighbors; the last block has just begun, and stays."""
        last = len(self.rounds) - 1
        groups = [*(range(first, first + 2) for first in range(0, last, 2)), range(last, last + 1)]
        for name in ("rounds", "hits", "misses", "candidates"):
            values = getattr(self, name)
            merged = [sum(values[each] for each in group) for group in groups]
            setattr(self, name, array(values.typecode, merged))
        for name in ("at", "threshold", "level"):
            values = getattr(self, name)
            setattr(self, name, array("d", [values[group[-1]] for group in groups]))
        self.lengths = self.lengths.merged(groups)
        self.size *= 2

    def points(self) -> dict[str, list[Any]]:
        """Return the history column by column; cumulative where that is what one draws."""
        blocks = range(len(self.rounds))
        total, rounds = 0, list[int]()
        for count in self.rounds:
            total += count
            rounds.append(total)
        return {
            "round": rounds,
            "at": self.at.tolist(),
            "threshold": self.threshold.tolist(),
            "hits": self.hits.tolist(),
            "misses": self.misses.tolist(),
            "list_mean": [self.lengths.mean(block) for block in blocks],
            "list_p90": [self.lengths.quantile(block, 0.9) for block in blocks],
            "candidates": [self.candidates[block] / max(self.rounds[block], 1) for block in blocks],
            "level": [to_null(level) for level in self.level],
        }

    def spark(self, most: int = 40) -> list[float]:
        """Return the thresholds at up to so many points."""
        step = max(1, math.ceil(len(self.threshold) / most))
        points: list[float] = self.threshold[::-1][::step][::-1].tolist()
        return points
