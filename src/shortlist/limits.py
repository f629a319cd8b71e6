"""How boundaries are walked: a plain function over numbers each, and what all boundaries share.

The boundaries themselves, with their formulas and promises, are in `shortlist.boundaries`.
"""

import abc
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist.parameters import check_count, check_probability

__all__ = [
    "Advance",
    "Boundary",
    "Constants",
    "Memory",
    "as_array",
    "band",
    "binomial",
    "held",
    "mixture",
    "quantile",
    "walk_limits",
]

Constants = tuple[float, float, float, float, float]
Memory = tuple[float, float]
#: (n, k_n, first, second, constants) -> k_{n+1}, first, second; the two in the middle are what a boundary remembers.
Advance = Callable[[int, int, float, float, Constants], tuple[int, float, float]]


def band(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance the Dvoretzky-Kiefer-Wolfowitz band."""
    p0, log_term, horizon, _, _ = constants
    if n < horizon:
        k = max(k, math.floor((n + 1) * p0 - math.sqrt((n + 1) * log_term)))
    return k, first, second


def mixture(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance the mixture martingale: `first` is e at (n, k + 1).

    It is multiplied along: exact to 2e-11 at 10^6 rounds, where recomputing it from lgamma is off by
    3e-9; it stays near the bar, so nothing overflows.
    """
    a, b, coverage, p0, bar = constants
    first *= (b + (n - k - 1.0)) / ((a + b + n) * coverage)  # in this order: a tiny b must not be lost
    if first >= bar:
        k += 1
        first *= (a + k) * coverage / ((b + (n - k)) * p0)
    return k, first, second


def binomial(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance the binomial tail: `first` is P(Bin(n, p0) = k + 1), `second` P(Bin(n, p0) <= k + 1)."""
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
    return k, first, second


def quantile(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:  # noqa: ARG001
    """Advance floor(n p0): `first` is the remainder of n * numerator by the denominator, exact in floats."""
    numerator, denominator, _, _, _ = constants
    first += numerator
    if first >= denominator:
        first -= denominator
        k += 1
    return k, first, second


def held(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance a limit that is decided once."""
    held_until, held_limit, _, _, _ = constants
    if n + 1 >= held_until:
        k = int(held_limit)
    return k, first, second


def walk_limits(advance: Advance, constants: Constants, memory: Memory) -> Iterator[int]:
    """Return an iterator over k_1, k_2, ..., without end."""
    k, (first, second) = -1, memory
    for n in itertools.count():
        k, first, second = advance(n, k, first, second, constants)
        yield k


def as_array(limits: Iterator[int], rounds: int) -> NDArray[np.int64]:
    """Return the first `rounds` limits as an array."""
    return np.fromiter(itertools.islice(limits, rounds), np.int64, rounds)


class Boundary(abc.ABC):
    """What all boundaries can do; each subclass adds its parameters and its constants.

    `constants` takes the *share* of delta to be spent: a policy that restarts, or shares its delta
    with others, walks the same boundary at ``share * delta``.
    """

    @staticmethod
    @abc.abstractmethod
    def advance(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
        """Walk from k_n to k_{n+1}: a plain function over numbers, that streaming calls and replay compiles."""

    @abc.abstractmethod
    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return the numbers that `advance` needs at this coverage."""

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
        return walk_limits(self.advance, self.constants(coverage), self.start(coverage))

    def limits(self, coverage: float, rounds: int) -> NDArray[np.int64]:
        """Return k_1, ..., k_rounds as an array."""
        rounds = check_count("rounds", rounds, least=0)
        return as_array(self.walk(coverage), rounds)
