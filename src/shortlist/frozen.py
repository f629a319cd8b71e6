"""Objects that hold settings: made once, compared by value, never changed."""

import dataclasses
from typing import Any, TypeVar, dataclass_transform

__all__ = ["frozen"]

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: Class) -> Class:
    """Make a class a frozen dataclass.

    The same as ``dataclass(frozen=True)``, which compiles three more methods for each class anew:
    with two dozen of them that is a twentieth of what ``import shortlist`` takes.

    >>> @frozen
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
    (Point(x=1.0, y=0.0), True)
    """
    made: Any = dataclasses.dataclass(frozen=True, repr=False, eq=False)(cls)
    made.__eq__, made.__hash__ = _is_equal, _hash
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _repr
    return cls


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, field.name) for field in dataclasses.fields(self)])


def _is_equal(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    shown = [field.name for field in dataclasses.fields(self) if field.repr]
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
