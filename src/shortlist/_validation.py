"""Input validation, done once, at the border: hyper-parameters, scores and ids.

A coverage is the decimal that was written. In floats ``1 - 0.9`` is 0.09999999999999998, so
``floor(n * (1 - coverage))`` would be one too small at every n = 10, 20, ...; `miss_rate` uses
the decimal digits instead.

Scores are float64 from here on. NaN and infinities are refused here; the one exception is a *true* score of
-inf, which means that the true label was not among the candidates.
"""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.errors import DuplicateIds, InvalidIds, InvalidParameter, InvalidScores, NoCandidates

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "UNNAMED",
    "Array",
    "Member",
    "Scorers",
    "align_table",
    "check_below",
    "check_count",
    "check_delta",
    "check_ids",
    "check_lists",
    "check_number",
    "check_probability",
    "check_scorers",
    "check_scores",
    "check_table",
    "check_true_scores",
    "index_of",
    "miss_rate",
    "plain_member",
    "plain_members",
]

Array = NDArray[np.float64]
#: A candidate: its position in the list that was passed, or the id given for it.
Member = int | str
#: The names of the scorers of a list.
Scorers = tuple[str, ...]
#: One scorer, without a name.
UNNAMED: Scorers = ("",)
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
    """Return `value` as a float strictly between 0 and 1, or raise."""
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
    """Return `value` as an integer of at least `least`, or raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(f"{name} is {value!r}; it must be a whole number of at least {least}")
    count = int(value)
    if count < least:
        raise InvalidParameter(f"{name} is {count}; it must be at least {least}")
    if count > 2**53:
        raise InvalidParameter(f"{name} is too large: it must be at most {2**53}")
    return count


def check_number(name: str, value: Any, rule: str, *, above: float = -math.inf) -> float:
    """Return `value` as a finite float greater than `above`, or raise."""
    number = _number(name, value, rule)
    if not math.isfinite(number) or number <= above:
        raise InvalidParameter(f"{name} is {value}; it must be {rule}")
    return number


def _number(name: str, value: Any, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(f"{name} is {value!r}; it must be {rule}")
    if isinstance(value, (float, int, numbers.Rational)):
        try:
            return float(value)
        except OverflowError:
            raise InvalidParameter(f"{name} is too large; it must be {rule}") from None
    return float(str(value))  # a float32 of 0.9 means the decimal 0.9, not 0.8999999761581421


def check_scores(scores: ArrayLike, *, allow_empty: bool | None = None) -> NDArray[np.float64]:
    """Return the scores of one list as floats, or raise; `allow_empty` is None where the caller has no such option."""
    if type(scores) is np.ndarray and scores.ndim == 1 and scores.dtype.char == "d" and scores.size:
        values: Array = scores + 0.0  # a copy, with one zero, not two
        if 0 not in np.isfinite(values).tobytes():  # .all(), at a quarter of its cost
            return values
    raw = _array("scores", scores)
    if raw.ndim != 1:
        raise InvalidScores(f"scores have the shape {raw.shape}; they must be one-dimensional, one score per candidate")
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


def check_scorers(scorers: Any) -> Scorers:
    """Return the names of scorers, or raise."""
    if isinstance(scorers, str) or not isinstance(scorers, Sequence) or not scorers:
        raise InvalidParameter(f"scorers are {scorers!r}; give a list of their names")
    if not all(isinstance(name, str) and _is_unicode(name) for name in scorers):
        raise InvalidParameter(f"scorers are {list(scorers)}; their names must be strings")
    if len(set(scorers)) < len(scorers):
        raise InvalidParameter(f"scorers are {list(scorers)}; each needs a name of its own")
    return tuple(scorers)


def check_table(
    scores: Any, expected: Scorers | None = None, *, allow_empty: bool | None = None, named: bool = True
) -> tuple[Array, Scorers]:
    """Return the scores of one list and the names of their scorers, or raise.

    With one scorer that is one number per candidate; with several, one row of numbers per candidate, in the order of
    the names, NaN where a scorer has none. `expected` holds the names used in earlier rounds. `named` is False if
    nothing says so far that names are those of scorers: then those of one candidate may be those of documents.
    """
    if type(scores) is np.ndarray and scores.ndim == 1 and expected in (None, UNNAMED):
        return check_scores(scores, allow_empty=allow_empty), UNNAMED
    columns = _columns(scores)
    if columns is None:
        values = check_scores(scores, allow_empty=allow_empty)
        if not values.size and expected is not None:  # a search that found nothing says nothing of its scorers
            return align_table(values, UNNAMED, expected), expected
        _check_expected(UNNAMED, expected)
        return values, UNNAMED
    names = check_scorers(list(columns))
    _check_expected(names, expected)
    named = named or not isinstance(scores, Mapping)  # a data frame has columns for scorers
    if expected is None and not named and len(names) > 1 and all(_is_single(column) for column in columns.values()):
        raise InvalidScores(
            f"scores are a mapping of {_in_words(names)[3:]} to one number each: if these are candidates, pass the "
            "numbers, and ids=[...]; if they are scorers of a single candidate, pass its id too: ids=[...]"
        )
    names = expected or names
    if len(names) == 1:
        return check_scores(columns[names[0]], allow_empty=allow_empty), names
    return _joined(columns, names, allow_empty), names


def align_table(values: Array, scorers: Scorers, expected: Scorers) -> Array:
    """Return a checked table with one column per scorer of earlier rounds, in their order.

    A scorer that is missing from the list is NaN for every candidate; one that earlier rounds did not have is refused.
    """
    if not len(values):
        return np.empty(0) if len(expected) == 1 else np.empty((0, len(expected)))
    if scorers == expected:
        return values
    if UNNAMED in (scorers, expected) or not set(scorers) <= set(expected):
        _check_expected(scorers, expected)
    columns = dict(zip(scorers, values.reshape(len(values), -1).T, strict=True))
    missing = np.full(len(values), np.nan)
    return np.stack([columns.get(name, missing) for name in expected], axis=1)


def _columns(scores: Any) -> dict[str, Any] | None:
    """Return the scores by name of scorer; None if there is a single, unnamed one."""
    if isinstance(scores, Mapping):
        if scores and all(isinstance(one, numbers.Number) for one in scores.values()):
            raise InvalidScores(
                "scores are a mapping of numbers; pass the numbers, and the keys as ids: "
                "propose(list(scores.values()), ids=list(scores))"
            )
        return dict(scores)
    names = getattr(scores, "columns", None)  # of a data frame
    if names is not None:
        return {str(name): scores[name] for name in names}
    rows = isinstance(scores, Sequence) and len(scores) > 0 and hasattr(scores[0], "__len__")
    if isinstance(scores, (str, bytes)) or not (rows or hasattr(scores, "ndim")):
        return None  # a list of numbers, or something that `check_scores` refuses
    raw = _array("scores", scores)
    if raw.ndim != 2:
        return None
    rows, columns = raw.shape
    remedy = "which scorers are these? pass {name: column}, with one number per candidate in each column"
    if columns == 1:
        remedy = "for one score per candidate, pass scores[:, 0]"
    elif rows == 1:
        remedy = f"if these are {columns} candidates, pass scores[0]; if they are scorers, {{name: [number]}}"
    elif columns == 2:
        remedy += "; if these are pairs of an id and its score, pass the scores, and ids=[...]"
    raise InvalidScores(f"scores have the shape {raw.shape}, without names: {remedy}")


def _is_single(column: Any) -> bool:
    return hasattr(column, "__len__") and not isinstance(column, str) and not _is_scalar(column) and len(column) == 1


def index_of(scores: Any) -> list[Any] | None:
    """Return the index of a pandas object, or the one that all columns of a mapping have, as ids; None without one.

    An index that only counts the rows is none.
    """
    if isinstance(scores, Mapping):
        each = [index_of(column) for column in scores.values()]
        if any(index != each[0] for index in each):
            names = [str(name) for name, index in zip(scores, each, strict=True) if index != each[0]]
            raise InvalidScores(
                f"the index of {next(iter(scores))!r} is not that of {names[0]!r}, so their rows are not the same "
                "candidates: align them with pandas.DataFrame(scores), which has NaN where there is none"
            )
        return each[0] if each else None
    index = getattr(scores, "index", None)
    if index is None or callable(index):  # sequences have a method of that name
        return None
    members = list(index)
    counts = all(isinstance(member, int) and member == i for i, member in enumerate(members))
    return None if counts else members


def _check_expected(names: Scorers, expected: Scorers | None) -> None:
    if expected is None or set(names) == set(expected):
        return
    raise InvalidScores(
        f"the scores are {_in_words(names)}, and those of the first round were {_in_words(expected)}; "
        "all rounds of a lister must have the same scorers: use another lister for these"
    )


def _in_words(names: Scorers) -> str:
    if names == UNNAMED:
        return "of one scorer without a name"
    return f"of {', '.join(repr(name) for name in names)}"


def _joined(columns: dict[str, Any], names: Scorers, allow_empty: bool | None) -> Array:
    """Return the table of several scorers' columns."""
    arrays = []
    for name in names:
        column = _array(f"the scores of {name!r}", columns[name])
        if column.ndim != 1 or (column.size and column.dtype.kind not in "fiuO"):
            raise InvalidScores(
                f"the scores of {name!r} have the shape {column.shape} and type {column.dtype}; "
                "give a number for each candidate, NaN where there is none"
            )
        try:
            arrays.append(column.astype(np.float64) + 0.0)  # one zero, not two; None is NaN
        except (TypeError, ValueError, OverflowError):
            raise InvalidScores(f"the scores of {name!r} are of type {column.dtype}; they must be numbers") from None
        if arrays[-1].size != arrays[0].size:
            raise InvalidScores(
                f"there are {arrays[0].size} scores of {names[0]!r} and {arrays[-1].size} of {name!r}; give one for "
                "each candidate, NaN where there is none"
            )
    table = np.stack(arrays, axis=1)
    if not len(table):
        return check_scores([], allow_empty=allow_empty).reshape(0, len(names))
    infinite = np.argwhere(np.isinf(table))
    if infinite.size:
        row, column = infinite[0]
        raise InvalidScores(
            f"the score of {names[column]!r} for candidate {row} is {table[row, column]}; scores must "
            "be finite, or NaN where there is none"
        )
    empty = np.flatnonzero(np.isnan(table).all(axis=1))
    if empty.size:
        raise InvalidScores(f"candidate {empty[0]} has no score at all; leave such candidates out")
    return table


def check_below(bound: Any, scorers: Scorers) -> float | list[float | None] | None:
    """Return the score below which candidates were left out: one number, or one per scorer; None if unknown."""
    rule = "a finite score, or None"
    if isinstance(bound, Mapping):
        unknown = [name for name in bound if name not in scorers]
        if unknown:
            raise InvalidParameter(
                f"truncated_below names {unknown[0]!r}, and the scorers are {', '.join(map(repr, scorers))}"
            )
        each = [bound.get(name) for name in scorers]
        numbers = [None if one is None else check_number("truncated_below", one, rule) for one in each]
        return numbers[0] if len(scorers) == 1 else numbers
    if len(scorers) > 1:
        raise InvalidParameter(
            f"truncated_below is {bound!r}, and there are {len(scorers)} scorers; give one for each: "
            f"{{{scorers[0]!r}: ...}}"
        )
    return check_number("truncated_below", bound, rule)


def check_lists(
    lists: Any, right: Any, scorers: Sequence[str] | None = None
) -> tuple[list[Array], list[tuple[int, ...]], Scorers]:
    """Return labeled lists and the positions of the right candidates in each, or raise."""
    if isinstance(lists, (str, bytes, Mapping)) or not hasattr(lists, "__len__") or not len(lists):
        raise InvalidScores("lists are empty, or not lists; give a sequence with the scores of each list")
    names = None if scorers is None else check_scorers(scorers)
    tables = []
    for row in lists:
        if isinstance(row, (list, tuple, np.ndarray)) and len(row) == 0:
            tables.append(np.empty(0))  # a search that found nothing
            continue
        table, names = _labeled(row, names, given=scorers is not None)
        tables.append(table)
    one = isinstance(right, (str, bytes, Mapping)) or not isinstance(right, Iterable) or _is_scalar(right)
    answers = [right] if one else list(right)
    if len(answers) != len(tables):
        raise InvalidParameter(
            f"right has {len(answers)} entries; give the position of the right candidate in each of the {len(tables)} "
            "lists, -1 where it is not among them"
        )
    if names is None:
        raise InvalidScores("all lists are empty; give some with candidates in them")
    return tables, [_positions(i, each, len(tables[i])) for i, each in enumerate(answers)], names


def _labeled(row: Any, names: Scorers | None, *, given: bool) -> tuple[Array, Scorers]:
    """Return a labeled list; where the caller has named the scorers, its columns need no names of their own."""
    if given and names and len(names) > 1 and not isinstance(row, Mapping) and not hasattr(row, "columns"):
        raw = _array("scores", row)
        if raw.ndim == 2 and raw.shape[1] == len(names):
            row = dict(zip(names, raw.T, strict=True))
    return check_table(row, names, allow_empty=True)


def _positions(i: int, right: Any, count: int) -> tuple[int, ...]:
    """Return the positions of the right candidates in a list, all of them needed; empty if they are not among them."""
    several = right if isinstance(right, (list, tuple)) else [right]
    if not all(isinstance(position, (int, np.integer)) and not isinstance(position, bool) for position in several):
        raise InvalidParameter(f"right[{i}] is {right!r}; it must be a position, or several if all are needed")
    if not all(-1 <= position < count for position in several) or (len(several) > 1 and min(several) < 0):
        raise InvalidParameter(f"right[{i}] is {right!r}, and list {i} has the positions 0 to {count - 1}")
    return tuple(int(position) for position in several if position >= 0)


def check_ids(ids: Sequence[Member], count: int) -> list[Member]:
    """Return one distinct id per candidate, or raise."""
    if isinstance(ids, (str, bytes, dict, set, frozenset)) or not (
        hasattr(ids, "__iter__") and hasattr(ids, "__len__") and not _is_scalar(ids)
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
            raise InvalidIds("an integer id must fit in 64 bits; use a string instead")
        if isinstance(name, str) and not _is_unicode(name):
            raise InvalidIds(f"id {name!r} contains an unpaired surrogate and cannot be stored as UTF-8")
    if len(set(names)) < count:
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DuplicateIds(f"id {twice!r} is given twice; each candidate needs an id of its own")
    return names


def plain_member(member: Any) -> Any:
    """Return a string or integer of any kind (numpy's, an enum's) as a plain one; anything else as it is."""
    if isinstance(member, str):
        return str.__str__(member)
    if isinstance(member, (int, np.integer)) and not isinstance(member, bool):
        return int(member)
    return member


def plain_members(member: Any) -> Any:
    """Return the right answer as plain data: a member, or a list of all that are needed."""
    several = isinstance(member, (Sequence, np.ndarray)) and not isinstance(member, str) and not _is_scalar(member)
    return [plain_member(one) for one in member] if several else plain_member(member)


def _is_scalar(value: Any) -> bool:
    """Whether it is an array of numpy without a dimension: one value, though it looks like many."""
    return isinstance(value, np.ndarray) and value.ndim == 0


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_true_scores(true_scores: ArrayLike) -> NDArray[np.float64]:
    """Return a stream of true scores as floats, or raise."""
    raw = _array("true_scores", true_scores)
    if raw.ndim != 1:
        raise InvalidScores(
            f"true_scores have the shape {raw.shape}; they must be one-dimensional, one score per round"
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
        return np.asarray(_without_tensors(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidScores(f"{name} cannot be read as an array of numbers: {error}") from None


def _without_tensors(values: Any) -> Any:
    """Return tensors of torch, or a list of them, as something that numpy reads, whatever their type and device."""
    if isinstance(values, (list, tuple)) and values and hasattr(values[0], "detach"):
        return [_without_tensors(value) for value in values]
    if not hasattr(values, "detach"):
        return values
    tensor = values.detach().cpu()
    return tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()  # numpy has no bfloat16
