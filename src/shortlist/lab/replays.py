"""What any policy would have done on a user's own log, stream by stream, here or on a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist.errors import InvalidParameter
from shortlist.lab.executors import Progress, Submit, Unit, finish
from shortlist.lab.round_log import LogFiles
from shortlist.policies import make_policy, policy_name

__all__ = ["ReplayRow", "replay_files", "replay_stream"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ReplayRow:
    """One line of ``replay.csv``: one policy on one stream, evaluated on the stream's own scores."""

    stream: str
    policy: str
    rounds: int
    coverage: float
    threshold: float
    optimal_threshold: float
    regret: float
    undercoverage_count: int
    first_cut: int


def replay_stream(
    stream: str, scores: Array, policies: Sequence[str], coverage: float
) -> tuple[list[ReplayRow], dict[str, Array]]:
    """Return a row and the thresholds for each policy on one stream, by the policy's name."""
    law = metrics.Population(scores)
    best = law.optimal_threshold(coverage)
    rows, paths = [], {}
    for text in policies:
        name = policy_name(text)
        thresholds = replay(make_policy(text, coverage, scores.size), scores)
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
        paths[name] = thresholds
    return rows, paths


def _some_streams(
    files: LogFiles, paths: tuple[str, ...], names: tuple[str, ...], policies: tuple[str, ...], coverage: float
) -> list[ReplayRow]:
    """Read some streams where they lie, and replay them: a unit of work."""
    log = files.read(paths, names)
    return [row for name, scores in log.items() for row in replay_stream(name, scores, policies, coverage)[0]]


def _streams_of(files: LogFiles, path: str) -> dict[str, int]:
    """Return which streams lie in a file: a unit of work."""
    return files.streams(path)


def replay_files(
    files: LogFiles,
    policies: Sequence[str],
    coverage: float,
    submit: Submit,
    tell: Progress,
    *,
    rounds_at_once: int = 5_000_000,
) -> tuple[list[ReplayRow], dict[str, tuple[str, ...]]]:
    """Return a row for each stream and policy, by name, and the files of each stream.

    A unit holds about five million rounds, of streams in the same files: it reads little that it
    does not need, and its worker needs little memory.
    """
    names = [policy_name(text) for text in policies]
    if len(set(names)) < len(names):
        raise InvalidParameter(f"a policy is named twice: {', '.join(names)}")
    for text in policies:
        make_policy(text, coverage, 1_000)  # a wrong name is noticed before anything is read
    lies: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    units: list[Unit] = [(_streams_of, (files, path)) for path in files.paths]
    listed = {unit[1][1]: counts for unit, counts in finish(submit, units, "looking for streams", tell)}
    for path in files.paths:
        for name, count in listed[path].items():
            lies.setdefault(name, []).append(path)
            sizes[name] = sizes.get(name, 0) + count
    places = {name: tuple(paths) for name, paths in sorted(lies.items())}
    units = [
        (_some_streams, (files, paths, names, tuple(policies), coverage))
        for paths, names in _groups(places, sizes, rounds_at_once)
    ]
    rows: list[ReplayRow] = []
    for _, batch in finish(submit, units, "replaying streams", tell):
        rows += batch
    order = {name: position for position, name in enumerate(names)}
    rows.sort(key=lambda row: (row.stream, order[row.policy]))
    return rows, places


def _groups(
    places: dict[str, tuple[str, ...]], sizes: dict[str, int], rounds_at_once: int
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return groups of streams that lie in the same files, none with many more rounds than asked for."""
    together: dict[tuple[str, ...], list[list[str]]] = {}
    rounds: dict[tuple[str, ...], int] = {}
    for name, paths in places.items():
        if paths not in together or rounds[paths] + sizes[name] > rounds_at_once:
            together.setdefault(paths, []).append([])
            rounds[paths] = 0
        together[paths][-1].append(name)
        rounds[paths] += sizes[name]
    return [(paths, tuple(names)) for paths, groups in together.items() for names in groups]
