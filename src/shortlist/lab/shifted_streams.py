"""Distribution shifts, built from real scores.

Each task has a second face, which is harder: images with a noisier model, the half of the questions whose right
answers score lower, a cheaper item on sale. A *shift* gives the probability of each face in each round.

| shift | the second face appears |
|---|---|
| stationary | never |
| abrupt | always, from the middle on |
| drift | more and more often, from never to always |
| slow drift | more and more often, from never to a quarter of the rounds |
| seasons | with a probability that rises to 1 and falls back to 0 every 2,000 rounds |
| burst | in 300 rounds in the middle |
| adversary | alternately: 250 rounds without it, then 250 with it |

In *degrading* there are ten faces, one after the other: the scorer gets noisier (or bids fall) step by step.

The adversary does not see the thresholds; it keeps any method from settling.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InvalidParameter
from shortlist.lab.scored_lists import Lists
from shortlist.lab.tasks import AuctionTask, BidTable, ScoredTask, ScoreSet, Task, TaskStream, data_file, read_bids
from shortlist.metrics import Population

__all__ = ["SHIFTS", "Shifting", "faces", "shares"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

SHIFTS: Final = ("stationary", "abrupt", "drift", "slow drift", "seasons", "degrading", "burst", "adversary")
#: How many rounds the adversary's turns have.
TURN: Final = 250
#: How many rounds a year of the seasons has.
YEAR: Final = 2_000
#: How many rounds a burst has.
BURST: Final = 300
#: In how many steps a chance rises: within one, the distribution is stationary.
STEPS: Final = 20
#: How many steps a scorer degrades in, the first of them as it was.
FACES: Final = 10
#: The items on sale: the first, and the cheaper one.
_ITEMS: Final = ("Palm Pilot M515 PDA", "Xbox game console")


def shares(shift: str, rounds: int) -> Array:
    """Return the probability of each face in each round: one row per round, one column per face.

    >>> shares("abrupt", 4).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    t = np.arange(rounds)
    if shift == "degrading":
        return np.eye(FACES)[t * FACES // rounds]
    if shift == "stationary":
        return np.ones((rounds, 1))
    chance = _chance(shift, t, rounds)
    return np.stack([1.0 - chance, chance], axis=1)


def _chance(shift: str, t: Rows, rounds: int) -> Array:
    """Return how likely the second face is in each round."""
    match shift:
        case "abrupt":
            return (t >= rounds // 2).astype(np.float64)
        case "drift":
            return np.floor(t / rounds * STEPS) / (STEPS - 1)
        case "slow drift":
            return np.floor(t / rounds * STEPS) / (STEPS - 1) / 4
        case "seasons":
            height = (1.0 - np.cos(2 * np.pi * t / YEAR)) / 2
            return np.minimum(np.floor(height * STEPS), STEPS - 1) / (STEPS - 1)
        case "burst":
            return ((t >= rounds // 2) & (t < rounds // 2 + BURST)).astype(np.float64)
        case "adversary":
            return (t // TURN % 2).astype(np.float64)
    raise InvalidParameter(f"shift is {shift!r}; it must be one of {', '.join(SHIFTS)}")


def faces(task: Task, shift: str) -> tuple[Task, ...]:
    """Return the faces of a task, as many as a shift has."""
    count = shares(shift, FACES).shape[1]
    if isinstance(task, AuctionTask):
        if count == FACES:
            return tuple(_auctions(task, _ITEMS[0], 1 - step / (2 * (count - 1))) for step in range(count))
        return tuple(_auctions(task, item) for item in _ITEMS[:count])
    if not isinstance(task, ScoredTask) or task.scores.candidate_scores is None:
        raise InvalidParameter(f"task {task.name} has no second face: it needs candidates")
    if count == FACES or task.name == "images":
        return tuple(_noisier(task, step / max(1, count - 1)) for step in range(count))
    true = task.population[0]
    harder = np.sort(np.argsort(true, kind="stable")[: true.size // 2])
    return tuple(_part(task, rows) for rows in (np.arange(true.size), harder)[:count])


def _auctions(task: AuctionTask, item: str, height: float = 1.0) -> AuctionTask:
    """Return auctions of one item, with all bids at a share of their height."""
    bids = read_bids(data_file("auctions.csv"), item)
    table = BidTable(bids.values * height, bids.counts)
    return AuctionTask(table, f"bids on the {item}", task.bidders, name=task.name, title=task.title)


def _noisier(task: ScoredTask, noise: float) -> ScoredTask:
    """Return a task with independent noise on every score, in units of the standard deviation of the true scores."""
    table = np.asarray(task.scores.candidate_scores, dtype=np.float32)
    if noise > 0:
        size = noise * float(task.population[0].std())
        table = table + np.random.default_rng(0).normal(0.0, size, table.shape).astype(np.float32)
    return _with_scores(task, table, task.scores.true_columns)


def _part(task: ScoredTask, rows: Rows) -> ScoredTask:
    """Return some of a task's questions."""
    table = np.asarray(task.scores.candidate_scores, dtype=np.float32)[rows]
    return _with_scores(task, table, task.scores.true_columns[rows])


def _with_scores(task: ScoredTask, table: NDArray[np.float32], columns: Rows) -> ScoredTask:
    scores = task.scores
    true = table[np.arange(len(table)), columns]
    return ScoredTask(ScoreSet(true, table, scores.name, scores.source, columns=columns), task.title)


@dataclass(frozen=True, eq=False)
class Shifting:
    """A task under a shift: draws rounds, and has the distribution of each.

    Parameters
    ----------
    faces
        The faces of the task.
    shift
        How likely each is in each round.
    """

    faces: tuple[Task, ...]
    shift: str

    @cached_property
    def sets(self) -> list[ScoreSet]:
        """What the faces draw from; None for auctions."""
        return [face.scores for face in self.faces if isinstance(face, ScoredTask)]

    @cached_property
    def _table(self) -> NDArray[np.floating]:
        """The candidates of all faces, sorted, one below the other."""
        return np.concatenate([np.sort(_candidates(one), axis=1) for one in self.sets])

    def draw(self, rng: np.random.Generator, rounds: int) -> TaskStream:
        """Return the rounds of one run; rows of candidates are those of all faces, one below the other."""
        until = shares(self.shift, rounds).cumsum(axis=1)[:, :-1]
        which = (rng.random(rounds)[:, None] >= until).sum(axis=1)
        streams = [face.draw(rng, rounds) for face in self.faces]
        pairs = [stream.candidates for stream in streams if stream.candidates is not None]
        starts = np.cumsum([0, *(len(table) for table, _ in pairs)])
        table = self._table if self.sets else np.concatenate([each for each, _ in pairs])
        return TaskStream(
            np.choose(which, [stream.true_scores for stream in streams]),
            candidates=(table, np.choose(which, [rows for _, rows in pairs]) + starts[which]),
        )

    def lists(self, rows: Rows) -> Lists:
        """Return the lists of some rows of candidates, in the order in which the score file has their candidates."""
        starts = np.cumsum([0, *(len(one.true_scores) for one in self.sets)])
        which = np.searchsorted(starts, rows, side="right") - 1
        values = np.empty((rows.size, _candidates(self.sets[0]).shape[1], 1))
        right = np.empty(rows.size, dtype=np.intp)
        for number, one in enumerate(self.sets):
            at = np.flatnonzero(which == number)
            values[at, :, 0] = _candidates(one)[rows[at] - starts[number]]
            right[at] = one.true_columns[rows[at] - starts[number]]
        return Lists(values, right)

    def laws(self, rounds: int, true_scores: Iterable[Array] | None = None) -> list[tuple[Rows, Population]]:
        """Return the rounds that share a distribution of true scores, and that distribution.

        Parameters
        ----------
        rounds
            The number of rounds in a run.
        true_scores
            The true scores of each face's questions by another score; the original ones if not given.
        """
        parts, which = np.unique(shares(self.shift, rounds), axis=0, return_inverse=True)
        values, weights = [], []
        for face in self.faces:
            assert face.population is not None  # noqa: S101 - no face is the uniform task
            scores, theirs = face.population
            values.append(scores)
            weights.append(np.full(scores.size, 1.0 / scores.size) if theirs is None else theirs)
        values = values if true_scores is None else list(true_scores)
        return [
            (np.flatnonzero(which.ravel() == number), _mixture(values, weights, part))
            for number, part in enumerate(parts)
        ]


def _candidates(scores: ScoreSet) -> NDArray[np.floating]:
    assert scores.candidate_scores is not None  # noqa: S101 - see faces
    return scores.candidate_scores


def _mixture(values: list[Array], weights: list[Array], part: Array) -> Population:
    used = np.flatnonzero(part)
    return Population(np.concatenate([values[i] for i in used]), np.concatenate([part[i] * weights[i] for i in used]))
