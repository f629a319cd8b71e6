"""The whole field side by side: every method under every distribution shift, and how each handles a miss.

All methods get the same scores: those of the first scorer, unchanged, and, from the first round on, the logarithm of
the score that `SHIPPED` has learned from them after its last fit. `SHIPPED` is ours with its defaults, which has to
learn that score; `EVERY_LIST` asks for the guarantee about every list.
"""

import dataclasses
import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist.lab.default_lister import shipped
from shortlist.lab.executors import Progress, Unit, finish, workplace
from shortlist.lab.list_baselines import smallest_k
from shortlist.lab.lister_replay import run_lister
from shortlist.lab.scored_lists import Lists, lengths_at, score_lists
from shortlist.lab.shifted_streams import SHIFTS, Shifting, faces
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import Task, TaskStream, load_task
from shortlist.policies import REGISTRY, AnytimeSPS, Entry, Policy, ProductLimit
from shortlist.rounds.settings import Settings
from shortlist.scores import Raw

__all__ = ["METHODS", "MISSES", "NAMES", "OURS", "WINDOWS", "FieldRow", "run_field"]

Array = NDArray[np.float64]
Covered = NDArray[np.bool_] | Array
Laws = list[tuple[NDArray[np.intp], metrics.Population]]

#: Numbers of rounds in a row over which coverage is looked at.
WINDOWS: Final = (100, 500, 2_000)
MISSES: Final = ("dropped", "threshold", "beyond")

#: The methods by the names of their classes.
METHODS: Final[dict[str, Entry]] = {entry.policy.__name__: entry for entry in REGISTRY.values() if entry.field}
#: Those that follow hits and misses, and our rule for every list: run on the learned score too.
FOLLOWERS: Final = (
    "AnytimeSPS", "ACI", "DLR", "ThresholdTracking", "ScaleFreeOGD", "ConformalPID", "DtACI", "SAOCP", "MVP",
)  # fmt: skip
#: Ours as shipped; with the guarantee about every list; with restarts besides; and without the budget.
SHIPPED, EVERY_LIST, RESTARTING, PLAIN = OURS = (
    "Shortlister", "Shortlister, delta", "Shortlister, delta, restart", "Shortlister, delta, no budget",
)  # fmt: skip
#: No right answer scores less; those that are absent have minus infinity.
_LOWEST: Final = -np.finfo(np.float64).max
#: The paper's scores, starting over when the alarm rings.
RESTART: Final = "AnytimeSPS, restart"
#: The smallest k that covers enough before anything shifts.
TOP_K: Final = "Fixed top-k"
#: Every method, in the order of tables.
NAMES: Final = (*OURS, TOP_K, *METHODS, RESTART)


@dataclass(frozen=True)
class FieldRow:
    """One line of ``field.csv``: one method on one run; what does not apply is None."""

    task: str
    shift: str
    method: str
    score: str
    feedback: str
    run: int
    coverage: float
    worst_100: float
    worst_500: float
    worst_2000: float
    mean_set_size: float
    regret: float | None
    undercoverage_count: int | None


def run_field(
    spec: Spec, *, jobs: int = 1, scheduler: str | None = None, progress: Progress | None = None
) -> list[FieldRow]:
    """Run every method under every shift on the tasks of a specification."""
    tell = progress or (lambda _what, _done, _of: None)
    units: list[Unit] = [
        (field_rows, (spec, name, shift, run))
        for name in spec.list_task_names
        for shift in SHIFTS
        for run in range(spec.runs)
    ]
    rows: list[FieldRow] = []
    with workplace(jobs, scheduler) as submit:
        for _, batch in finish(submit, units, "running the field", tell):
            rows += batch
    rows.sort(
        key=lambda row: (
            spec.list_task_names.index(row.task),
            SHIFTS.index(row.shift),
            NAMES.index(row.method),
            row.score,
            row.feedback,
            row.run,
        )
    )
    return rows


@functools.lru_cache(maxsize=2)
def shifting_task(name: str, shift: str) -> Shifting:
    """Return a task under a shift."""
    return Shifting(faces(load_task(name), shift), shift)


def field_rows(spec: Spec, name: str, shift: str, run: int) -> list[FieldRow]:
    """Return the rows of all methods on one run: a unit of work."""
    shifting = shifting_task(name, shift)
    one = _Run(spec, shifting, shifting.draw(spec.generator(name, f"field {shift}", run), spec.rounds), run)
    return [*one.ours(), *one.top_k(), *one.followers(), *one.raw()]


class _Run:
    """One run of a task under a shift, and what each method does on it."""

    def __init__(self, spec: Spec, shifting: Shifting, stream: TaskStream, run: int) -> None:
        self.spec, self.shifting, self.stream, self.run = spec, shifting, stream, run
        self.policy = AnytimeSPS(spec.coverage)
        self.default = shipped(shifting, stream, ProductLimit(spec.coverage))
        self.lister = shipped(shifting, stream, self.policy)

    @property
    def task(self) -> Task:
        return self.shifting.faces[0]

    @functools.cached_property
    def kind(self) -> str:
        """What the lister's scores are."""
        return "raw" if self.lister.score is None else "learned"

    @functools.cached_property
    def laws(self) -> Laws:
        """The distributions of the raw scores."""
        return self.shifting.laws(self.spec.rounds)

    @functools.cached_property
    def populations(self) -> list[Array] | None:
        """The scores of all right answers that `EVERY_LIST` has frozen, by face; None for raw scores."""
        return self.lister.populations(self.shifting)

    def row(
        self,
        method: str,
        score: str,
        feedback: str,
        covered: Covered,
        sizes: NDArray[np.int64],
        regret: float | None,
        past: int | None,
    ) -> FieldRow:
        """Return a row from what was shown."""
        hundred, five_hundred, two_thousand = (worst_window(covered, window) for window in WINDOWS)
        return FieldRow(
            task=self.task.name,
            shift=self.shifting.shift,
            method=method,
            score=score,
            feedback=feedback,
            run=self.run,
            coverage=float(covered.mean()),
            worst_100=hundred,
            worst_500=five_hundred,
            worst_2000=two_thousand,
            mean_set_size=float(sizes.mean()),
            regret=regret,
            undercoverage_count=past,
        )

    def past(self, thresholds: Array, laws: Laws) -> int:
        """Return in how many rounds the threshold was past the optimal one of its score."""
        coverage = self.spec.coverage
        return sum(int(metrics.undercoverage_count(thresholds[at], law, coverage)[-1]) for at, law in laws)

    def ours(self) -> Iterator[FieldRow]:
        """Yield ours as shipped, and with `delta`: as it is, with restarts, and without the budget."""
        default = self.default
        yield self.row(SHIPPED, self.kind, "semi-bandit", default.run.covered, default.shown, None, None)
        laws = self.laws if self.populations is None else self.shifting.laws(self.spec.rounds, self.populations)
        plain = self.lister
        restarting = shipped(self.shifting, self.stream, self.policy, on_drift="restart")
        for method, lister in ((EVERY_LIST, plain), (RESTARTING, restarting), (PLAIN, plain)):  # no budget moves it
            thresholds = lister.run.thresholds
            covered, sizes = lister.run.covered, lister.shown
            if method == PLAIN:
                covered, sizes = lister.true >= np.maximum(thresholds, _LOWEST), lister.lengths(thresholds)
            past = self.past(thresholds, laws)
            yield self.row(method, self.kind, "semi-bandit", covered, sizes, None, past)

    def top_k(self) -> Iterator[FieldRow]:
        """Yield the fixed length that covers enough before anything shifts; there is none in auctions."""
        if not self.shifting.sets:
            return
        first = np.arange(len(self.shifting.sets[0].true_scores))
        k, _ = smallest_k(score_lists(self.shifting.lists(first), Raw()), first, self.spec.coverage)
        scored = score_lists(self.lister.scored.lists, Raw())
        better, equal = (each[self.lister.rows] for each in scored.places)
        covered = np.clip((k - better) / np.maximum(equal, 1), 0.0, 1.0) * (equal > 0)
        sizes = np.minimum(scored.lists.counts[self.lister.rows], k)
        yield self.row(TOP_K, "raw", "none", covered, sizes, None, None)

    def followers(self) -> Iterator[FieldRow]:
        """Yield the methods that follow hits and misses, on the logarithm of the learned score, which suits them.

        They are given the score of `SHIPPED` after its last fit, from the first round on.
        """
        lister, scores = self.default, self.default.populations(self.shifting)
        if lister.score is None or scores is None:
            return
        of = _logarithm if lister.score.form == "softmax" else np.asarray
        true, populations = of(lister.true), [of(each) for each in scores]
        laws = self.shifting.laws(self.spec.rounds, populations)
        top = max(float(scores.max()) for scores in populations)
        scale = top - min(float(scores.min()) for scores in populations)
        scored = dataclasses.replace(lister.scored, scores=of(lister.scored.scores))
        for method in FOLLOWERS:
            policy = METHODS[method].build(self.spec.coverage, self.spec.rounds, score_range=(top, scale))
            thresholds = replay(policy, true)
            sizes = lengths_at(scored, lister.rows, thresholds)
            yield self.row(
                method, "learned", _feedback(policy), true >= thresholds, sizes, None, self.past(thresholds, laws)
            )

    def raw(self) -> Iterator[FieldRow]:
        """Yield every method on the raw scores."""
        scores = self.stream.true_scores
        score_range = _range(*self.shifting.faces)
        stationary = self.shifting.shift == "stationary"
        for method, entry in METHODS.items():
            policy = entry.build(self.spec.coverage, self.spec.rounds, score_range=score_range)
            own = _feedback(policy)
            yield self.raw_row(method, own, replay(policy, scores))
            if stationary:
                if method != "Greedy":  # its quantile never comes down, which only makes sense for hits
                    yield self.raw_row(method, "full", replay(policy, scores, full_feedback=True))
                for miss in MISSES[:2] if own == "beyond" else ():
                    yield self.raw_row(
                        method,
                        miss,
                        replay(dataclasses.replace(policy, miss=miss), scores),  # type: ignore[type-var]
                    )
        lists = Lists(scores[:, None, None], np.zeros(scores.size, dtype=np.intp))
        settings = Settings(policy=self.policy, score=Raw(), miss_budget=None, on_drift="restart")
        run = run_lister(lists, np.arange(scores.size), settings)
        yield self.raw_row(RESTART, "semi-bandit", run.thresholds)

    def raw_row(self, method: str, feedback: str, thresholds: Array) -> FieldRow:
        """Return the row of thresholds on the raw scores."""
        sizes = self.stream.set_sizes(thresholds)
        assert sizes is not None  # noqa: S101 - every face has candidates
        regret = sum(float(metrics.regret(thresholds[at], law, self.spec.coverage)[-1]) for at, law in self.laws)
        covered = self.stream.true_scores >= thresholds
        return self.row(method, "raw", feedback, covered, sizes, regret, self.past(thresholds, self.laws))


def _logarithm(scores: Array) -> Array:
    """Return logarithms; of nothing, that of the smallest number."""
    return np.log(np.maximum(scores, np.finfo(np.float64).tiny))


def _feedback(policy: Policy) -> str:
    """Return what a method learns of a miss."""
    named = [field.name for field in dataclasses.fields(policy)]  # type: ignore[arg-type]
    return "beyond" if "miss" in named else "semi-bandit"


def _range(*tasks: Task) -> tuple[float, float]:
    """Return the score range for methods: the highest true score of all faces, and its distance to the lowest."""
    values = [task.population[0] for task in tasks if task.population is not None]
    top = max(float(one.max()) for one in values)
    return top, top - min(float(one.min()) for one in values)


def worst_window(covered: Covered, window: int) -> float:
    """Return the lowest coverage in any window of so many consecutive rounds.

    >>> worst_window(np.array([True, False, True, True]), 2)
    0.5
    """
    sums = np.concatenate([[0.0], np.cumsum(covered, dtype=np.float64)])
    width = min(window, covered.size)
    return float((sums[width:] - sums[:-width]).min() / width) if width else math.nan
