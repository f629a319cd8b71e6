"""How short lists get: the paper's raw scores, relative ones, and the choice between several.

Every score's learner sees, in a union of lists, what it would see alone; so each score's thresholds
can be replayed on its own. All of these scores keep the order of a list, so the union of their lists
is the longest of them.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist._validation import miss_rate
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import ScoredTask, Stream
from shortlist.policies import SPS, AnytimeSPS
from shortlist.rounds.race import AUTO, Race
from shortlist.scores import Raw, Relative, Score, name_of

__all__ = ["VARIANTS", "ListRow", "list_rows", "optimal_lengths", "with_lists"]

Array = NDArray[np.float64]
Sizes = NDArray[np.int64]

VARIANTS = ("sps", "anytime", "relative", "auto")


@dataclass(frozen=True)
class ListRow:
    """One line of ``list_lengths.csv``: one way of making lists, on one run."""

    task: str
    variant: str
    run: int
    score: str
    mean_set_size: float
    last_tenth: float
    coverage: float
    undercoverage_count: int


@dataclass(frozen=True)
class _Scored:
    """A task's questions through one score: the right answers, and all candidates in ascending order."""

    true: Array
    candidates: Array

    def sizes(self, rows: NDArray[np.intp], thresholds: Array) -> Sizes:
        """Return the list length of each round."""
        sizes = Stream(thresholds, candidates=(self.candidates, rows)).set_sizes(thresholds)
        assert sizes is not None  # noqa: S101 - there are candidates
        return sizes


def with_lists(spec: Spec) -> list[str]:
    """Return the names of the tasks that have candidates to make lists of."""
    found = []
    for name in spec.task_names:
        task = spec.task(name)
        if isinstance(task, ScoredTask) and task.scores.candidate_scores is not None:
            found.append(name)
    return found


@functools.lru_cache(maxsize=16)
def _scored(task: ScoredTask, score: Any) -> _Scored:
    assert task.scores.candidate_scores is not None  # noqa: S101 - see with_lists
    raw, true = task.scores.candidate_scores.astype(np.float64), task.scores.true_scores.astype(np.float64)
    places = (raw == true[:, None]).argmax(axis=1)
    made = np.concatenate([score(block) for block in np.array_split(raw, max(1, raw.size // 1_000_000))])
    return _Scored(made[np.arange(len(made)), places], np.sort(made, axis=1))


def optimal_lengths(spec: Spec, name: str) -> dict[str, float]:
    """Return each score's mean list length at its own optimal threshold."""
    task = spec.task(name)
    assert isinstance(task, ScoredTask)  # noqa: S101 - see with_lists
    lengths = {}
    for score in (*AUTO, Relative()):
        scored = _scored(task, score)
        best = metrics.optimal_threshold(scored.true, spec.coverage)
        rows = np.arange(scored.true.size)
        lengths[name_of(score)] = float(scored.sizes(rows, np.full(rows.size, best)).mean())
    return lengths


def list_rows(spec: Spec, name: str, run: int) -> list[tuple[ListRow, Sizes]]:
    """Return a row and the list lengths for each variant, all on the rounds of one run."""
    task = spec.task(name)
    assert isinstance(task, ScoredTask)  # noqa: S101 - see with_lists
    stream = task.draw(spec.generator(task.name, "run", run), spec.rounds)
    assert stream.candidates is not None  # noqa: S101 - see with_lists
    rows, delta = stream.candidates[1], min(2 / spec.rounds, 0.5)

    def play(policy: SPS | AnytimeSPS, score: Any) -> tuple[Array, Sizes]:
        scored = _scored(task, score)
        thresholds = replay(policy, scored.true[rows])
        return thresholds, scored.sizes(rows, thresholds)

    def judged(
        variant: str, score: Score, covered: NDArray[np.bool_], past: int, sizes: Sizes
    ) -> tuple[ListRow, Sizes]:
        tenth = max(1, spec.rounds // 10)
        return ListRow(
            task=task.name,
            variant=variant,
            run=run,
            score=name_of(score),
            mean_set_size=float(sizes.mean()),
            last_tenth=float(sizes[-tenth:].mean()),
            coverage=float(covered.mean()),
            undercoverage_count=past,
        ), sizes

    def alone(variant: str, policy: SPS | AnytimeSPS, score: Any) -> tuple[ListRow, Sizes]:
        thresholds, sizes = play(policy, score)
        true = _scored(task, score).true
        past = metrics.undercoverage_count(thresholds, true, spec.coverage)[-1]
        return judged(variant, score, true[rows] >= thresholds, int(past), sizes)

    found = [
        alone("sps", SPS(spec.coverage, spec.rounds), Raw()),
        alone("anytime", AnytimeSPS(spec.coverage, delta), Raw()),
        alone("relative", AnytimeSPS(spec.coverage, delta), Relative()),
    ]
    tracks = [play(AnytimeSPS(spec.coverage, delta * (1 / len(AUTO))), score) for score in AUTO]
    sizes, owner, chosen = _race(task, rows, spec.coverage, tracks)
    covered = np.zeros(spec.rounds, dtype=bool)
    past = 0
    for index, score in enumerate(AUTO):
        true, thresholds = _scored(task, score).true, tracks[index][0]
        covered |= owner[:, index] & (true[rows] >= thresholds)
        past += int(metrics.undercoverage_count(thresholds, true, spec.coverage)[-1])
    found.append(judged("auto", AUTO[chosen], covered, past, sizes))
    return found


def _race(
    task: ScoredTask, rows: NDArray[np.intp], coverage: float, tracks: list[tuple[Array, Sizes]]
) -> tuple[Sizes, NDArray[np.bool_], int]:
    """Return the lengths of the lists shown, which scores they are the union of, and who won."""
    rounds, chooser, p0 = rows.size, Race.between(len(AUTO)), miss_rate(coverage)
    owner = np.zeros((rounds, len(AUTO)), dtype=bool)
    cuts = np.array([thresholds for thresholds, _ in tracks]).min(axis=0) > -np.inf
    for t in range(rounds):
        owner[t, chooser.remaining] = True
        if chooser.decided:
            owner[t:] = owner[t]
            break
        if cuts[t]:
            lengths, place = [0] * len(AUTO), math.floor(t * p0)
            for i in chooser.remaining:
                scored = _scored(task, AUTO[i])
                expected = np.partition(scored.true[rows[:t]], place)[place]
                row = scored.candidates[rows[t]]
                lengths[i] = row.size - int(np.searchsorted(row, expected, side="left"))
            chooser.compare(lengths)
    lengths_shown = np.array([lengths for _, lengths in tracks]).T
    shown: Sizes = np.where(owner, lengths_shown, 0).max(axis=1)
    return shown, owner, chooser.leader
