"""Scores and ids as they come in from outside, checked once.

Scores are float64 from here on. NaN and infinities stop here; the one exception is a *true* score of
-inf, which says that the true label was not among the candidates.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.errors import DuplicateIds, InvalidIds, InvalidScores, NoCandidates

__all__ = ["Member", "check_ids", "check_scores", "check_true_scores", "plain_member"]

#: A candidate: its position in the list handed in, or the id given for it.
Member = int | str


def check_scores(scores: ArrayLike, *, allow_empty: bool | None = None) -> NDArray[np.float64]:
    """Return the scores of one list as floats, or say what is wrong; None where an empty list cannot be allowed."""
    raw = _array("scores", scores)
    if raw.ndim != 1:
        raise InvalidScores(
            f"scores have the shape {raw.shape}; they must be one-dimensional, one score for each candidate"
        )
    if raw.size == 0:
        if allow_empty:
            return np.empty(0)
        hint = ": if your search found nothing, say so with allow_empty=True, so that the round counts"
        raise NoCandidates(f"scores are empty; a round needs at least one candidate{hint * (allow_empty is not None)}")
    if raw.dtype.kind not in "fiu":
        raise InvalidScores(f"scores are of type {raw.dtype}; they must be numbers")
    values: NDArray[np.float64] = np.add(raw, 0.0, dtype=np.float64)  # a copy, with one zero, not two
    finite = np.isfinite(values)
    if not np.logical_and.reduce(finite):  # finite.all(), at half its cost
        first = int(np.flatnonzero(~finite)[0])
        raise InvalidScores(f"scores[{first}] is {values[first]}; scores must be finite: leave such candidates out")
    return values


def check_ids(ids: Sequence[Member], count: int) -> list[Member]:
    """Return one distinct id for each candidate, or say what is wrong with them."""
    if isinstance(ids, (str, bytes, dict, set, frozenset)) or not (
        hasattr(ids, "__iter__") and hasattr(ids, "__len__")
    ):
        raise InvalidIds(f"ids are of type {type(ids).__name__}; give a list, in the order of the scores")
    names = [name if type(name) is str or type(name) is int else plain_member(name) for name in ids]
    if len(names) != count:
        raise InvalidIds(f"there are {len(names)} ids for {count} scores; give one id for each score")
    for name in names:
        if type(name) is str and name.isascii():
            continue  # nearly all are
        if isinstance(name, bool) or not isinstance(name, (int, str)):
            raise InvalidIds(f"id {name!r} is a {type(name).__name__}; ids must be strings or integers")
        if isinstance(name, int) and not -(2**63) <= name < 2**64:
            raise InvalidIds("an integer id must fit into 64 bits; make it a string")
        if isinstance(name, str) and not _is_unicode(name):
            raise InvalidIds(f"id {name!r} has half a surrogate pair in it and cannot be stored as UTF-8")
    if len(set(names)) < count:
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DuplicateIds(f"id {twice!r} is given twice; each candidate needs an id of its own")
    return names


def plain_member(member: Any) -> Any:
    """Return a string or an integer of any kind (numpy's, an enum's) as a plain one; all else as it is."""
    if isinstance(member, str):
        return str.__str__(member)
    if isinstance(member, (int, np.integer)) and not isinstance(member, bool):
        return int(member)
    return member


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_true_scores(true_scores: ArrayLike) -> NDArray[np.float64]:
    """Return a stream of true scores as floats, or say what is wrong with it."""
    raw = _array("true_scores", true_scores)
    if raw.ndim != 1:
        raise InvalidScores(
            f"true_scores have the shape {raw.shape}; they must be one-dimensional, one score for each round"
        )
    if raw.size and raw.dtype.kind not in "fiu":
        raise InvalidScores(f"true_scores are of type {raw.dtype}; they must be numbers")
    scores = np.ascontiguousarray(raw, dtype=np.float64)
    if scores.size and not scores.max() < np.inf:  # NaN is its own maximum
        bad = np.flatnonzero(np.isnan(scores) | (scores == np.inf))
        raise InvalidScores(
            f"true_scores[{bad[0]}] is {scores[bad[0]]}; a score must be a finite number, "
            "or -inf where the true label was not among the candidates"
        )
    return scores


def _array(name: str, values: ArrayLike) -> NDArray[np.generic]:
    if np.ma.isMaskedArray(values):
        raise InvalidScores(f"{name} are a masked array; leave the masked entries out: {name}.compressed()")
    if isinstance(values, (str, bytes, dict, set, frozenset)) or not hasattr(values, "__len__"):
        raise InvalidScores(f"{name} are of type {type(values).__name__}; give a list or an array of numbers")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidScores(f"{name} cannot be read as an array of numbers: {error}") from None
