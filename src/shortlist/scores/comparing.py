"""One list through a score: what is compared with the threshold."""

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

#: Scores that are known to return one finite number for each candidate.
_OURS: Final = frozenset(KINDS.values())


def comparable(score: Score | None, values: Array) -> Array:
    """Return what a score makes of a list, checked if it is not one of ours; None leaves it as it is."""
    if not len(values):
        return np.empty(0)
    if values.ndim > 1 and (score is None or (type(score) in _OURS and not isinstance(score, Learned))):
        name = "raw" if score is None else name_of(score)
        raise InvalidScores(
            f"there are {values.shape[1]} scores for each candidate, and score is {name!r}, which is of one: use "
            'score="auto", a learned score, or a function of the table'
        )
    if score is None:
        return values
    if type(score) in _OURS:
        return score(values)
    try:
        made = np.asarray(score(values.copy()), dtype=np.float64)  # it may write into what it is given
    except (TypeError, ValueError) as error:
        raise InvalidScores(f"the score {name_of(score)} made no numbers of {len(values)} scores: {error}") from None
    if made.shape != values.shape[:1] or not np.isfinite(made).all():
        raise InvalidScores(
            f"the score {name_of(score)} made an array of shape {made.shape} of {len(values)} "
            "scores, or one that is not finite; it must return one finite number for each"
        )
    return made


def highest_missing(score: Score | None, bound: float | list[float | None], values: Array, made: Array) -> float:
    """Return the most that a candidate which is missing can have: with it in the list, or as its equal there."""
    row = np.array(bound, dtype=np.float64)  # None is NaN: that scorer leaves nothing out, or nothing is known
    if not len(values):
        values = values.reshape(0, *row.shape)  # an empty list has no scorers
    added = comparable(score, np.concatenate([values, row[None]]))[-1]
    equal = values == row if values.ndim == 1 else ((values == row) | (np.isnan(values) & np.isnan(row))).all(axis=1)
    return float(np.maximum.reduce(made[equal], initial=added))


def true_comparable(score: Score | None, values: Array, right: Sequence[int]) -> float:
    """Return what a score makes of what is right in a labelled list, the lowest if several are; -inf if none is."""
    return float(comparable(score, values)[list(right)].min()) if right else -math.inf
