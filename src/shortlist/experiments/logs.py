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
        A column to sort by; without it the order of the file is kept.
    """
    table = _table(Path(path))
    for name in (column, stream, time):
        if name is not None and name not in table.column_names:
            raise InvalidParameter(
                f"{path}: there is no column called {name!r}; there are: {', '.join(table.column_names)}"
            )
    scores = _scores(path, column, table)
    order = np.arange(scores.size)
    if time is not None:
        order = np.argsort(table.column(time).to_numpy(zero_copy_only=False), kind="stable")
    if stream is None:
        return {Path(path).stem: scores[order]}
    names = np.array([str(name) for name in table.column(stream).to_pylist()])[order]
    return {str(name): scores[order][names == name] for name in np.unique(names)}


def _table(path: Path) -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import csv, parquet  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("reading logs needs an extra: pip install 'shortlist[experiments]'") from None
    if not path.is_file():
        raise InvalidScores(f"{path}: there is no such file")
    try:
        table = parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        kind = "Parquet" if path.suffix == ".parquet" else "CSV"
        raise InvalidScores(f"{path}: this cannot be read as {kind} ({str(error).splitlines()[0]})") from None
    if table.num_rows == 0:
        raise InvalidScores(f"{path}: there are no rows")
    return table


def _scores(path: str | os.PathLike[str], column: str, table: Any) -> Array:
    try:
        values = table.column(column).cast("float64").to_numpy(zero_copy_only=False)
    except ValueError as error:
        raise InvalidScores(
            f"{path}: the column {column!r} is not all numbers ({str(error).splitlines()[0]})"
        ) from None
    empty = table.column(column).is_null().to_numpy(zero_copy_only=False)
    scores = np.where(empty, -np.inf, values)
    bad = np.flatnonzero(np.isnan(scores) | (scores == np.inf))
    if bad.size:
        raise InvalidScores(
            f"{path}: row {bad[0] + 1} of {column!r} is {scores[bad[0]]}; a score must be a finite number, or empty "
            "where the right answer was not among the candidates"
        )
    return scores


def named_policy(  # noqa: C901 - a table of names
    text: str, coverage: float, rounds: int
) -> Policy:
    """Return the policy that a word on the command line names, such as ``sps`` or ``aci@0.008``.

    >>> named_policy("etc@500", 0.9, 10_000)
    ExploreThenCommit(coverage=0.9, window=True, explore=500)
    """
    name, _, setting = text.partition("@")
    try:
        number = float(setting) if setting else math.nan
    except ValueError:
        raise InvalidParameter(f"policy is {text!r}; what follows the @ must be a number") from None

    def given(default: float) -> float:
        return default if math.isnan(number) else number

    match name:
        case "anytime":
            return AnytimeSPS(coverage, given(0.05))
        case "sps":
            return SPS(coverage, int(given(rounds)))
        case "greedy":
            return Greedy(coverage)
        case "aci":
            return ACI(coverage, given(0.008))
        case "dlr":
            return DLR(coverage)
        case "etc":
            return ExploreThenCommit(coverage, int(given(max(1, rounds // 10))))
        case "conservative-etc":
            return ConservativeETC(coverage, int(given(max(1, rounds * 2 // 5))), rounds)
        case "oracle":
            return Oracle(given(-math.inf))
    raise InvalidParameter(
        f"policy is {text!r}; it must be one of anytime, sps, greedy, aci, dlr, etc, conservative-etc, oracle, "
        "with its setting after an @ if you like: aci@0.008"
    )


def replay_log(
    log: Log, policies: Sequence[str], coverage: float
) -> tuple[list[ReplayRow], dict[tuple[str, str], Array]]:
    """Return a row and the thresholds for each stream and policy."""
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
