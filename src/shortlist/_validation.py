"""What comes in from outside, checked once: hyper-parameters, scores and ids.

A coverage is the decimal that was written. In floats ``1 - 0.9`` is 0.09999999999999998, so
``floor(n * (1 - coverage))`` would be one too small at every n = 10, 20, ...; `miss_rate` goes through
the decimal digits instead.

Scores are float64 from here on. NaN and infinities stop here; the one exception is a *true* score of
-inf, which says that the true label was not among the candidates.
"""

import math
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.errors import DuplicateIds, InvalidIds, InvalidParameter, InvalidScores, NoCandidates

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "Array",
    "Member",
    "check_count",
    "check_delta",
    "check_ids",
    "check_number",
    "check_probability",
    "check_scores",
    "check_true_scores",
    "miss_rate",
    "plain_member",
]

Array = NDArray[np.float64]
#: A candidate: its position in the list passed in, or the id given for it.
Member = int | str
#: Below this the boundaries' walks would leave the range of floats.
_LEAST_DELTA = 1e-200


def miss_rate(coverage: float) -> "Fraction":
    """Return ``1 - coverage`` as an exact fraction of the decimal that was written.

    >>> miss_rate(0.9)
    Fraction(1, 10)
    """
    from fractions import Fraction  # noqa: PLC0415 - slow to import

    return 1 - Fraction(str(coverage))


def check_probability(name: str, value: Any, example: float) -> float:
    """Return `value` as a float strictly between 0 and 1, or say what is wrong with it."""
    number = _number(name, value, f"a number strictly between 0 and 1, for example {example}")
    if not 0.0 < number < 1.0:
        raise InvalidParameter(f"{name} is {value}; it must lie strictly between 0 and 1, for example {name}={example}")
    return number


def check_delta(value: Any) -> float:
    """Return `value` as a probability of failure that floats can work with."""
    delta = check_probability("delta", value, 0.05)
    if delta < _LEAST_DELTA:
        raise InvalidParameter(f"delta is {value}; it must be at least {_LEAST_DELTA}: floats cannot count further")
    return delta


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an integer of at least `least`, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(f"{name} is {value!r}; it must be a whole number of at least {least}")
    count = int(value)
    if count < least:
        raise InvalidParameter(f"{name} is {count}; it must be at least {least}")
    if count > 2**53:
        raise InvalidParameter(f"{name} is too large: it must be at most {2**53}")
    return count


def check_number(name: str, value: Any, rule: str, *, above: float = -math.inf) -> float:
    """Return `value` as a finite float greater than `above`, or say what is wrong with it."""
    number = _number(name, value, rule)
    if not math.isfinite(number) or number <= above:
        raise InvalidParameter(f"{name} is {value}; it must be {rule}")
    return number


def _number(name: str, value: Any, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(f"{name} is {value!r}; it must be {rule}")
    if isinstance(value, (float, int, numbers.Rational)):
        return float(value)
    return float(str(value))  # a float32 of 0.9 means the decimal 0.9, not 0.8999999761581421


def check_scores(scores: ArrayLike, *, allow_empty: bool | None = None) -> NDArray[np.float64]:
    """Return the scores of one list as floats, or say what is wrong; None where an empty list cannot be allowed."""
    if type(scores) is np.ndarray and scores.ndim == 1 and scores.dtype.char == "d" and scores.size:
        values: Array = scores + 0.0  # a copy, with one zero, not two
        if 0 not in np.isfinite(values).tobytes():  # .all(), at a quarter of its cost
            return values
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
    values = np.add(raw, 0.0, dtype=np.float64)
    finite = np.isfinite(values)
    if not np.logical_and.reduce(finite):
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
