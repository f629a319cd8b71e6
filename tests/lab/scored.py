"""A task's questions through one score, computed apart from the package's own tables."""

import functools
from dataclasses import dataclass

import numpy as np

from shortlist.lab.tasks import TaskStream


@dataclass(frozen=True)
class Scored:
    """The comparable scores of the right answers, and of all candidates in ascending order."""

    true: np.ndarray
    candidates: np.ndarray

    def sizes(self, rows, thresholds):
        """Return the list length of each round."""
        return TaskStream(thresholds, candidates=(self.candidates, rows)).set_sizes(thresholds)


@functools.lru_cache(maxsize=16)
def scored(task, score):
    raw = task.scores.candidate_scores.astype(np.float64)
    made = np.array([score(row) for row in raw])  # list by list, as a stream sees them
    return Scored(made[np.arange(len(made)), task.scores.true_columns], np.sort(made, axis=1))
