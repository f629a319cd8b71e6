"""Records and rows of results: tables in a notebook, and convertible to data frames."""

import dataclasses
import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from shortlist.errors import MissingExtra

__all__ = ["Record", "Rows", "html_table"]

Item = TypeVar("Item")
#: Of a long table a notebook shows so many rows.
_SHOWN: Final = 30
#: The colors are the notebook's own, light or dark; only what is text is set to the left.
_LEFT: Final = ' style="text-align: left"'


class _Framed:
    """What turns into a data frame: `_columns` says how."""

    def _columns(self) -> dict[str, list[Any]]:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Convert to a data frame; needs pandas.

        Returns
        -------
        pandas.DataFrame
            The data frame.
        """
        return _framework("pandas", "to_pandas")(self._columns())

    def to_polars(self) -> Any:
        """Convert to a data frame; needs polars.

        Returns
        -------
        polars.DataFrame
            The data frame.
        """
        return _framework("polars", "to_polars")(self._columns())


class Record(_Framed, Mapping[str, Any]):
    """A dataclass that is a read-only mapping of its fields, a table in a notebook, and a row of a data frame."""

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _repr_html_(self) -> str:
        """Return a table with a row for each figure that there is, for notebooks."""
        cells = [(name, value) for name, value in flatten(self).items() if value is not None]
        return html_table(type(self).__name__, (), cells)

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [value] for name, value in flatten(self).items()}

    @classmethod
    @functools.cache
    def _names(cls) -> tuple[str, ...]:
        return tuple(each.name for each in dataclasses.fields(cls))  # type: ignore[arg-type]


class Rows(_Framed, list[Item]):
    """A list of records of one kind: a table in a notebook, and convertible to a data frame.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Row = namedtuple("Row", ["language", "hits"])
    >>> Rows([Row("fr", 18)]).to_pandas()["hits"].tolist()
    [18]
    """

    def _repr_html_(self) -> str:
        """Return a table with a row for each record, for notebooks; of many, the first thirty."""
        if not self:
            return "<p>no rows</p>"
        more = f", the first {_SHOWN}" if len(self) > _SHOWN else ""
        caption = f"{type(self[0]).__name__}: {len(self):,} row{'s' if len(self) > 1 else ''}{more}"
        columns = self._columns()
        return html_table(caption, tuple(columns), zip(*(column[:_SHOWN] for column in columns.values()), strict=True))

    def _columns(self) -> dict[str, list[Any]]:
        if not self:
            return {}
        return {name: [getattr(row, name) for row in self] for name in _fields(self[0])}


def _fields(row: Any) -> tuple[str, ...]:
    """Return the names of a record's values: a named tuple's, or a dataclass's."""
    names: tuple[str, ...] = getattr(row, "_fields", ()) or tuple(each.name for each in dataclasses.fields(row))
    return names


def flatten(record: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Return a mapping's values by name, and those of the mappings and named tuples inside it by ``outer.inner``."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        name = f"{prefix}{key}".removesuffix(".")  # one scorer without a name
        inner = value._asdict() if hasattr(value, "_asdict") else value
        if isinstance(inner, Mapping):
            flat |= flatten(inner, f"{name}.") or {name: None}
        else:
            flat[name] = inner
    return flat


def html_table(caption: str, header: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table for a notebook: a caption, a header if there is one, the first cell of a row as its name.

    >>> html_table("one", (), [("a<b", 1.5)])[-75:]
    'left">a&lt;b</th><td style="text-align: left">1.5</td></tr></tbody></table>'
    """
    import html  # noqa: PLC0415 - for notebooks only

    head = "".join(f'<th scope="col"{_LEFT}>{html.escape(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row"{_LEFT}>{_text(name)}</th>{"".join(_cell(each, left=not header) for each in values)}</tr>'
        for name, *values in rows
    )
    above = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table><caption{_LEFT}>{html.escape(caption)}</caption>{above}<tbody>{body}</tbody></table>"


def _cell(value: Any, *, left: bool) -> str:
    """Return a cell: numbers below each other to the right, all else to the left."""
    return f"<td{_LEFT if left or not isinstance(value, (int, float)) else ''}>{_text(value)}</td>"


def _text(value: Any) -> str:
    """Return a value as readable text, escaped."""
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    import html  # noqa: PLC0415 - for notebooks only

    return html.escape(str(value))


def _framework(name: str, what: str) -> Callable[[dict[str, list[Any]]], Any]:
    """Return the data frame of a package, or say that it is not installed."""
    try:
        frame: Callable[[dict[str, list[Any]]], Any] = importlib.import_module(name).DataFrame
    except ImportError:
        raise MissingExtra(f"{what} needs {name}, which is not installed: pip install {name}") from None
    return frame
