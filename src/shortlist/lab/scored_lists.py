"""Lists with their right answers, and the comparable scores of whole files of them at once."""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import UNNAMED
from shortlist.scores import Score

__all__ = ["Lists", "Scored", "lengths_at", "score_lists", "scored_once"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Sizes = NDArray[np.int64]

#: How many numbers are looked at in one go.
_BLOCK: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of candidates with their right answers.

    Parameters
    ----------
    values
        float[n, m, d]: the score of each candidate in each list by each scorer, NaN where it has none. A candidate
        without any score is not in the list.
    right
        int[n]: the position of the right candidate; -1 where it is not among them.
    scorers
        The names of the scorers.
    """

    values: Array
    right: NDArray[np.intp]
    scorers: tuple[str, ...] = UNNAMED

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Which candidates are in each list."""
        return np.asarray((~np.isnan(self.values)).any(axis=2))

    @cached_property
    def counts(self) -> Sizes:
        """How many candidates each list has."""
        counts: Sizes = self.there.sum(axis=1, dtype=np.int64)
        return counts

    @cached_property
    def first(self) -> "Lists":
        """The lists of the first scorer alone, without candidates that it has no score for."""
        if len(self.scorers) == 1:
            return self
        values = np.ascontiguousarray(self.values[:, :, :1])
        scored = ~np.isnan(values[np.arange(len(values)), self.right, 0])
        return Lists(values, np.where((self.right >= 0) & scored, self.right, -1), UNNAMED)

    def table(self, row: int) -> tuple[Array, int]:
        """Return one list as a lister takes it, only the candidates that are in it, and the right one's position."""
        there, right = self.there[row], int(self.right[row])
        table = self.values[row][there]
        position = right if right < 0 else int(there[:right].sum())
        return (table[:, 0] if len(self.scorers) == 1 else table), position


@dataclass(frozen=True, eq=False)
class Scored:
    """Lists with one comparable score: of the right answers (minus infinity where absent), and of all candidates."""

    lists: Lists
    true: Array
    scores: Array

    @cached_property
    def places(self) -> tuple[Sizes, Sizes]:
        """How many candidates score above the right one, and how many tie with it, itself included; 0 if absent."""
        missing = self.true == -np.inf
        better, equal = (self.scores > self.true[:, None]).sum(axis=1), (self.scores == self.true[:, None]).sum(axis=1)
        return np.where(missing, 0, better), np.where(missing, 0, equal)


def score_lists(lists: Lists, score: Score) -> Scored:
    """Return all lists with a comparable score; lists of the same length are computed together."""
    values: Array = lists.values[:, :, 0] if len(lists.scorers) == 1 else lists.values
    scores = np.full(lists.there.shape, -np.inf)
    for rows in _alike(lists):
        there = lists.there[rows]
        part = values[rows][there].reshape(len(rows), -1, *values.shape[2:])
        block = scores[rows]
        block[there] = np.asarray(score(part)).ravel()
        scores[rows] = block
    true = np.where(lists.right < 0, -np.inf, scores[np.arange(len(scores)), lists.right])
    return Scored(lists, true, scores)


def _alike(lists: Lists) -> Iterator[Rows]:
    """Yield rows whose lists have the same length, not too many at once."""
    counts, width = lists.counts, max(1, lists.values[0].size)
    for count in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == count)
        yield from np.array_split(rows, max(1, math.ceil(len(rows) * width / _BLOCK)))


#: Fixed scores are the same in every run.
scored_once = functools.lru_cache(maxsize=4)(score_lists)


def lengths_at(scored: Scored, rows: Rows, thresholds: Array) -> Sizes:
    """Return how many candidates reach the threshold, round by round."""
    cuts = np.maximum(thresholds, -np.finfo(np.float64).max)  # what is not there is -inf, and reaches none
    parts = max(1, math.ceil(rows.size * scored.scores.shape[1] / _BLOCK))
    pairs = zip(np.array_split(rows, parts), np.array_split(cuts, parts), strict=True)
    return np.concatenate([(scored.scores[some] >= cut[:, None]).sum(axis=1, dtype=np.int64) for some, cut in pairs])
