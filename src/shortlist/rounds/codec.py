"""Records to plain data and back, by their fields.

`encode` turns dataclasses, named tuples and their contents into JSON types; `decode` reverses it by the
types of the fields, so no class does this by hand. Fields with their default value are left out.

JSON has no infinities. **Minus infinity is null**, here, in the log and over HTTP; plus infinity, which
only a policy's inner state has, is ``"inf"``. In an array of scores null is NaN, "no score". Every other
float is written with all its digits and restored bit for bit. A dictionary whose keys are not all strings is
a list of pairs.
"""

import dataclasses
import enum
import functools
import json
import math
import types
import typing
from array import array
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from shortlist import policies
from shortlist._validation import Array
from shortlist.policies import Policy, State
from shortlist.policies.base import NUMBERS
from shortlist.rounds.shown import from_null, to_null
from shortlist.scores import KINDS, Learned, Score, score_from_dict

__all__ = ["decode", "encode", "fields_of", "from_json", "to_json"]

#: Substitutes for types that a file cannot hold: a policy or a score of the user's own, a policy's class of state.
Stand = Mapping[Any, Any]
Decoder = Callable[[Any, Stand], Any]
_PLAIN: Final = (str, int, type(None))
#: One encoder for all: making one takes longer than using it.
_WRITE: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode
_SIMPLE: Final = {str, int, bool, type(None)}
#: The type codes of arrays: whole numbers, small and large, and floats. A field says which: ``Annotated[Any, "q"]``.
_COLUMNS: Final = ("I", "q", "d")


def to_json(value: Any) -> str:
    """Return a value as JSON."""
    try:  # most contain only JSON types
        return _WRITE(encode(value) if _is_record(value) else value)
    except (TypeError, ValueError):
        return _WRITE(encode(value))


def from_json(kind: Any, text: str, stand: Stand | None = None) -> Any:
    """Return the value of this type that `to_json` wrote."""
    return decode(kind, json.loads(text), stand)


def encode(value: Any) -> Any:
    """Return a value as plain data."""
    if isinstance(value, float):
        return None if math.isnan(value) else to_null(float(value)) if value < math.inf else str(value)
    if isinstance(value, enum.Enum):
        return [value.value]
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (np.ndarray, array)):
        return _encode_array(value)
    if isinstance(value, set):
        return sorted(value)  # its own order depends on its history
    if isinstance(value, Policy):
        return value.to_dict()
    if callable(value):
        ours = type(value) in KINDS.values()
        return {"kind": value.key, **dataclasses.asdict(value)} if ours else {"kind": "custom", "name": repr(value)}
    if _is_record(value):
        return {name: encode(item) for name, item in fields_of(value).items()}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: encode(item) for key, item in value.items()}
    return [encode(item) for item in (value.items() if isinstance(value, Mapping) else value)]


def _encode_array(value: Any) -> Any:
    """Return scores, or a column of numbers, as lists."""
    if isinstance(value, array):
        return [encode(item) for item in value] if value.typecode == "d" else value.tolist()
    missing = np.isnan(value)
    return (np.where(missing, None, value) if missing.any() else value).tolist()  # type: ignore[union-attr]


def decode(kind: Any, plain: Any, stand: Stand | None = None) -> Any:
    """Return the value of this type from plain data.

    Parameters
    ----------
    kind
        Its type, as an annotation.
    plain
        What `encode` returned.
    stand
        Substitutes where a type alone is not enough: ``{Policy: mine, Score: mine, State: its class}``.
    """
    return _decoder(kind)(plain, stand or {})


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a record that differ from their default."""
    kind: Any = type(record)
    fields = _defaults(kind)
    items = record if isinstance(record, tuple) else [getattr(record, name) for name, _ in fields]
    return {
        name: item
        for (name, default), item in zip(fields, items, strict=True)
        if item is not default and (default is dataclasses.MISSING or isinstance(item, np.ndarray) or item != default)
    }


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) or hasattr(value, "_field_defaults")


@functools.cache
def _defaults(kind: Any) -> list[tuple[str, Any]]:
    """Return the fields of a record with their defaults."""
    if dataclasses.is_dataclass(kind):
        return [(field.name, field.default) for field in dataclasses.fields(kind) if field.init]
    return [(name, kind._field_defaults.get(name, dataclasses.MISSING)) for name in kind._fields]


@functools.cache
def _decoder(kind: Any) -> Decoder:
    """Return the decoder of a type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is NUMBERS or kind is float:
        return _numbers
    marks = getattr(kind, "__metadata__", ())
    if State in marks:
        return lambda plain, stand: _decoder(stand[State])(plain, stand)
    if marks and marks[0] in _COLUMNS:
        return _column(marks[0])
    if kind in _OWN:
        return _OWN[kind]
    if origin in (typing.Union, types.UnionType):
        return _union(inner)
    if origin in (list, deque, set, tuple, dict):
        return _container(origin, inner)
    if _is_record(kind):
        return _record(kind)
    return _as_it_is


def _as_it_is(plain: Any, _: Stand) -> Any:
    return plain


#: Types of which a file holds the parameters; a substitute is needed if it is not one of ours.
_OWN: Final[dict[Any, Decoder]] = {
    Policy: lambda plain, stand: policies.policy_from_dict(plain, stand.get(Policy)),
    Score: lambda plain, stand: score_from_dict(plain, stand.get(Score)),
    Learned: lambda plain, _: score_from_dict(plain),
    Array: lambda plain, _: np.array(plain, dtype=np.float64),  # null is NaN: a scorer has no score
}


def _container(origin: Any, inner: tuple[Any, ...]) -> Decoder:
    """Return the decoder of a list, a tuple or a dictionary."""
    items = [_decoder(each) for each in inner if each is not ...]
    if origin is dict:
        key, item = items
        return lambda plain, stand: {
            key(name, stand): item(each, stand) for name, each in (plain.items() if isinstance(plain, dict) else plain)
        }
    if origin is list and items[0] is _as_it_is:
        return lambda plain, _: list(plain)
    if origin is tuple and ... not in inner:
        return lambda plain, stand: tuple(item(each, stand) for item, each in zip(items, plain, strict=True))
    return lambda plain, stand: origin(items[0](each, stand) for each in plain)


def _column(code: str) -> Decoder:
    """Return the decoder of an array of numbers."""
    return lambda plain, _: array(code, map(from_null, plain) if code == "d" else plain)


def _numbers(plain: Any, stand: Stand) -> Any:
    """Return a number, or nested tuples of numbers, where null is minus infinity."""
    if isinstance(plain, list):
        return tuple(_numbers(each, stand) for each in plain)
    return float(plain) if isinstance(plain, str) else from_null(plain)


def _union(inner: tuple[Any, ...]) -> Decoder:
    """Return the decoder of a union, by what the data is: null, a word, a list (also for an enum), or the rest."""
    if set(inner) <= _SIMPLE:
        return _as_it_is
    if Score in inner:  # by name, or with its parameters
        score = _decoder(Score)
        return lambda plain, stand: score(plain, stand) if isinstance(plain, dict) else plain
    enums = [kind for kind in inner if isinstance(kind, type) and issubclass(kind, enum.Enum)]
    lists = [kind for kind in inner if typing.get_origin(kind) is list]
    records = [kind for kind in inner if _is_record(kind)]
    rest = [_decoder(kind) for kind in inner if kind is not type(None) and kind not in enums + lists + records]
    filled = [_decoder(kind) for kind in records]
    rows = [_decoder(kind) for kind in lists]
    words = {word for kind in inner if typing.get_origin(kind) is typing.Literal for word in typing.get_args(kind)}

    def decoded(plain: Any, stand: Stand) -> Any:
        if plain is None and type(None) in inner:
            return None
        if enums and isinstance(plain, list):
            return enums[0](plain[0])
        if isinstance(plain, str) and plain in words:
            return plain
        if filled and isinstance(plain, dict):
            return filled[0](plain, stand)
        return (rows if rows and isinstance(plain, list) else rest or filled or rows)[0](plain, stand)

    return decoded


def _record(kind: Any) -> Decoder:
    """Return the decoder of a record."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {name: _decoder(hints[name]) for name, _ in _defaults(kind)}

    def decoded(plain: Any, stand: Stand) -> Any:
        return kind(**{name: fields[name](each, stand) for name, each in plain.items()})

    return decoded
