"""A user's own log: CSV or Parquet files with a row for each round."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InvalidParameter, InvalidScores, needs_extra

__all__ = ["Log", "LogFiles", "check_columns", "first_word", "read_table", "read_times", "stream_name"]

Array = NDArray[np.float64]

#: A log: the true scores of each stream, in the order they came.
Log = dict[str, Array]


@dataclass(frozen=True)
class LogFiles:
    """Files with a row for each round, and which of their columns mean what.

    Parameters
    ----------
    paths
        CSV or Parquet files, by their suffix.
    column
        The column of true scores. An empty cell means that the right answer was not among the
        candidates: a miss at any threshold.
    by
        A column that identifies streams; without it, each file is one stream. A stream may continue from
        file to file, in the order of the paths.
    time
        A column of numbers or times to sort by; without it, the order of the files is kept.
    separator
        The separator of the CSV files.
    """

    paths: tuple[str, ...]
    column: str = "true_score"
    by: str | None = None
    time: str | None = None
    separator: str = ","

    def streams(self, path: str) -> dict[str, int]:
        """Return the streams of one file, with the number of rounds of each."""
        table = self._columns(path, None, (self.by,) if self.by else (self.column,))
        if self.by is None:
            return {stream_name(path, self.paths): table.num_rows}
        counted = table.column(self.by).value_counts()
        counts: dict[str, int] = {}
        for entry in counted.to_pylist():
            counts[_name(entry["values"])] = counts.get(_name(entry["values"]), 0) + entry["counts"]
        return counts

    def read(self, paths: Sequence[str], names: Sequence[str] | None = None) -> Log:
        """Return the true scores of streams (of all, if none is named) in these files, in order."""
        columns = [name for name in (self.column, self.by, self.time) if name is not None]
        parts: dict[str, list[tuple[Array, Any]]] = {}
        for path in paths:
            table = self._columns(path, names, columns)
            scores = _scores(path, self.column, table)
            times = None if self.time is None else read_times(path, self.time, table)
            if self.by is None:
                parts.setdefault(stream_name(path, self.paths), []).append((scores, times))
                continue
            for name, rows in _rows_by_name(table.column(self.by)):
                parts.setdefault(name, []).append((scores[rows], None if times is None else times[rows]))
        log: Log = {}
        for name in sorted(parts if names is None else set(names) & set(parts)):
            scores = np.concatenate([part for part, _ in parts[name]])
            if self.time is not None:
                scores = scores[np.argsort(np.concatenate([when for _, when in parts[name]]), kind="stable")]
            log[name] = scores
        return log

    def _columns(self, path: str, names: Sequence[str] | None, columns: Sequence[str]) -> Any:
        """Return some columns of a file, and of its rows at least those of the streams named."""
        texts = (self.by,) if self.by else ()
        table = read_table(Path(path), self.separator, texts=texts, names=names, columns=columns)
        check_columns(path, table, columns)
        return table.select(list(dict.fromkeys(columns)))


def stream_name(path: str, paths: Sequence[str]) -> str:
    """Return a file's name without its suffix, or its whole path if several of the files have that name."""
    stem = Path(path).stem
    return stem if [Path(other).stem for other in paths].count(stem) == 1 else path


def check_columns(path: str, table: Any, columns: Sequence[str], remedy: str = "") -> None:
    """Raise an error that names a missing or duplicate column."""
    there = table.column_names
    for name in columns:
        if name not in there:
            hint = "; try another --separator" if len(there) == 1 and any(c in there[0] for c in ";\t|") else remedy
            raise InvalidParameter(f"{path}: there is no column called {name!r}; there are: {', '.join(there)}{hint}")
        if there.count(name) > 1:
            raise InvalidScores(f"{path}: there are {there.count(name)} columns called {name!r}")


def _name(value: object) -> str:
    return "" if value is None else str(value)


def _rows_by_name(column: Any) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Yield each name of a column with the rows that have it."""
    encoded = column.combine_chunks().dictionary_encode()
    names = [_name(value) for value in encoded.dictionary.to_pylist()]
    codes = encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    edges = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for start, stop in zip(edges, [*edges[1:], codes.size], strict=True):
        code = int(codes[order[start]])
        yield names[code] if code < len(names) else "", order[start:stop]


def read_table(
    path: Path,
    separator: str,
    *,
    texts: Sequence[str] = (),
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Any:
    """Return a table with (at least) these columns of a file, or all of them.

    Columns of `texts` hold names; if `names` are given, rows whose first text is another one may be left out.
    """
    needs_extra("reading logs", "experiments", "pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - in an extra
    from pyarrow import csv, parquet  # noqa: PLC0415

    if not path.exists():
        raise InvalidScores(f"{path}: there is no such file")
    if path.is_dir():
        raise InvalidScores(f"{path}: this is a folder; name a file")
    if len(separator) != 1:
        raise InvalidParameter(f"separator is {separator!r}; it must be one character")
    kind = "Parquet" if path.suffix == ".parquet" else "CSV"
    try:
        if kind == "Parquet":
            # Where a text identifies the stream, only the row groups with these names are read.
            schema, by = parquet.read_schema(path), next(iter(texts), None)
            by_text = by in schema.names and str(schema.field(by).type) in ("string", "large_string")
            # Where one is missing, all are read, so that the message can list them.
            read = list(dict.fromkeys(columns)) if columns is not None and set(columns) <= set(schema.names) else None
            table = parquet.read_table(
                path,
                columns=read,
                filters=[(by, "in", list(names))] if names is not None and by_text and "" not in names else None,
            )
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                header = file.readline()
            table = csv.read_csv(
                path,
                # In a file of one column an empty line is an empty cell.
                parse_options=csv.ParseOptions(delimiter=separator, ignore_empty_lines=separator in header),
                # Names of streams are names: 007 is not 7.
                convert_options=csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string())),
            )
        table.column_names  # noqa: B018 - a header that is not UTF-8 shows itself here
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        text = str(error).splitlines()[0]
        raise InvalidScores(f"{path}: this cannot be read as {kind} ({text}); is it UTF-8 text?") from None
    if table.num_rows == 0:
        raise InvalidScores(f"{path}: there are no rows")
    return table


def _scores(path: str | os.PathLike[str], column: str, table: Any) -> Array:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    try:
        values = table.column(column).cast("float64").to_numpy(zero_copy_only=False)
    except (pa.ArrowException, ValueError):
        raise InvalidScores(f"{path}: {first_word(column, table)}") from None
    scores = np.where(np.isnan(values), -np.inf, values)  # empty cells come as NaN
    bad = np.flatnonzero(scores == np.inf)
    if bad.size:
        raise InvalidScores(
            f"{path}: row {bad[0] + 1} of {column!r} is {scores[bad[0]]}; a score must be a finite number, or empty "
            "where the right answer was not among the candidates"
        )
    return scores


def first_word(column: str, table: Any) -> str:
    """Say which cell of a column of scores is no number."""
    for row, value in enumerate(table.column(column).to_pylist(), start=1):
        try:
            float(value or 0.0)
        except (TypeError, ValueError):
            return f"row {row} of {column!r} is {value!r}; a score must be a number, or empty"
    return f"the column {column!r} holds numbers as text; write numbers, and leave cells empty where there is none"


def read_times(path: str | os.PathLike[str], time: str, table: Any) -> NDArray[Any]:
    """Return the time of each row."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    values = table.column(time)
    if not (pa.types.is_temporal(values.type) or pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise InvalidScores(
            f"{path}: the column {time!r} holds text that is neither numbers nor times, for example "
            f"{str(values[0])!r}; write times as 2026-01-31 12:00:00"
        )
    if values.null_count:
        raise InvalidScores(f"{path}: {values.null_count} cells of {time!r} are empty; every row needs a time")
    times: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return times
