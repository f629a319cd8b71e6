"""From a specification to rows and curves, on all cores.

A *unit* of work is one run of one task: its stream is drawn once and every policy replays it. Units
are pure functions of the specification, so where and in which order they run changes nothing.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist._result_tables import Rows
from shortlist.lab import lists, sweeps
from shortlist.lab.executors import Progress, Submit, Unit, finish, workplace
from shortlist.lab.list_baselines import VARIANTS
from shortlist.lab.readings import reading_specs
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import Task
from shortlist.metrics import Law, Population, Uniform

__all__ = ["CURVES", "Results", "Row", "grid", "law_of", "run"]

#: What is kept of each run at the grid's rounds; sizes and revenue as running sums.
CURVES = ("regret", "coverage", "undercoverage_count", "threshold", "set_size", "revenue", "revenue_regret")

Array = NDArray[np.float64]
Settings = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Row:
    """One line of ``summary.csv``."""

    task: str
    policy: str
    run: int
    regret: float
    coverage: float
    undercoverage_count: int
    mean_set_size: float
    seconds: float


@dataclass
class Results:
    """The results of an experiment, complete or interrupted."""

    spec: Spec
    rounds: NDArray[np.int64]
    settings: Settings = field(default_factory=dict)
    tuning: dict[tuple[str, str], dict[float, float]] = field(default_factory=dict)
    rows: Rows[Row] = field(default_factory=Rows)
    curves: dict[tuple[str, str, int], dict[str, Array]] = field(default_factory=dict)
    optimal: dict[tuple[str, int], dict[str, Array]] = field(default_factory=dict)
    horizons: Rows[sweeps.HorizonRow] = field(default_factory=Rows)
    coverages: Rows[sweeps.CoverageRow] = field(default_factory=Rows)
    list_rows: Rows[lists.ListRow] = field(default_factory=Rows)
    list_curves: dict[tuple[str, str, int], Array] = field(default_factory=dict)
    optimal_lists: dict[str, dict[str, float]] = field(default_factory=dict)
    #: The same streams under other readings of the paper: what its claims are judged on.
    readings: "list[Results]" = field(default_factory=list)
    complete: bool = False

    def stack(self, task: str, policy: str, curve: str) -> Array:
        """Return one curve of all finished runs, one row per run."""
        runs = [self.curves.get((task, policy, run)) for run in range(self.spec.runs)]
        return np.array([curves[curve] for curves in runs if curves is not None and curve in curves])

    def yardstick(self, task: str, curve: str) -> Array:
        """Return one curve of the optimal threshold on all finished runs, one row per run."""
        runs = [self.optimal.get((task, run)) for run in range(self.spec.runs)]
        return np.array([curves[curve] for curves in runs if curves is not None and curve in curves])

    def list_values(self, task: str, variant: str, column: str) -> Array:
        """Return one column of the rows of a task and a variant."""
        return np.array([getattr(row, column) for row in self.list_rows if (row.task, row.variant) == (task, variant)])

    def list_variants(self, task: str) -> list[str]:
        """Return the variants that were compared on a task, in the order of tables."""
        return list(dict.fromkeys(row.variant for row in self.list_rows if row.task == task))

    def values(self, task: str, policy: str, column: str) -> Array:
        """Return one column of the rows of a task and a policy."""
        return np.array([getattr(row, column) for row in self.rows if (row.task, row.policy) == (task, policy)])


def grid(rounds: int, points: int = 200) -> NDArray[np.int64]:
    """Return the rounds at which curves are sampled: evenly spaced, denser at the start.

    >>> grid(10_000)[[0, 1, -1]].tolist()
    [1, 2, 10000]
    """
    even = np.linspace(1, rounds, points)
    early = np.geomspace(1, rounds, points // 2)
    return np.unique(np.round(np.concatenate([even, early])).astype(np.int64))


def law_of(task: Task) -> Law:
    """Return the distribution that a task's true scores are drawn from."""
    return Uniform() if task.population is None else Population(*task.population)


def tune(spec: Spec, name: str, run: int) -> dict[tuple[str, float], float]:
    """Return the regret of each setting of each tuned policy on one tuning stream."""
    task = spec.task(name)
    law, stream = law_of(task), task.draw(spec.generator(task.name, "tuning", run), spec.rounds)
    return {
        (policy, setting): float(_regret(spec, replay(spec.policy(policy, setting), stream.true_scores), law)[-1])
        for policy, grid in spec.grids.items()
        for setting in grid
    }


def _regret(spec: Spec, thresholds: Array, law: Law) -> Array:
    """Return the regret by the paper's reward, with the weights of an experiment."""
    return metrics.regret(thresholds, law, spec.coverage, lambda1=spec.lambda1, lambda2=spec.lambda2)


@dataclass(frozen=True)
class _Finished:
    """What one unit hands back."""

    rows: list[Row]
    curves: dict[tuple[str, str, int], dict[str, Array]]
    optimal: dict[tuple[str, int], dict[str, Array]]


def measure(spec: Spec, name: str, run: int, settings: Settings, sizes: bool = True) -> _Finished:
    """Return the rows and curves of one run of one task; without list lengths and revenue if nobody reads them."""
    task = spec.task(name)
    law, stream = law_of(task), task.draw(spec.generator(task.name, "run", run), spec.rounds)
    at = grid(spec.rounds) - 1
    rows, curves = [], {}
    for policy in spec.policies:
        rule = spec.policy(policy, settings.get((task.name, policy)))
        start = time.perf_counter()
        thresholds = replay(rule, stream.true_scores)
        seconds = time.perf_counter() - start
        kept: dict[str, Array] = {
            "regret": _regret(spec, thresholds, law),
            "coverage": metrics.coverage(thresholds, stream.true_scores),
            "undercoverage_count": metrics.undercoverage_count(thresholds, law, spec.coverage).astype(float),
            "threshold": thresholds,
        }
        kept |= dict(_sums(stream, thresholds)) if sizes else {}
        if "revenue" in kept:
            kept["revenue_regret"] = metrics.regret(thresholds, law, spec.coverage, reward=metrics.revenue)
        rows.append(
            Row(
                task=task.name,
                policy=policy,
                run=run,
                regret=float(kept["regret"][-1]),
                coverage=float(kept["coverage"][-1]),
                undercoverage_count=int(kept["undercoverage_count"][-1]),
                mean_set_size=float(kept["set_size"][-1] / spec.rounds) if "set_size" in kept else float("nan"),
                seconds=seconds,
            )
        )
        curves[task.name, policy, run] = {curve: values[at] for curve, values in kept.items()}
    if not sizes:
        return _Finished(rows, curves, {})
    best = np.full(spec.rounds, law.optimal_threshold(spec.coverage))
    optimal = {curve: values[at] for curve, values in _sums(stream, best)}
    for curve, values in _sums(stream, np.full(spec.rounds, -np.inf)):
        if curve == "revenue":
            optimal["no_reserve"] = values[at]
    return _Finished(rows, curves, {(task.name, run): optimal})


def _sums(stream: Any, thresholds: Array) -> Iterator[tuple[str, Array]]:
    """Yield the running sums of list lengths and revenue, where the task has them."""
    for curve, values in (
        ("set_size", stream.set_sizes(thresholds)),
        ("revenue", stream.revenue(thresholds)),
    ):
        if values is not None:
            yield curve, np.cumsum(values, dtype=np.float64)


def run(
    spec: Spec,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    with_sweeps: bool = True,
    with_lists: bool = True,
    with_readings: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Run an experiment, here or on a Dask cluster. If interrupted with Ctrl-C, return what is finished."""
    results = Results(spec, grid(spec.rounds))
    tell = progress or _silent
    try:
        with workplace(jobs, scheduler) as submit:
            _replay_all(results, submit, tell, ("choosing settings", "replaying"), sizes=True)
            if with_readings:
                _read(results, submit, tell)
            if with_sweeps:
                units = sweeps.units(spec)
                for (work, _), row in finish(submit, units, "sweeping", tell):
                    (results.horizons if work is sweeps.horizon_row else results.coverages).append(row)
            if with_lists:
                _compare_lists(results, submit, tell)
        results.complete = True
    except KeyboardInterrupt:
        pass
    _sort(results)
    results.horizons.sort(key=lambda row: (row.policy, row.rounds, row.run))
    results.coverages.sort(key=lambda row: (row.policy, row.coverage, row.run))
    results.list_rows.sort(key=lambda row: (spec.list_task_names.index(row.task), VARIANTS.index(row.variant), row.run))
    return results


def _replay_all(results: Results, submit: Submit, tell: Progress, stages: tuple[str, str], *, sizes: bool) -> None:
    """Choose the settings of tuned policies, then replay every policy on every stream."""
    spec = results.spec
    if spec.grids:
        units: list[Unit] = [(tune, (spec, name, i)) for name in spec.task_names for i in range(spec.tuning_runs)]
        _choose(results, finish(submit, units, stages[0], tell))
    units = [(measure, (spec, name, i, results.settings, sizes)) for name in spec.task_names for i in range(spec.runs)]
    for _, done in finish(submit, units, stages[1], tell):
        results.rows += done.rows
        results.curves |= done.curves
        results.optimal |= done.optimal


def _read(results: Results, submit: Submit, tell: Progress) -> None:
    """Replay the other readings of the paper."""
    specs = list(reading_specs(results.spec))
    tell("other readings", 0, len(specs))
    for number, spec in enumerate(specs):
        reading = Results(spec, results.rounds)
        _replay_all(reading, submit, _silent, ("", ""), sizes=False)
        _sort(reading)
        results.readings.append(reading)
        tell("other readings", number + 1, len(specs))


def _silent(_what: str, _done: int, _of: int) -> None:
    """Tell nothing."""


def _sort(results: Results) -> None:
    """Put curves and rows in the order of the spec, whichever was finished first."""
    spec = results.spec
    results.curves = dict(sorted(results.curves.items()))
    results.rows.sort(key=lambda row: (spec.task_names.index(row.task), spec.policies.index(row.policy), row.run))


def _compare_lists(results: Results, submit: Submit, tell: Progress) -> None:
    """Compare ways of making lists on the tasks that have candidates."""
    spec, names = results.spec, lists.with_lists(results.spec)
    units: list[Unit] = [(lists.list_rows, (spec, name, i)) for name in names for i in range(spec.runs)]
    if not units:
        return
    for _, pairs in finish(submit, units, "comparing lists", tell):
        for row, sizes in pairs:
            results.list_rows.append(row)
            results.list_curves[row.task, row.variant, row.run] = np.cumsum(sizes, dtype=np.float64)[results.rounds - 1]
    for name in names:
        results.optimal_lists[spec.task(name).name] = lists.optimal_lengths(spec, name)


def _choose(results: Results, finished: Iterable[tuple[Any, dict[tuple[str, float], float]]]) -> None:
    """Choose each tuned policy's setting: the one with the least mean regret."""
    by_setting: dict[tuple[str, str], dict[float, list[float]]] = {}
    for (_, (_, name, _)), regrets in finished:
        task = results.spec.task(name).name
        for (policy, setting), regret in regrets.items():
            by_setting.setdefault((task, policy), {}).setdefault(setting, []).append(regret)
    for key, settings in by_setting.items():
        # sorted: the order in which units finish must not change the last digit
        means = {setting: float(np.mean(sorted(regrets))) for setting, regrets in sorted(settings.items())}
        results.tuning[key] = means
        results.settings[key] = min(means, key=lambda setting: (means[setting], setting))
