"""A user's own log through any policy: what it would have done."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.errors import InvalidParameter, InvalidScores, MissingExtra
from shortlist.policies import (
    ACI,
    DLR,
    SPS,
    AnytimeSPS,
    ConservativeETC,
    ExploreThenCommit,
    Greedy,
    Oracle,
    Policy,
)
from shortlist.replay import replay

__all__ = ["Log", "ReplayRow", "named_policy", "read_log", "replay_log"]

Array = NDArray[np.float64]

#: A log: the true scores of each stream, in the order they came.
Log = dict[str, Array]


@dataclass(frozen=True)
class ReplayRow:
    """One line of ``replay.csv``: one policy on one stream, judged against the stream's own scores."""

    stream: str
    policy: str
    rounds: int
    coverage: float
    threshold: float
    optimal_threshold: float
    regret: float
    undercoverage_count: int
    first_cut: int


def read_log(
    path: str | os.PathLike[str],
    *,
    column: str = "true_score",
    stream: str | None = None,
    time: str | None = None,
    separator: str = ",",
) -> Log:
    """Return the true scores of a CSV or Parquet file.

    Parameters
    ----------
    path
        The file; its ending says which of the two it is.
    column
        The column of true scores. An empty cell means that the right answer was not among the
        candidates: a miss at any threshold.
    stream
        A column that tells streams apart; without it the file is one stream.
    time
        A column of numbers or times to sort by; without it the order of the file is kept.
    separator
        What stands between the cells of a CSV file.
    """
    table = _table(Path(path), separator, stream)
    names = table.column_names
    for name in (column, stream, time):
        if name is not None and name not in names:
            hint = "; is it another --separator?" if len(names) == 1 and any(c in names[0] for c in ";\t|") else ""
            raise InvalidParameter(f"{path}: there is no column called {name!r}; there are: {', '.join(names)}{hint}")
        if names.count(name) > 1:
            raise InvalidScores(f"{path}: there are {names.count(name)} columns called {name!r}")
    scores = _scores(path, column, table)
    order = np.arange(scores.size) if time is None else _order(path, time, table)
    if stream is None:
        return {Path(path).stem: scores[order]}
    labels = np.array(["" if name is None else str(name) for name in table.column(stream).to_pylist()])[order]
    return {str(name): scores[order][labels == name] for name in np.unique(labels)}


def _table(path: Path, separator: str, stream: str | None) -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import csv, parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("reading logs needs an extra: pip install 'shortlist[experiments]'") from None
    if not path.exists():
        raise InvalidScores(f"{path}: there is no such file")
    if path.is_dir():
        raise InvalidScores(f"{path}: this is a folder; name a file")
    if len(separator) != 1:
        raise InvalidParameter(f"separator is {separator!r}; it must be one character")
    kind = "Parquet" if path.suffix == ".parquet" else "CSV"
    try:
        if kind == "Parquet":
            table = parquet.read_table(path)
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                header = file.readline()
            table = csv.read_csv(
                path,
                # In a file of one column an empty line is an empty cell.
                parse_options=csv.ParseOptions(delimiter=separator, ignore_empty_lines=separator in header),
                # Names of streams are names: 007 is not 7.
                convert_options=csv.ConvertOptions(column_types={stream: pa.string()} if stream else None),
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
    except (pa.ArrowException, ValueError) as error:
        raise InvalidScores(
            f"{path}: the column {column!r} is not all numbers ({str(error).splitlines()[0]})"
        ) from None
    scores = np.where(np.isnan(values), -np.inf, values)  # empty cells come as NaN
    bad = np.flatnonzero(scores == np.inf)
    if bad.size:
        raise InvalidScores(
            f"{path}: row {bad[0] + 1} of {column!r} is {scores[bad[0]]}; a score must be a finite number, or empty "
            "where the right answer was not among the candidates"
        )
    return scores


def _order(path: str | os.PathLike[str], time: str, table: Any) -> NDArray[np.intp]:
    """Return the order of the rows in time, ties as in the file."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    values = table.column(time)
    if not (pa.types.is_temporal(values.type) or pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise InvalidScores(
            f"{path}: the column {time!r} holds text that is neither numbers nor times, for example "
            f"{str(values[0])!r}; write times as 2026-01-31 12:00:00"
        )
    if values.null_count:
        raise InvalidScores(f"{path}: {values.null_count} cells of {time!r} are empty; every row needs a time")
    return np.argsort(values.to_numpy(zero_copy_only=False), kind="stable")


def named_policy(  # noqa: C901 - a table of names
    text: str, coverage: float, rounds: int
) -> Policy:
    """Return the policy that a word on the command line names, such as ``sps`` or ``aci@0.008``.

    >>> named_policy("etc@500", 0.9, 10_000)
    ExploreThenCommit(coverage=0.9, window=True, explore=500)
    """
    name, at, setting = text.partition("@")
    try:
        number = float(setting) if at else math.nan
    except ValueError:
        number = math.inf
    if at and not math.isfinite(number):
        raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number")
    if at and name in ("greedy", "dlr"):
        raise InvalidParameter(f"policy is {text!r}; {name} has no setting")

    def given(default: float) -> float:
        return number if at else default

    def count(default: int) -> int:
        if given(default) != int(given(default)):
            raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number of rounds")
        return int(given(default))

    match name:
        case "anytime":
            return AnytimeSPS(coverage, given(0.05))
        case "sps":
            return SPS(coverage, count(rounds))
        case "greedy":
            return Greedy(coverage)
        case "aci":
            return ACI(coverage, given(0.008))
        case "dlr":
            return DLR(coverage)
        case "etc":
            return ExploreThenCommit(coverage, count(max(1, rounds // 10)))
        case "conservative-etc":
            return ConservativeETC(coverage, count(max(1, rounds * 2 // 5)), rounds)
        case "oracle":
            if not at:
                raise InvalidParameter("policy is 'oracle'; it needs its threshold: oracle@0.5")
            return Oracle(number)
    raise InvalidParameter(
        f"policy is {text!r}; it must be one of anytime, sps, greedy, aci, dlr, etc, conservative-etc, oracle, "
        "with its setting after an @ if you like: anytime@0.01 (delta), aci@0.008 (step), etc@500 (rounds)"
    )


def replay_log(
    log: Log, policies: Sequence[str], coverage: float
) -> tuple[list[ReplayRow], dict[tuple[str, str], Array]]:
    """Return a row and the thresholds for each stream and policy."""
    if len(set(policies)) < len(policies):
        raise InvalidParameter(f"a policy is named twice: {', '.join(policies)}")
    rows, paths = [], {}
    for stream, scores in log.items():
        law = metrics.Population(scores)
        best = law.optimal_threshold(coverage)
        for name in policies:
            thresholds = replay(named_policy(name, coverage, scores.size), scores)
            cuts = np.flatnonzero(thresholds > -np.inf)
            rows.append(
                ReplayRow(
                    stream=stream,
                    policy=name,
                    rounds=scores.size,
                    coverage=float(metrics.coverage(thresholds, scores)[-1]),
                    threshold=float(thresholds[-1]),
                    optimal_threshold=best,
                    regret=float(metrics.regret(thresholds, law, coverage)[-1]),
                    undercoverage_count=int(metrics.undercoverage_count(thresholds, law, coverage)[-1]),
                    first_cut=int(cuts[0]) + 1 if cuts.size else 0,
                )
            )
            paths[stream, name] = thresholds
    return rows, paths
