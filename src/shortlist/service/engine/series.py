"""A stream's history in a few hundred points, however long it is.

Rounds are gathered in blocks of equal size. When there are too many blocks, neighbours are merged and
the size doubles, so a stream of a million rounds has as many points as one of a few hundred. List
lengths and chosen scores are kept as histograms, from which quantiles are read; the last lists are kept as they are.
"""

import math
from collections import deque
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


class Lengths:
    """Histogram of list lengths: exact up to 20, then in bins 10 % wide."""

    def __init__(self, bins: list[list[int]] | None = None) -> None:
        # For each bin how many lengths are in it, and their sum.
        self._bins = {place: (count, total) for place, count, total in bins or ()}

    def add(self, length: int) -> None:
        """Count a list."""
        place = length if length <= _EXACT else _EXACT + math.ceil(math.log(length / _EXACT, _GROWTH))
        count, total = self._bins.get(place, (0, 0))
        self._bins[place] = (count + 1, total + length)

    def merge(self, other: "Lengths") -> None:
        """Count what another has counted."""
        for place, (more, sum_) in other._bins.items():
            count, total = self._bins.get(place, (0, 0))
            self._bins[place] = (count + more, total + sum_)

    def to_list(self) -> list[list[int]]:
        """Return it as plain data."""
        return [[place, count, total] for place, (count, total) in self._bins.items()]

    def quantile(self, share: float) -> float | None:
        """Return a quantile, or None if nothing was counted.

        >>> lengths = Lengths()
        >>> for length in (1, 2, 2, 3, 1000):
        ...     lengths.add(length)
        >>> lengths.quantile(0.5), lengths.quantile(1.0)
        (2.0, 1000.0)
        """
        everything = sum(count for count, _ in self._bins.values())
        seen = 0
        for place in sorted(self._bins):
            count, total = self._bins[place]
            seen += count
            if seen >= share * everything:
                return total / count
        return None


class Histogram:
    """How often which score was chosen. The range doubles whenever a score lies outside of it."""

    def __init__(self) -> None:
        #: Which score this is of; another one starts anew.
        self.of: int | None = None
        self.low = self.width = 0.0
        self.counts: list[int] = []

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

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"of": self.of, "low": self.low, "width": self.width, "counts": self.counts}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Histogram":
        """Return what `to_dict` described."""
        made = cls()
        made.of, made.low, made.width, made.counts = data["of"], data["low"], data["width"], data["counts"]
        return made


class _Block:
    """A few rounds in a row, and the answers that came meanwhile."""

    __slots__ = ("at", "candidates", "hits", "lengths", "level", "misses", "rounds", "threshold")

    def __init__(self) -> None:
        self.rounds = self.hits = self.misses = self.candidates = 0
        self.at, self.threshold = 0.0, -math.inf
        self.level: float | None = None
        self.lengths = Lengths()

    def merge(self, later: "_Block") -> None:
        self.rounds += later.rounds
        self.hits += later.hits
        self.misses += later.misses
        self.candidates += later.candidates
        self.at, self.threshold, self.level = later.at, later.threshold, later.level
        self.lengths.merge(later.lengths)

    def to_list(self) -> list[Any]:
        plain = [self.rounds, self.hits, self.misses, self.candidates, self.at, self.threshold, self.level]
        return [*plain, self.lengths.to_list()]

    @classmethod
    def from_list(cls, data: list[Any]) -> "_Block":
        made = cls()
        *plain, lengths = data
        made.rounds, made.hits, made.misses, made.candidates, made.at, made.threshold, made.level = plain
        made.lengths = Lengths(lengths)
        return made


class Series:
    """The history of a stream."""

    def __init__(self) -> None:
        self._size = 1
        self._blocks: list[_Block] = []
        # The length of the last lists, and of how many candidates each.
        self._recent: deque[tuple[int, int]] = deque(maxlen=_RECENT)
        self.chosen = Histogram()

    def show(self, length: int, candidates: int) -> None:
        """Take a list that was shown."""
        if not self._blocks or self._blocks[-1].rounds >= self._size:
            self._blocks.append(_Block())
            if len(self._blocks) > _MOST_BLOCKS:
                self._merge()
        block = self._blocks[-1]
        block.rounds += 1
        block.candidates += candidates
        block.lengths.add(length)
        self._recent.append((length, candidates))

    def recent(self) -> dict[str, float | None]:
        """Return median and 90th percentile of the length of the last lists, and their median of candidates.

        >>> history = Series()
        >>> for length in [100] * 50 + [1] * 200:
        ...     history.show(length, 100)
        >>> history.recent()
        {'list_length_median': 1, 'list_length_p90': 1, 'candidates_median': 100}
        """
        lengths = sorted(length for length, _ in self._recent)
        candidates = sorted(count for _, count in self._recent)
        last = len(self._recent) - 1
        return {
            "list_length_median": lengths[last // 2] if lengths else None,
            "list_length_p90": lengths[math.ceil(0.9 * last)] if lengths else None,
            "candidates_median": candidates[last // 2] if candidates else None,
        }

    def answer(self, kind: str) -> None:
        """Take an answer."""
        if not self._blocks:  # the charts have just started again
            self._blocks.append(_Block())
        self._blocks[-1].hits += kind == "hit"
        self._blocks[-1].misses += kind == "miss"

    def mark(self, at: float, threshold: float, level: float | None) -> None:
        """Say where things stand after an event."""
        block = self._blocks[-1]
        block.at, block.threshold, block.level = at, threshold, level

    def _merge(self) -> None:
        last = self._blocks.pop()
        for first, second in zip(self._blocks[::2], self._blocks[1::2], strict=True):
            first.merge(second)
        self._blocks = [*self._blocks[::2], last]
        self._size *= 2

    def points(self) -> dict[str, list[Any]]:
        """Return the history column by column; cumulative where that is what one draws."""
        names = ["round", "at", "threshold", "hits", "misses", "list_median", "list_p90", "candidates", "level"]
        columns: dict[str, list[Any]] = {name: [] for name in names}
        rounds = 0
        for block in self._blocks:
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
        step = max(1, math.ceil(len(self._blocks) / most))
        return [block.threshold for block in self._blocks[::-1][::step][::-1]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "size": self._size,
            "blocks": [block.to_list() for block in self._blocks],
            "recent": [list(pair) for pair in self._recent],
            "chosen": self.chosen.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Series":
        """Return what `to_dict` described."""
        made = cls()
        made._size = data["size"]
        made._blocks = [_Block.from_list(block) for block in data["blocks"]]
        made._recent.extend((length, count) for length, count in data["recent"])
        made.chosen = Histogram.from_dict(data["chosen"])
        return made
