"""The base class of all boundaries."""

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
#: (n, k_n, first, second, constants) -> k_{n+1}, first, second; `first` and `second` are the boundary's memory.
Advance = Callable[[int, int, float, float, Constants], tuple[int, float, float]]


def walk_limits(advance: Advance, constants: Constants, memory: Memory) -> Iterator[int]:
    """Return an infinite iterator over k_1, k_2, ...."""
    k, (first, second) = -1, memory
    for n in itertools.count():
        k, first, second = advance(n, k, first, second, constants)
        yield k


def as_array(limits: Iterator[int], rounds: int) -> NDArray[np.int64]:
    """Return the first `rounds` limits as an array."""
    return np.fromiter(itertools.islice(limits, rounds), np.int64, rounds)


class Boundary(abc.ABC):
    """The base class of all boundaries; each subclass adds its parameters and its constants.

    `constants` takes the *share* of delta to use: a policy that restarts, or shares its delta
    with others, uses the same boundary at ``share * delta``.
    """

    @staticmethod
    @abc.abstractmethod
    def advance(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
        """Advance from k_n to k_{n+1}: a plain function over numbers, which streaming calls and replay compiles.

        Parameters
        ----------
        n
            The number of rounds so far.
        k
            The limit k_n.
        first, second
            The boundary's memory.
        constants
            The numbers from `constants`.

        Returns
        -------
        tuple[int, float, float]
            k_{n+1} and the memory after it.
        """

    @abc.abstractmethod
    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return the numbers that `advance` needs at this coverage.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.
        share
            The share of delta to use.

        Returns
        -------
        Constants
            The constants.
        """

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - for those that remember something
        """Return the boundary's memory before the first round, where k is -1; zeros unless a subclass needs it.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.

        Returns
        -------
        Memory
            The boundary's memory.
        """
        return 0.0, 0.0

    @property
    def last(self) -> float:
        """The last round in which k can change; infinity if there is none."""
        return math.inf

    def walk(self, coverage: float) -> Iterator[int]:
        """Return an infinite iterator over k_1, k_2, ..., O(1) per round.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.

        Returns
        -------
        Iterator[int]
            k_1, k_2, ...
        """
        coverage = check_probability("coverage", coverage, 0.9)
        return walk_limits(self.advance, self.constants(coverage), self.start(coverage))

    def limits(self, coverage: float, rounds: int) -> NDArray[np.int64]:
        """Return k_1, ..., k_rounds as an array.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.
        rounds
            How many limits to return.

        Returns
        -------
        NDArray[np.int64]
            The limits; -1 where the threshold must not rise yet.
        """
        rounds = check_count("rounds", rounds, least=0)
        return as_array(self.walk(coverage), rounds)
