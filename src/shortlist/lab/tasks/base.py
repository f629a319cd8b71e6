"""What a task is: a source of rounds, and the distribution that they are drawn from."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Task", "TaskStream"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TaskStream:
    """The rounds of one run.

    Attributes
    ----------
    true_scores
        The score of the right answer in each round.
    candidates
        The scores of all candidates of a round, in ascending order: a table, and for each round its
        row; minus infinity for missing candidates. None where only the right answer's score is known.
    second_bids
        In auctions, the second highest bid of each round, from which revenue is computed.
    """

    true_scores: Array
    candidates: tuple[NDArray[np.floating], NDArray[np.intp]] | None = field(default=None, repr=False)
    second_bids: Array | None = field(default=None, repr=False)

    def set_sizes(self, thresholds: Array) -> NDArray[np.int64] | None:
        """Return the length of each round's list, by one binary search for all rounds at once.

        Parameters
        ----------
        thresholds
            The threshold of each round.

        Returns
        -------
        NDArray[np.int64] | None
            The lengths; None without candidates.
        """
        if self.candidates is None:
            return None
        table, rows = self.candidates
        cuts = np.maximum(thresholds, -np.finfo(np.float64).max)  # a missing candidate (-inf) reaches no threshold
        low = np.zeros(rows.size, dtype=np.int64)
        high = np.full(rows.size, table.shape[1], dtype=np.int64)
        while (active := low < high).any():
            middle = (low + high) // 2
            below = active & (table[rows, np.minimum(middle, table.shape[1] - 1)] < cuts)
            low = np.where(below, middle + 1, low)
            high = np.where(active & ~below, middle, high)
        sizes: NDArray[np.int64] = table.shape[1] - low
        return sizes

    def revenue(self, thresholds: Array) -> Array | None:
        """Return the seller's revenue in each round of a second-price auction with reserve prices.

        Zero if the reserve price is above the highest bid, the reserve price if it is above the
        second highest, the second highest bid otherwise: the paper's R_t.

        Parameters
        ----------
        thresholds
            The reserve price of each round.

        Returns
        -------
        Array | None
            The revenue of each round; None for tasks that are not auctions.
        """
        if self.second_bids is None:
            return None
        sold = np.where(thresholds > self.second_bids, thresholds, self.second_bids)
        return np.where(thresholds > self.true_scores, 0.0, sold)


class Task(Protocol):
    """A source of rounds."""

    @property
    def name(self) -> str:
        """A word for files and figures."""

    @property
    def title(self) -> str:
        """The title of its figures."""

    @property
    def source(self) -> str:
        """Where the scores come from, in a sentence."""

    @property
    def population(self) -> tuple[Array, Array | None] | None:
        """The true scores and their weights (None: all equal); None for uniform scores on [0, 1]."""

    def draw(self, rng: np.random.Generator, rounds: int) -> TaskStream:
        """Return the rounds of one run.

        Parameters
        ----------
        rng
            The random generator.
        rounds
            The number of rounds.

        Returns
        -------
        TaskStream
            The rounds.
        """
