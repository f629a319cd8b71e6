"""A stream's history in a few hundred points, however long it is.

Rounds are gathered in blocks of equal size. When there are too many blocks, neighbours are merged and
the size doubles, so a stream of a million rounds has as many points as one of a few hundred. List
lengths and chosen scores are kept as histograms, from which quantiles are read; the last lists are kept as they are.
"""

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["Histogram", "Lengths", "Series"]

#: The most blocks; then neighbours are merged.
_MOST_BLOCKS: Final = 256
#: Lengths up to this one have a bin each; above it, bins grow by a tenth.
_EXACT: Final = 20
_GROWTH: Final = 1.1
_BINS: Final = 60
#: How many lists are recent.
_RECENT: Final = 200
#: The largest score that is drawn: twice the range that reaches it is still a number.
_LARGEST: Final = 1e306


@dataclass(slots=True)
class Lengths:
    """Histogram of list lengths: exact up to 20, then in bins 10 % wide."""

    #: For each bin how many lengths are in it, and their sum.
    bins: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, length: int) -> None:
        """Count a list."""
        place = length if length <= _EXACT else _EXACT + math.ceil(math.log(length / _EXACT, _GROWTH))
        count, total = self.bins.get(place, (0, 0))
        self.bins[place] = (count + 1, total + length)

    def merge(self, other: "Lengths") -> None:
        """Count what another has counted."""
        for place, (more, sum_) in other.bins.items():
            count, total = self.bins.get(place, (0, 0))
            self.bins[place] = (count + more, total + sum_)

    def quantile(self, share: float) -> float | None:
        """Return a quantile, or None if nothing was counted.

        >>> lengths = Lengths()
        >>> for length in (1, 2, 2, 3, 1000):
        ...     lengths.add(length)
        >>> lengths.quantile(0.5), lengths.quantile(1.0)
        (2.0, 1000.0)
        """
        everything = sum(count for count, _ in self.bins.values())
        seen = 0
        for place in sorted(self.bins):
            count, total = self.bins[place]
            seen += count
            if seen >= share * everything:
                return total / count
        return None


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
class Block:
    """A few rounds in a row, and the answers that came meanwhile."""

    rounds: int = 0
    hits: int = 0
    misses: int = 0
    candidates: int = 0
    at: float = 0.0
    threshold: float = -math.inf
    level: float | None = None
    lengths: Lengths = field(default_factory=Lengths)

    def merge(self, later: "Block") -> None:
        self.rounds += later.rounds
        self.hits += later.hits
        self.misses += later.misses
        self.candidates += later.candidates
        self.at, self.threshold, self.level = later.at, later.threshold, later.level
        self.lengths.merge(later.lengths)


@dataclass(slots=True)
class Series:
    """The history of a stream."""

    #: How many rounds are in a block.
    size: int = 1
    blocks: list[Block] = field(default_factory=list)
    #: The length of the last lists, and of how many candidates each.
    recent_lists: deque[tuple[int, int]] = field(default_factory=deque)
    chosen: Histogram = field(default_factory=Histogram)

    def __post_init__(self) -> None:
        self.recent_lists = deque(self.recent_lists, maxlen=_RECENT)

    def show(self, length: int, candidates: int) -> None:
        """Take a list that was shown."""
        if not self.blocks or self.blocks[-1].rounds >= self.size:
            self.blocks.append(Block())
            if len(self.blocks) > _MOST_BLOCKS:
                self._merge()
        block = self.blocks[-1]
        block.rounds += 1
        block.candidates += candidates
        block.lengths.add(length)
        self.recent_lists.append((length, candidates))

    def recent(self) -> dict[str, float | None]:
        """Return median and 90th percentile of the length of the last lists, and their median of candidates.

        >>> history = Series()
        >>> for length in [100] * 50 + [1] * 200:
        ...     history.show(length, 100)
        >>> history.recent()
        {'list_length_median': 1, 'list_length_p90': 1, 'candidates_median': 100}
        """
        lengths = sorted(length for length, _ in self.recent_lists)
        candidates = sorted(count for _, count in self.recent_lists)
        last = len(self.recent_lists) - 1
        return {
            "list_length_median": lengths[last // 2] if lengths else None,
            "list_length_p90": lengths[math.ceil(0.9 * last)] if lengths else None,
            "candidates_median": candidates[last // 2] if candidates else None,
        }

    def answer(self, kind: str) -> None:
        """Take an answer."""
        if not self.blocks:  # the charts have just started again
            self.blocks.append(Block())
        self.blocks[-1].hits += kind == "hit"
        self.blocks[-1].misses += kind == "miss"

    def pick(self, of: int, score: float) -> None:
        """Take what was picked: what the score, of the fit with this number, made of it."""
        self.chosen.add(of, score)

    def mark(self, at: float, threshold: float, level: float | None) -> None:
        """Say where things stand after an event."""
        if not self.blocks:  # the charts have just started again
            self.blocks.append(Block())
        block = self.blocks[-1]
        block.at, block.threshold, block.level = at, threshold, level

    def _merge(self) -> None:
        last = self.blocks.pop()
        for first, second in zip(self.blocks[::2], self.blocks[1::2], strict=True):
            first.merge(second)
        self.blocks = [*self.blocks[::2], last]
        self.size *= 2

    def points(self) -> dict[str, list[Any]]:
        """Return the history column by column; cumulative where that is what one draws."""
        names = ["round", "at", "threshold", "hits", "misses", "list_median", "list_p90", "candidates", "level"]
        columns: dict[str, list[Any]] = {name: [] for name in names}
        rounds = 0
        for block in self.blocks:
            rounds += block.rounds
            values = (
                rounds,
                block.at,
                block.threshold,
                block.hits,
                block.misses,
                block.lengths.quantile(0.5),
                block.lengths.quantile(0.9),
                block.candidates / max(block.rounds, 1),
                block.level,
            )
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
        return columns

    def spark(self, most: int = 40) -> list[float]:
        """Return the thresholds at up to so many points."""
        step = max(1, math.ceil(len(self.blocks) / most))
        return [block.threshold for block in self.blocks[::-1][::step][::-1]]
