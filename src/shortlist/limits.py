"""How a boundary is walked: one plain function over numbers, and what all boundaries share.

The boundaries themselves, with their formulas and promises, are in :mod:`shortlist.boundaries`.
"""

import abc
import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.parameters import check_count, check_probability

__all__ = ["Boundary", "Constants", "Memory", "as_array", "next_limit", "walk_limits"]

Constants = tuple[float, float, float, float, float]
Memory = tuple[float, float]

#: The kinds of boundary that `next_limit` knows.
DKW_BAND, MIXTURE, BINOMIAL, QUANTILE, HELD = range(5)


def next_limit(  # noqa: C901 - five short formulas, side by side
    kind: int, n: int, k: int, first: float, second: float, constants: Constants
) -> tuple[int, float, float]:
    """Walk from (n, k_n) to k_{n+1}; `first` and `second` are what the boundary remembers."""
    if kind == MIXTURE:
        # e, kept at (n, k + 1), is multiplied along: exact to 2e-11 at 10^6 rounds, where
        # recomputing it from lgamma is off by 3e-9; it stays near the bar, so nothing overflows.
        a, b, coverage, p0, bar = constants
        first *= (b + n - k - 1) / ((a + b + n) * coverage)
        if first >= bar:
            k += 1
            first *= (a + k) * coverage / ((b + n - k) * p0)
    elif kind == DKW_BAND:
        p0, log_term, horizon, _, _ = constants
        if n < horizon:
            k = max(k, math.floor((n + 1) * p0 - math.sqrt((n + 1) * log_term)))
    elif kind == BINOMIAL:
        # first = P(Bin(n, p0) = k + 1), second = P(Bin(n, p0) <= k + 1), moved on to n + 1.
        p0, coverage, level, horizon, _ = constants
        if n < horizon:
            second -= p0 * first
            first *= (n + 1) * coverage / (n - k)
            if k < 0:
                second = first  # the same event; the difference above would keep an error of 1e-16
            if second <= level:
                k += 1
                first *= (n + 1 - k) * p0 / ((k + 1) * coverage)
                second += first
    elif kind == QUANTILE:
        # first is the remainder of n * numerator divided by the denominator: exact in floats.
        numerator, denominator, _, _, _ = constants
        first += numerator
        if first >= denominator:
            first -= denominator
            k += 1
    else:
        held_until, held_limit, _, _, _ = constants
        if n + 1 >= held_until:
            k = int(held_limit)
    return k, first, second


def walk_limits(kind: int, constants: Constants, memory: Memory) -> Iterator[int]:
    """Return an iterator over k_1, k_2, ..., without end."""
    k, (first, second) = -1, memory
    for n in itertools.count():
        k, first, second = next_limit(kind, n, k, first, second, constants)
        yield k


def as_array(limits: Iterator[int], rounds: int) -> NDArray[np.int64]:
    """Return the first `rounds` limits as an array."""
    return np.fromiter(itertools.islice(limits, rounds), np.int64, rounds)


class Boundary(abc.ABC):
    """What all boundaries can do; each subclass adds its parameters and its constants.

    `constants` takes the *share* of delta to be spent: a policy that restarts, or shares its delta
    with others, walks the same boundary at ``share * delta``.
    """

    kind: ClassVar[int]

    @abc.abstractmethod
    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return the numbers that :func:`next_limit` needs at this coverage."""

    @abc.abstractmethod
    def start(self, coverage: float) -> Memory:
        """Return what the boundary remembers before the first round, where k is -1."""

    @property
    def last(self) -> float:
        """The round after which k stands still; infinity if it never does."""
        return math.inf

    def walk(self, coverage: float) -> Iterator[int]:
        """Return an iterator over k_1, k_2, ..., without end, in O(1) a round."""
        coverage = check_probability("coverage", coverage, 0.9)
        return walk_limits(self.kind, self.constants(coverage), self.start(coverage))

    def limits(self, coverage: float, rounds: int) -> NDArray[np.int64]:
        """Return k_1, ..., k_rounds as an array."""
        rounds = check_count("rounds", rounds, least=0)
        return as_array(self.walk(coverage), rounds)
