r"""Which of several scores gives the shortest lists: found out without labels.

Each score has a tracker, and in every round its lists' lengths can be counted without an answer. So
they are compared on every round, at the threshold that each tracker expects to end at (the empirical
quantile of what it has seen: early thresholds are cautious, and a score that is short when nearly
everything is shown need not be short in the end). A score is dropped when it is clearly longer than
another: when, over at least 100 rounds, its lists were longer by four standard errors of the paired
difference on average. After 1,000 rounds only the shortest is kept: what is undecided then hardly
matters.

**Why this costs no guarantee.** With probability 1 - delta the thresholds of *all* scores stay at or
below their own optimum, uniformly over time, because each tracker has its share of delta. On that event
every score's list covers, whichever is shown; and which is dropped depends on past rounds alone, never on
the round at hand. (Showing the shortest list of each round would not be allowed: that choice depends
on the question, and short lists are short where they are wrong.)

Rounds count from the moment when all scores have a threshold.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from shortlist._validation import Array, Member, miss_rate
from shortlist.policies import OrderStatisticState
from shortlist.rounds.codec import decode, encode
from shortlist.rounds.events import Hit, Listed, RoundName, WarmStarted
from shortlist.rounds.selection import select
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Stream, StreamState, comparable, highest_missing, true_comparable
from shortlist.rounds.tracker import Tracker, make_tracker
from shortlist.scores import Margin, Raw, Relative, name_of

__all__ = ["AUTO", "Race", "RaceStream", "estimate", "make_stream"]

#: The scores that ``score="auto"`` chooses from.
AUTO: Final = (Raw(), Margin(), Relative(0.3), Relative(0.5), Relative(1.0))
#: How many rounds are compared before a score may be dropped.
_FIRST: Final = 100
#: How many rounds are compared before all but the best are dropped.
_LAST: Final = 1_000
#: How many standard errors make a difference clear.
_CLEAR: Final = 4.0


@dataclass(slots=True)
class Race:
    """Keeps the scores that may still be the best one.

    >>> race = Race.between(2)
    >>> for i in range(100):
    ...     race.compare([3 + i % 2, 9 - i % 3])
    >>> race.remaining
    [0]
    """

    #: The scores that are still in the race, by their index.
    remaining: list[int]
    # For each pair of scores the sum and the sum of squares of the difference of their lengths.
    sums: list[list[int]]
    squares: list[list[int]]
    #: How many rounds have been compared.
    rounds: int = 0
    #: Before which round one was left.
    decided_at: int | None = None

    @classmethod
    def between(cls, count: int) -> "Race":
        """Return the race between so many scores, before its start."""
        return cls(list(range(count)), [[0] * count for _ in range(count)], [[0] * count for _ in range(count)])

    @property
    def decided(self) -> bool:
        """Whether one score is left."""
        return len(self.remaining) == 1

    def compare(self, lengths: Sequence[int]) -> None:
        """Take the list lengths of one round, and drop what is clearly longer than another."""
        if self.decided:
            return
        self.rounds += 1
        for i in self.remaining:
            for j in self.remaining:
                if i < j:
                    difference = lengths[i] - lengths[j]
                    self.sums[i][j] += difference
                    self.squares[i][j] += difference * difference
        if self.rounds >= _LAST:
            self.remaining = [self.leader]
        elif self.rounds >= _FIRST:
            best = self.leader
            self.remaining = [i for i in self.remaining if i == best or not self._clearly_longer(i, best)]

    @property
    def leader(self) -> int:
        """The score with the shortest lists so far; the first of equals."""
        best = self.remaining[0]
        for i in self.remaining[1:]:
            if self._excess(i, best) < 0:
                best = i
        return best

    def _excess(self, i: int, j: int) -> int:
        """By how much the lists of i were longer than those of j, in all."""
        return self.sums[i][j] if i < j else -self.sums[j][i]

    def _clearly_longer(self, i: int, j: int) -> bool:
        mean = self._excess(i, j) / self.rounds
        squares = self.squares[min(i, j)][max(i, j)] / self.rounds
        error = math.sqrt(max(squares - mean * mean, 0.0) / self.rounds)
        return mean > _CLEAR * error

    def why(self) -> str:
        """Say why the scores in use are in use."""
        if self.decided:
            return f"its lists were the shortest over {self.rounds} rounds; decided before round {self.decided_at}"
        if self.rounds:
            return f"undecided after comparing {self.rounds} rounds, so the union of their lists is shown"
        return "undecided: the comparison begins when all of them have a threshold"


class RaceStream(Stream):
    """A stream with a tracker for each score that is still in the race; the union of their lists is shown."""

    def __init__(self, settings: Settings, share: float = 1.0, state: StreamState | None = None) -> None:
        super().__init__(settings, share, state and StreamState(state.tally, {0: next(iter(state.trackers.values()))}))
        part = share / len(AUTO)
        self.race = Race.between(len(AUTO)) if state is None else decode(Race, state.race)
        self._tracks = {
            index: make_tracker(settings, part, None if state is None else state.trackers[index])
            for index in self.race.remaining
        }
        self.tracker = self._tracks[self.race.leader]

    @property
    def state(self) -> StreamState:
        """What it remembers."""
        trackers = {index: tracker.state for index, tracker in self._tracks.items()}
        return StreamState(self.tally, trackers, encode(self.race))

    @property
    def score_name(self) -> str:
        """The scores whose lists are shown together."""
        return " | ".join(name_of(AUTO[i]) for i in self.race.remaining)

    @property
    def score_thresholds(self) -> dict[str, float]:
        """The threshold of each of them."""
        return {name_of(AUTO[i]): tracker.threshold for i, tracker in self._tracks.items()}

    def trackers(self) -> Iterable[Tracker]:
        """Return the trackers of the scores in use."""
        return self._tracks.values()

    def decide(
        self,
        round_id: RoundName,
        values: Array,
        ids: list[Member] | None = None,
        truncated_below: float | None = None,
        again: Listed | None = None,
    ) -> Listed:
        """Return what to show of a list, and change nothing."""
        leader = self.race.leader
        thresholds = {leader: self.tracker.threshold} | {i: each.threshold for i, each in self._tracks.items()}
        if again is not None and again.race is not None:
            thresholds = {i: threshold for i, (threshold, _) in again.race.items()}
            leader = next(iter(thresholds))
        made = {i: comparable(AUTO[i], values) for i in thresholds}
        reached = np.logical_or.reduce([made[i] >= threshold for i, threshold in thresholds.items()])
        order, count, truncated = select(values, made[leader], reached, self.settings)
        if truncated_below is not None and not truncated:
            truncated = any(
                threshold <= highest_missing(AUTO[i], truncated_below, values, made[i])
                for i, threshold in thresholds.items()
            )
        return Listed(
            round_id,
            ids,
            values,
            order.tolist(),
            thresholds[leader],
            self.tracker.epoch,
            count,
            truncated,
            order.size == values.size and (thresholds[leader] == -math.inf or self.settings.shadow),
            made[leader][order].tolist(),
            truncated_below,
            race={i: (thresholds[i], made[i].tolist()) for i in thresholds},
        )

    def allows(self, listed: Listed) -> bool:
        """Return whether no threshold of a list of this epoch is above today's."""
        assert listed.race is not None  # noqa: S101 - `decide` has put it there
        return all(listed.race[i][0] <= tracker.threshold for i, tracker in self._tracks.items())

    def _show(self, event: Listed) -> None:
        assert event.race is not None  # noqa: S101 - `decide` has put it there
        lengths = self._expected_lengths(event.race)
        for i, tracker in self._tracks.items():
            tracker.show(event.round_id, event.race[i][0], event.epoch)
        if lengths is not None:
            self._compare(lengths)

    def _hit(self, event: Hit) -> None:
        assert event.race is not None  # noqa: S101 - `admit` has put it there
        self.tally.hits += 1
        self.tally.would_have_missed += event.below_cut
        self._remember(event.complete, 0)
        for i, tracker in self._tracks.items():
            tracker.hit(event.round_id, event.race[i])

    def _expected_lengths(self, made: Mapping[int, tuple[float, list[float]]]) -> list[int] | None:
        """Return the lengths to compare scores by: of their lists at the thresholds they expect to end at."""
        if self.race.decided or min(tracker.threshold for tracker in self._tracks.values()) == -np.inf:
            return None
        lengths = [0] * len(AUTO)
        for i, tracker in self._tracks.items():
            lengths[i] = int(np.count_nonzero(np.asarray(made[i][1]) >= estimate(tracker)))
        return lengths

    def _compare(self, lengths: list[int]) -> None:
        """Drop the scores with clearly longer lists, from the next round on."""
        self.race.compare(lengths)
        self._tracks = {i: self._tracks[i] for i in self.race.remaining}
        self.tracker = self._tracks[self.race.leader]
        if self.race.decided:
            self.race.decided_at = self.tally.rounds

    def warm_started(self, true_scores: Array, candidate_scores: ArrayLike | None) -> WarmStarted:
        """Return the event of learning from labelled examples, and change nothing."""
        made = {
            i: true_comparable(None if isinstance(AUTO[i], Raw) else AUTO[i], true_scores, candidate_scores)
            for i in self._tracks
        }
        return WarmStarted({i: scores.tolist() for i, scores in made.items()})


def estimate(tracker: Tracker) -> float:
    """Return the threshold that is expected in the end: the empirical quantile of what was seen.

    Without any margin for chance, so never to be shown; for comparing scores with each other.
    """
    state = tracker.state.policy
    assert isinstance(state, OrderStatisticState)  # noqa: S101 - the others are refused
    position = math.floor(state.rounds * miss_rate(tracker.coverage)) - state.low
    return sorted(state.values)[position] if 0 <= position < len(state.values) else tracker.threshold


def make_stream(settings: Settings, share: float = 1.0, state: StreamState | None = None) -> Stream:
    """Return the stream for these settings."""
    kind = RaceStream if settings.score == "auto" else Stream
    return kind(settings, share, state)
