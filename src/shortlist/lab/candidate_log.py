"""A user's own log with candidates: CSV or Parquet files with a row for each candidate of each round."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.round_log import check_columns, first_word, read_table, read_times, stream_name
from shortlist.lab.scored_lists import Lists

__all__ = ["CandidateFiles"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_FORMAT: Final = (
    "; --lists needs a row for each candidate: its round, a score by each scorer, and whether it was picked"
)


@dataclass(frozen=True)
class CandidateFiles:
    """Files with a row for each candidate, and which of their columns mean what.

    Parameters
    ----------
    paths
        CSV or Parquet files, by their suffix.
    scorers
        The columns of scores. By default, all numeric columns without another role. An empty cell means that
        this scorer has no score for this candidate.
    round
        The column that identifies the round of a row.
    picked
        The column that marks the right candidate: 1, and 0 or empty for the others. In a round without a 1, the
        right answer was not among the candidates.
    candidate
        A column of candidate names (optional).
    by
        A column that identifies streams; without it, each file is one stream.
    time
        A column of numbers or times to sort rounds by; without it, the order of the files is kept.
    separator
        The separator of the CSV files.
    """

    paths: tuple[str, ...]
    scorers: tuple[str, ...] = ()
    round: str = "round_id"
    picked: str = "picked"
    candidate: str = "candidate_id"
    by: str | None = None
    time: str | None = None
    separator: str = ","

    def read(self) -> dict[str, Lists]:
        """Return the lists of each stream, in the order of its rounds."""
        scorers = self.scorers
        if len(set(scorers)) < len(scorers):
            raise InvalidParameter(f"scorers are {', '.join(scorers)}; name each once")
        parts: dict[str, list[_Part]] = {}
        for path in self.paths:
            texts = [name for name in (self.by, self.round, self.candidate) if name is not None]
            table = read_table(Path(path), self.separator, texts=texts)
            needed = [name for name in (self.round, self.picked, self.by, self.time) if name is not None]
            check_columns(path, table, needed, _FORMAT)
            scorers = scorers or self._found_scorers(path, table)
            check_columns(path, table, scorers)
            self._split(path, table, scorers, parts)
        return {name: _lists(parts[name], scorers) for name in sorted(parts)}

    def _found_scorers(self, path: str, table: Any) -> tuple[str, ...]:
        """Return the columns of numbers that mean nothing else."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        others = (self.round, self.picked, self.candidate, self.by, self.time)
        numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        columns = [
            field.name
            for field in table.schema
            if field.name not in others and any(is_kind(field.type) for is_kind in numbers)
        ]
        if not columns:
            for name in table.column_names:
                if name not in others and any(map(_is_number, table.column(name).to_pylist())):
                    raise InvalidScores(f"{path}: {first_word(name, table)}")
            raise InvalidParameter(
                f"{path}: there is no column of scores, only {', '.join(table.column_names)}; a scorer is a column of "
                "numbers: add one"
            )
        return tuple(columns)

    def _split(self, path: str, table: Any, scorers: Sequence[str], parts: dict[str, list["_Part"]]) -> None:
        """Add the rows of one file to the streams that they belong to."""
        values = np.stack([_numbers(path, name, table) for name in scorers], axis=1)
        empty = np.flatnonzero(np.isnan(values).all(axis=1))
        if empty.size:
            raise InvalidScores(
                f"{path}: row {empty[0] + 1} has no score in {', '.join(scorers)}; a candidate needs at least one: "
                "leave the row out"
            )
        part = _Part(
            path,
            _names(path, self.round, table),
            values,
            _picks(path, self.picked, table),
            None if self.time is None else read_times(path, self.time, table),
            _names(path, self.candidate, table) if self.candidate in table.column_names else None,
        )
        if self.by is None:
            parts.setdefault(stream_name(path, self.paths), []).append(part)
            return
        streams = np.array(["" if name is None else str(name) for name in table.column(self.by).to_pylist()])
        for name in np.unique(streams):
            parts.setdefault(str(name), []).append(part.only(streams == name))


@dataclass(frozen=True)
class _Part:
    """Rows of one file: the round of each, its scores, whether it was picked, when it was, and who it is."""

    path: str
    rounds: NDArray[Any]
    values: Array
    picked: NDArray[np.bool_]
    times: NDArray[Any] | None
    names: NDArray[Any] | None

    def only(self, rows: NDArray[np.bool_]) -> "_Part":
        """Return some of the rows."""
        times, names = (None if each is None else each[rows] for each in (self.times, self.names))
        return _Part(self.path, self.rounds[rows], self.values[rows], self.picked[rows], times, names)


def _lists(parts: list[_Part], scorers: tuple[str, ...]) -> Lists:
    """Return the rounds of one stream as lists, in their order."""
    path = parts[0].path
    rounds = np.concatenate([part.rounds for part in parts])
    picked = np.concatenate([part.picked for part in parts])
    names, first, codes = np.unique(rounds, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    if parts[0].times is not None:
        times = np.concatenate([part.times for part in parts if part.times is not None])
        order = order[np.argsort(times[first][order], kind="stable")]
    number = np.empty(len(names), dtype=np.int64)
    number[order] = np.arange(len(names))
    which: Codes = number[codes]
    picks = np.bincount(which[picked], minlength=len(names))
    if picks.max() > 1:
        twice = str(names[order[int(picks.argmax())]])
        raise InvalidScores(
            f"{path}: {picks.max()} candidates of the round {twice!r} are picked; there must be at most one: keep "
            "the first pick"
        )
    if all(part.names is not None for part in parts):
        _check_candidates(path, np.concatenate([part.names for part in parts if part.names is not None]), rounds)
    # Each row's position in its list: rows in the order of their rounds, less the row that its round begins with.
    rows = np.argsort(which, kind="stable")
    counts = np.bincount(which, minlength=len(names))
    position = np.empty(len(which), dtype=np.int64)
    position[rows] = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    values = np.full((len(names), int(counts.max()), len(scorers)), np.nan)
    values[which, position] = np.concatenate([part.values for part in parts])
    right = np.full(len(names), -1, dtype=np.intp)
    right[which[picked]] = position[picked]
    return Lists(values, right, scorers)


def _check_candidates(path: str, names: NDArray[Any], rounds: NDArray[Any]) -> None:
    order = np.lexsort((names, rounds))
    same = (names[order][1:] == names[order][:-1]) & (rounds[order][1:] == rounds[order][:-1])
    if same.any():
        row = order[int(same.argmax())]
        raise InvalidScores(
            f"{path}: the candidate {str(names[row])!r} is in the round {str(rounds[row])!r} twice; write all its "
            "scores in one row"
        )


def _names(path: str, column: str, table: Any) -> NDArray[Any]:
    """Return a column of names, which must not be empty."""
    names = table.column(column).to_pylist()
    if None in names or "" in names:
        row = next(i for i, name in enumerate(names, start=1) if name is None or name == "")
        raise InvalidScores(f"{path}: row {row} of {column!r} is empty; every row needs one")
    return np.array([str(name) for name in names])


def _numbers(path: str, column: str, table: Any) -> Array:
    """Return a column of scores, NaN where there is none."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    try:
        values: Array = table.column(column).cast("float64").to_numpy(zero_copy_only=False)
    except (pa.ArrowException, ValueError):
        word = next(value for value in table.column(column).to_pylist() if not _is_number(value))
        raise InvalidScores(
            f"{path}: {column!r} holds {word!r}; a score must be a number, or empty where the scorer has none"
        ) from None
    bad = np.flatnonzero(np.isinf(values))
    if bad.size:
        raise InvalidScores(
            f"{path}: row {bad[0] + 1} of {column!r} is {values[bad[0]]}; a score must be a finite number, or empty "
            "where the scorer has none"
        )
    return values


def _is_number(value: object) -> bool:
    try:
        float(value or 0.0)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _picks(path: str, column: str, table: Any) -> NDArray[np.bool_]:
    """Return which rows were picked."""
    picks = np.zeros(table.num_rows, dtype=bool)
    for row, value in enumerate(table.column(column).to_pylist()):
        if value not in (0, 1, None):
            raise InvalidScores(f"{path}: row {row + 1} of {column!r} is {value!r}; it must be 1, or 0, or empty")
        picks[row] = value == 1
    return picks
