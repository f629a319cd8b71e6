"""How long lists get, task by task: the paper's raw scores, relative and learned ones, and what is common today."""

import functools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.lab.list_baselines import VARIANTS, Way, compare
from shortlist.lab.scored_lists import Lists, score_lists
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import ScoredTask, Task
from shortlist.scores import Adaptive, Margin, Rank, Raw, Relative, Score, name_of

__all__ = ["FIXED", "ListRow", "LogListRow", "list_rows", "lists_of", "log_rows", "optimal_lengths", "with_lists"]

Sizes = NDArray[np.int64]

#: The fixed scores that a learned one is measured against.
FIXED: Final[tuple[Score, ...]] = (
    Raw(),
    Margin(),
    *(Relative(temperature) for temperature in (0.3, 0.4, 0.5, 0.75, 1.0)),
    Rank(),
    Adaptive(),
)


@dataclass(frozen=True)
class ListRow:
    """One line of ``list_lengths.csv``: one variant on one run."""

    task: str
    variant: str
    run: int
    score: str
    mean_set_size: float
    first_200: float
    last_tenth: float
    coverage: float
    undercoverage_count: int | None


@dataclass(frozen=True)
class LogListRow:
    """One line of ``lists.csv``: one variant on one stream of a log."""

    stream: str
    variant: str
    rounds: int
    score: str
    mean_set_size: float
    first_200: float
    last_tenth: float
    coverage: float
    undercoverage_count: int | None


def with_lists(spec: Spec) -> list[str]:
    """Return the names of the tasks that have candidates."""
    return [name for name in spec.list_task_names if _has_lists(spec.task(name))]


def _has_lists(task: Task) -> bool:
    return isinstance(task, ScoredTask) and task.scores.candidate_scores is not None


def lists_of(task: Task) -> Lists:
    """Return the lists that a task draws from."""
    assert isinstance(task, ScoredTask)  # noqa: S101 - see with_lists
    return _lists_of(task)


@functools.lru_cache(maxsize=4)
def _lists_of(task: ScoredTask) -> Lists:
    scores = task.scores
    return Lists(scores.tables, scores.true_columns, scores.scorers)


def optimal_lengths(spec: Spec, name: str) -> dict[str, float]:
    """Return each fixed score's mean list length at its own optimal threshold, by the first scorer."""
    lists, lengths = lists_of(spec.task(name)).first, {}
    for score in FIXED:
        scored = score_lists(lists, score)
        cut = max(metrics.optimal_threshold(scored.true, spec.coverage), -np.finfo(np.float64).max)
        lengths[name_of(score)] = float((scored.scores >= cut).sum(axis=1).mean())
    return lengths


def list_rows(spec: Spec, name: str, run: int) -> list[tuple[ListRow, Sizes]]:
    """Return a row and the list lengths for each variant, all on the rounds of one run."""
    task = spec.task(name)
    stream = task.draw(spec.generator(task.name, "run", run), spec.rounds)
    assert stream.candidates is not None  # noqa: S101 - see with_lists
    ways = compare(lists_of(task), stream.candidates[1], spec.coverage, min(2 / spec.rounds, 0.5))
    return [(ListRow(task.name, variant, run, **_figures(way)), way.sizes) for variant, way in ways.items()]


def log_rows(stream: str, lists: Lists, coverage: float, delta: float) -> list[tuple[LogListRow, Sizes]]:
    """Return the same for a log: its rounds once, in their order. The paper's SPS needs a horizon, and is left out."""
    rounds = len(lists.values)
    ways = compare(lists, np.arange(rounds), coverage, delta, variants=VARIANTS[1:])
    return [(LogListRow(stream, variant, rounds, **_figures(way)), way.sizes) for variant, way in ways.items()]


def _figures(way: Way) -> dict[str, Any]:
    """Return the figures of one way of making lists."""
    return {
        "score": way.score,
        "mean_set_size": float(way.sizes.mean()),
        "first_200": float(way.sizes[:200].mean()),
        "last_tenth": float(way.sizes[-max(1, way.sizes.size // 10) :].mean()),
        "coverage": way.coverage,
        "undercoverage_count": way.past,
    }
