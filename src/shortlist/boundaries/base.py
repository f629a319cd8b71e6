"""What all boundaries share: how they are walked."""

import abc
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import check_count, check_probability

__all__ = ["Advance", "Boundary", "Constants", "Memory", "as_array", "walk_limits"]

Constants = tuple[float, float, float, float, float]
Memory = tuple[float, float]
#: (n, k_n, first, second, constants) -> k_{n+1}, first, second; the two in the middle are what a boundary remembers.
Advance = Callable[[int, int, float, float, Constants], tuple[int, float, float]]


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

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - for those that remember something
        """Return what the boundary remembers before the first round, where k is -1: nothing, unless it says so."""
        return 0.0, 0.0

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
