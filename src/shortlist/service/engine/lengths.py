"""How long lists were, block after block: histograms, exact up to 20, then in bins 10 % wide.

There are a few hundred blocks of a stream and many streams, so the bins of all blocks are kept one after the other in
flat arrays: a few bytes each.
"""

import functools
import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

__all__ = ["Counts", "Floats", "Lengths", "Sums", "no_counts", "no_floats", "no_sums"]

#: Columns of numbers, as the codec knows them: by the type code of their array.
Counts = Annotated[Any, "I"]
Sums = Annotated[Any, "q"]
Floats = Annotated[Any, "d"]

#: Lengths up to this one have a bin each; above it, bins grow by a tenth.
_EXACT: Final = 20
_GROWTH: Final = 1.1
#: What makes an empty column of each kind.
no_counts, no_sums, no_floats = (functools.partial(array, code) for code in ("I", "q", "d"))


@dataclass(slots=True)
class Lengths:
    """The lengths of lists in blocks. The last block is the one that grows."""

    #: The bins that have lengths in them, by block and then by length; how many, and their sum.
    bins: Counts = field(default_factory=no_counts)
    counts: Counts = field(default_factory=no_counts)
    totals: Sums = field(default_factory=no_sums)
    #: Where each block begins.
    starts: Counts = field(default_factory=no_counts)

    def begin(self) -> None:
        """Begin a block."""
        self.starts.append(len(self.bins))

    def add(self, length: int) -> None:
        """Count a list in the last block."""
        bin_ = length if length <= _EXACT else _EXACT + math.ceil(math.log(length / _EXACT, _GROWTH))
        self._add(bin_, 1, length)

    def _add(self, bin_: int, count: int, total: int) -> None:
        where = bisect_left(self.bins, bin_, self.starts[-1])
        if where < len(self.bins) and self.bins[where] == bin_:
            self.counts[where] += count
            self.totals[where] += total
            return
        for values, value in ((self.bins, bin_), (self.counts, count), (self.totals, total)):
            values.insert(where, value)

    def merged(self, groups: Iterable[range]) -> "Lengths":
        """Return the same lengths with each of these groups of blocks as one."""
        lengths = Lengths()
        for blocks in groups:
            lengths.begin()
            for block in blocks:
                for where in self._of(block):
                    lengths._add(self.bins[where], self.counts[where], self.totals[where])
        return lengths

    def quantile(self, block: int, share: float) -> float | None:
        """Return a quantile of a block, or None if nothing was counted in it.

        >>> lengths = Lengths()
        >>> lengths.begin()
        >>> for length in (1, 2, 2, 3, 1000):
        ...     lengths.add(length)
        >>> lengths.quantile(0, 0.5), lengths.quantile(0, 1.0), lengths.mean(0)
        (2.0, 1000.0, 201.6)
        """
        mine = self._of(block)
        everything, seen = sum(self.counts[mine.start : mine.stop]), 0
        for where in mine:
            seen += self.counts[where]
            if seen >= share * everything:
                return float(self.totals[where] / self.counts[where])
        return None

    def mean(self, block: int) -> float | None:
        """Return the mean of a block, or None if nothing was counted in it."""
        mine = self._of(block)
        everything = sum(self.counts[mine.start : mine.stop])
        return sum(self.totals[mine.start : mine.stop]) / everything if everything else None

    def _of(self, block: int) -> range:
        end = self.starts[block + 1] if block + 1 < len(self.starts) else len(self.bins)
        return range(self.starts[block], end)
