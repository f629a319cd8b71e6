"""New scores for the candidates of a log, from a file: a table with one row per candidate per round."""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from shortlist._validation import Member
from shortlist.errors import InvalidParameter, InvalidScores, MissingFile
from shortlist.logs.reading import LoggedRound

__all__ = ["read_new_scores"]

#: The columns that identify a candidate; all others are scorers.
_KEYS: Final = ("round_id", "candidate")


def read_new_scores(path: Path) -> Callable[[LoggedRound], Any]:
    """Return the new scores of each round, as `shortlist.rescore` takes them.

    Parameters
    ----------
    path
        A CSV file with the columns ``round_id``, ``candidate``, and one per scorer. With several scorers, an empty cell
        means that the scorer has no score for the candidate.
    """
    if not path.is_file():
        raise MissingFile(f"there is no file {path}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            scorers, rows = _read(path, csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidParameter(f"{path} cannot be read: {error}; it must be CSV in UTF-8") from None
    return lambda logged: _scores(path, rows, scorers, logged)


def _read(path: Path, reader: "csv.DictReader[str]") -> tuple[list[str], dict[tuple[str, str], list[float]]]:
    """Return the scorers of a table, and the scores of each candidate of each round."""
    columns = reader.fieldnames or []
    scorers = [name for name in columns if name not in _KEYS]
    if any(key not in columns for key in _KEYS) or not scorers:
        raise InvalidParameter(
            f"{path} has the columns {', '.join(columns) or '(none)'}; it needs round_id, candidate, and one per scorer"
        )
    rows: dict[tuple[str, str], list[float]] = {}
    for row in reader:
        key = row["round_id"], row["candidate"]
        if key in rows:
            raise InvalidParameter(
                f"{path}, line {reader.line_num}: candidate {key[1]!r} of round {key[0]} occurs twice; keep one row"
            )
        rows[key] = [_number(path, reader.line_num, row[name]) for name in scorers]
    return scorers, rows


def _number(path: Path, line: int, cell: str | None) -> float:
    try:
        number = float(cell) if cell else math.nan
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise InvalidScores(f"{path}, line {line}: {cell!r} is not a finite number")
    return number


def _scores(path: Path, rows: dict[tuple[str, str], list[float]], scorers: list[str], logged: LoggedRound) -> Any:
    """Return the scores of a round's candidates: of one scorer, or of each by its name."""
    table = [_row(path, rows, logged.round_id, candidate) for candidate in logged.candidates]
    if len(scorers) == 1:
        return [row[0] for row in table]
    return {name: [row[j] for row in table] for j, name in enumerate(scorers)}


def _row(path: Path, rows: dict[tuple[str, str], list[float]], round_id: Any, candidate: Member) -> list[float]:
    row = rows.get((str(round_id), str(candidate)))
    if row is None:
        raise InvalidParameter(
            f"{path} has no row for candidate {candidate!r} of round {round_id}; give one for every candidate of every "
            "round: leaving rounds out would void the guarantee"
        )
    return row
