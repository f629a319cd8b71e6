"""Worlds that change, made of real scores.

Each task has a second face: images seen by a noisier model, questions that are harder, another item
on sale. A *world* says how likely the second face is in each round.

| world | the second face comes |
|---|---|
| stationary | never |
| abrupt | always, from the middle on |
| drift | more and more often, from never to always |
| adversary | in turns: 250 rounds without it, 250 with it, and again |

The adversary does not see the thresholds; it only never lets a method settle.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import InvalidParameter
from shortlist.lab.tasks import AuctionTask, ScoredTask, ScoreSet, Stream, Task, data_file, read_bids
from shortlist.metrics import Population

Array = NDArray[np.float64]

__all__ = ["WORLDS", "Changing", "chance_of_second", "second_face"]

WORLDS: Final = ("stationary", "abrupt", "drift", "adversary")
#: How many rounds the adversary's turns have.
TURN: Final = 250
#: In how many steps a drift is judged: within one, the law is taken to stand still.
STEPS: Final = 20


def chance_of_second(world: str, rounds: int) -> Array:
    """Return how likely the second face is in each round.

    >>> chance_of_second("abrupt", 4).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    t = np.arange(rounds)
    match world:
        case "stationary":
            return np.zeros(rounds)
        case "abrupt":
            return (t >= rounds // 2).astype(np.float64)
        case "drift":
            return np.floor(t / rounds * STEPS) / (STEPS - 1)
        case "adversary":
            return (t // TURN % 2).astype(np.float64)
    raise InvalidParameter(f"world is {world!r}; it must be one of {', '.join(WORLDS)}")


def second_face(task: Task) -> tuple[Task, Task]:
    """Return a task's first and second face."""
    if isinstance(task, AuctionTask):
        path = data_file("auctions.csv")
        return tuple(  # type: ignore[return-value]
            AuctionTask(read_bids(path, item), f"bids on the {item}", name=task.name, title=task.title)
            for item in ("Xbox game console", "Palm Pilot M515 PDA")
        )
    if not isinstance(task, ScoredTask) or task.scores.candidate_scores is None:
        raise InvalidParameter(f"task {task.name} has no second face: it needs candidates")
    scores = task.scores
    true, table = scores.true_scores.astype(np.float64), np.asarray(task.scores.candidate_scores, dtype=np.float32)
    if task.name == "images":  # every logit with an error of its own, as large as the right ones differ
        noise = np.random.default_rng(0).normal(0.0, float(true.std()), table.shape).astype(np.float32)
        right = np.argmax(table == true[:, None].astype(np.float32), axis=1)
        table = table + noise
        true = table[np.arange(len(table)), right].astype(np.float64)
    else:  # the half of the questions whose right answer scores lower
        hard = np.argsort(true, kind="stable")[: true.size // 2]
        true, table = true[hard], table[hard]
    other = ScoreSet(true.astype(np.float32), table, scores.name, scores.source)
    return task, ScoredTask(other, task.title)


@dataclass(frozen=True)
class Changing:
    """A task in a world: draws rounds, and knows the law of each."""

    first: Task
    second: Task
    world: str

    def draw(self, rng: np.random.Generator, rounds: int) -> Stream:
        """Return the rounds of one run."""
        chance = chance_of_second(self.world, rounds)
        late = rng.random(rounds) < chance
        streams = [task.draw(rng, rounds) for task in (self.first, self.second)]
        true = np.where(late, streams[1].true_scores, streams[0].true_scores)
        tables = [stream.candidates for stream in streams]
        if tables[0] is None or tables[1] is None:
            return Stream(true)
        table = np.concatenate([tables[0][0], tables[1][0]])
        rows = np.where(late, tables[1][1] + len(tables[0][0]), tables[0][1])
        return Stream(true, candidates=(table, rows))

    def laws(self, rounds: int) -> list[tuple[NDArray[np.intp], Population]]:
        """Return the rounds that share a law, with that law."""
        chance = chance_of_second(self.world, rounds)
        return [(np.flatnonzero(chance == share), self._law(float(share))) for share in np.unique(chance)]

    def _law(self, share: float) -> Population:
        scores, weights = [], []
        for task, part in ((self.first, 1.0 - share), (self.second, share)):
            if part > 0.0 and task.population is not None:
                values, theirs = task.population
                scores.append(values)
                weights.append(part * (np.full(values.size, 1.0 / values.size) if theirs is None else theirs))
        return Population(np.concatenate(scores), np.concatenate(weights))
