"""Uniform scores on [0, 1], where the optimal threshold is known: 1 - coverage."""

from dataclasses import dataclass

import numpy as np

from shortlist.lab.tasks.base import TaskStream

__all__ = ["UniformTask"]


@dataclass(frozen=True)
class UniformTask:
    """True scores uniform on [0, 1].

    An order-statistic policy's regret depends on the ranks of scores alone, so what it achieves here
    it achieves on every distribution without ties.

    Parameters
    ----------
    name
        A word for files and figures.
    title
        The title of its figures.
    source
        A sentence on where the scores come from.
    population
        None: the distribution is known, and is not a list of scores.
    """

    name: str = "uniform"
    title: str = "Uniform scores"
    source: str = "uniform random numbers; the optimal threshold is 1 - coverage"
    population: None = None

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
        return TaskStream(rng.random(rounds))
