"""Comparable scores: what is compared with the threshold."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from shortlist._validation import Array
from shortlist.errors import InvalidScores
from shortlist.scores.fixed import Score
from shortlist.scores.kinds import KINDS, name_of
from shortlist.scores.learned import Learned

__all__ = ["comparable", "highest_missing", "true_comparable"]

#: Scores that are known to return one finite number per candidate.
_OURS: Final = frozenset(KINDS.values())


def comparable(score: Score | None, values: Array) -> Array:
    """Return the comparable scores of a list, checked if the score is not one of ours; None leaves them as they are."""
    if not len(values):
        return np.empty(0)
    if values.ndim > 1 and (score is None or (type(score) in _OURS and not isinstance(score, Learned))):
        name = "raw" if score is None else name_of(score)
        raise InvalidScores(
            f"there are {values.shape[1]} scores per candidate, and score is {name!r}, which takes one: use "
            'score="auto", a learned score, or a function of the table'
        )
    if score is None:
        return values
    if type(score) in _OURS:
        return score(values)
    try:
        results = np.asarray(score(values.copy()), dtype=np.float64)  # it may write into its argument
    except (TypeError, ValueError) as error:
        raise InvalidScores(
            f"the score {name_of(score)} returned no numbers for {len(values)} scores: {error}"
        ) from None
    if results.shape != values.shape[:1] or not np.isfinite(results).all():
        raise InvalidScores(
            f"the score {name_of(score)} returned an array of shape {results.shape} for {len(values)} "
            "scores, or one that is not finite; it must return one finite number for each"
        )
    return results


def highest_missing(score: Score | None, bound: float | list[float | None], values: Array, scores: Array) -> float:
    """Return the highest comparable score that a candidate left out by the search can have."""
    row = np.array(bound, dtype=np.float64)  # None is NaN: that scorer leaves nothing out, or nothing is known
    if not len(values):
        values = values.reshape(0, *row.shape)  # an empty list has no scorers
    added = comparable(score, np.concatenate([values, row[None]]))[-1]
    equal = values == row if values.ndim == 1 else ((values == row) | (np.isnan(values) & np.isnan(row))).all(axis=1)
    return float(np.maximum.reduce(scores[equal], initial=added))


def true_comparable(score: Score | None, values: Array, right: Sequence[int]) -> float:
    """Return the comparable score of the right candidate of a labeled list, the lowest of several; -inf if none is."""
    return float(comparable(score, values)[list(right)].min()) if right else -math.inf
