"""The whole field side by side: every method, stationary and changing worlds, and what a miss means to each."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist.lab.executors import Progress, Unit, finish, workplace
from shortlist.lab.shifts import WORLDS, Changing, second_face
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import Task
from shortlist.policies import REGISTRY, AnytimeSPS, Entry
from shortlist.rounds.settings import Settings
from shortlist.rounds.tracker import make_tracker

__all__ = ["METHODS", "MISSES", "FieldRow", "run_field"]

Array = NDArray[np.float64]

#: Rounds over which coverage is looked at locally.
WINDOW: Final = 500
MISSES: Final = ("dropped", "threshold", "beyond")

#: The methods by the names of their classes.
METHODS: Final[dict[str, Entry]] = {entry.policy.__name__: entry for entry in REGISTRY.values() if entry.field}
#: Ours, starting over when the alarm rings.
RESTART: Final = "AnytimeSPS, restart"


@dataclass(frozen=True)
class FieldRow:
    """One line of ``field.csv``: one method on one run."""

    task: str
    world: str
    method: str
    feedback: str
    run: int
    coverage: float
    local_coverage: float
    mean_set_size: float
    regret: float
    undercoverage_count: int


def run_field(
    spec: Spec, *, jobs: int = 1, scheduler: str | None = None, progress: Progress | None = None
) -> list[FieldRow]:
    """Run every method in every world on the tasks of a specification."""
    tell = progress or (lambda _what, _done, _of: None)
    units: list[Unit] = [
        (field_rows, (spec, name, world, run))
        for name in spec.task_names
        for world in WORLDS
        for run in range(spec.runs)
    ]
    rows: list[FieldRow] = []
    with workplace(jobs, scheduler) as submit:
        for _, found in finish(submit, units, "running the field", tell):
            rows += found
    order = {name: place for place, name in enumerate((*METHODS, RESTART))}
    rows.sort(
        key=lambda row: (
            spec.task_names.index(row.task),
            WORLDS.index(row.world),
            order[row.method],
            row.feedback,
            row.run,
        )
    )
    return rows


def field_rows(spec: Spec, name: str, world: str, run: int) -> list[FieldRow]:
    """Return the rows of all methods on one run: a unit of work."""
    changing = Changing(*second_face(spec.task(name)), world)
    stream = changing.draw(spec.generator(name, f"field {world}", run), spec.rounds)
    scores = stream.true_scores
    score_range = _range(changing.first, changing.second)
    laws = changing.laws(spec.rounds)
    rows = []

    def add(method: str, feedback: str, thresholds: Array) -> None:
        hits = scores >= thresholds
        sizes = stream.set_sizes(thresholds)
        rows.append(
            FieldRow(
                task=name,
                world=world,
                method=method,
                feedback=feedback,
                run=run,
                coverage=float(hits.mean()),
                local_coverage=_worst_window(hits),
                mean_set_size=math.nan if sizes is None else float(sizes.mean()),
                regret=sum(float(metrics.regret(thresholds[at], law, spec.coverage)[-1]) for at, law in laws),
                undercoverage_count=sum(
                    int(metrics.undercoverage_count(thresholds[at], law, spec.coverage)[-1]) for at, law in laws
                ),
            )
        )

    for method, entry in METHODS.items():
        policy = entry.build(spec.coverage, spec.rounds, score_range=score_range)
        named = [field.name for field in dataclasses.fields(policy)]  # type: ignore[arg-type]
        add(method, "beyond" if "miss" in named else "semi-bandit", replay(policy, scores))
        if world == "stationary":
            if method != "Greedy":  # its quantile never comes down, which only makes sense for hits
                add(method, "full", replay(policy, scores, full_feedback=True))
            for miss in MISSES[:2] if "miss" in named else ():
                add(method, miss, replay(dataclasses.replace(policy, miss=miss), scores))  # type: ignore[type-var]
    add(RESTART, "semi-bandit", _restarting(spec.coverage, scores))
    return rows


def _range(*tasks: Task) -> tuple[float, float]:
    """Return the highest true score of all faces, and how far below it the lowest is: what the methods are told."""
    values = [task.population[0] for task in tasks if task.population is not None]
    top = max(float(one.max()) for one in values)
    return top, top - min(float(one.min()) for one in values)


def _worst_window(hits: NDArray[np.bool_]) -> float:
    """Return the lowest coverage of any stretch of so many rounds."""
    sums = np.concatenate([[0], np.cumsum(hits)])
    width = min(WINDOW, hits.size)
    return float((sums[width:] - sums[:-width]).min() / width)


def _restarting(coverage: float, scores: Array) -> Array:
    """Return the thresholds of AnytimeSPS with an alarm that makes it start over."""
    tracker = make_tracker(Settings(policy=AnytimeSPS(coverage), on_drift="restart", false_alarm_rounds=100_000))
    thresholds = np.empty(scores.size)
    for i, score in enumerate(scores.tolist()):
        thresholds[i] = tracker.threshold
        tracker.show(i, tracker.threshold, tracker.epoch)
        tracker.hit(i, score)  # below the threshold it is a miss
    return thresholds
