"""Tasks drawn from a score file: images, retrieval, or a user's own."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.tasks.base import Array, TaskStream
from shortlist.lab.tasks.score_file import ScoreSet

__all__ = ["ScoredTask"]


@dataclass(frozen=True, eq=False)
class ScoredTask:
    """Rounds drawn with replacement from the questions of a score set.

    Parameters
    ----------
    scores
        The content of a score file.
    title
        The title of its figures.
    """

    scores: ScoreSet
    title: str

    @property
    def name(self) -> str:
        """The score set's name."""
        return self.scores.name

    @property
    def source(self) -> str:
        """Where the scores come from."""
        return self.scores.source

    @cached_property
    def population(self) -> tuple[Array, Array | None]:
        """All true scores, equally likely."""
        return self.scores.true_scores.astype(np.float64), None

    @cached_property
    def _sorted_candidates(self) -> NDArray[np.floating] | None:
        if self.scores.candidate_scores is None:
            return None
        scores = self.scores.candidate_scores
        table = np.sort(np.where(np.isnan(scores), -np.inf, scores).astype(scores.dtype), axis=1)
        return table.astype(np.float32) if table.dtype == np.float16 else table  # faster, and exact

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
        rows = rng.integers(len(self.scores.true_scores), size=rounds)
        table = self._sorted_candidates
        return TaskStream(
            self.population[0][rows],
            candidates=None if table is None else (table, rows),
        )
