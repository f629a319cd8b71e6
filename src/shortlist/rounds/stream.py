"""A stream of rounds: `decide` and `due` look at it, `apply` changes it, and nothing else does.

`decide` cuts a list and changes nothing. `apply` takes events, and depends on nothing but the event and
what was applied before, so a stream is the fold of its events. It cannot fail on an event that `decide` or
`admit` has made. `due` is the event that must follow before the next list is cut: a restart after an alarm.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from shortlist._validation import Array, Member, check_scores
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.rounds.events import (
    Absent,
    Configured,
    Event,
    Expired,
    Hit,
    Listed,
    Miss,
    Restarted,
    RoundName,
    Skip,
    WarmStarted,
)
from shortlist.rounds.selection import select
from shortlist.rounds.settings import Settings
from shortlist.rounds.tracker import Tracker, TrackerState, make_tracker
from shortlist.scores import SCORES, Raw, Score, name_of

__all__ = ["Stream", "StreamState", "Tally", "comparable"]


@dataclass(slots=True)
class Tally:
    """What has happened, counted."""

    rounds: int = 0
    hits: int = 0
    misses: int = 0
    skipped: int = 0
    absent: int = 0
    expired: int = 0
    #: Candidates in all lists, those of them that were not shown, and lists that may lack one.
    candidates: int = 0
    hidden: int = 0
    truncated: int = 0
    #: Answers that the list at the threshold would not have had in it.
    would_have_missed: int = 0
    #: Of this epoch's complete lists: how often the right answer was among the candidates, and how often not.
    recall_epoch: int = 0
    recall_hits: int = 0
    recall_misses: int = 0


@dataclass(slots=True)
class StreamState:
    """What a stream remembers: its tally, and for each score in use what its tracker does."""

    tally: Tally
    trackers: dict[int, TrackerState]
    #: The race between scores so far, where there is one.
    race: dict[str, Any] | None = None


class Stream:
    """Rounds that share a threshold.

    Parameters
    ----------
    settings
        What it is set to.
    share
        The share of the policy's delta that it may spend.
    state
        What it remembers, if it does not start.
    """

    def __init__(self, settings: Settings, share: float = 1.0, state: StreamState | None = None) -> None:
        self.settings = settings
        self.tally = Tally() if state is None else state.tally
        self.tracker = make_tracker(settings, share, None if state is None else state.trackers[0])
        score = settings.score
        #: Whether raw scores are compared with the threshold.
        self.is_raw = isinstance(score, Raw)
        #: What makes scores comparable; None where they are compared as they are.
        self.score: Score | None = None if isinstance(score, (Raw, str)) else score

    @property
    def state(self) -> StreamState:
        """What it remembers."""
        return StreamState(self.tally, {0: self.tracker.state})

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self.tracker.threshold

    @property
    def score_name(self) -> str:
        """The score in use."""
        return name_of(self.settings.score)

    def trackers(self) -> Iterable[Tracker]:
        """Return all that learn from this stream's answers."""
        return (self.tracker,)

    def decide(
        self,
        round_id: RoundName,
        values: Array,
        ids: list[Member] | None = None,
        truncated_below: float | None = None,
        again: Listed | None = None,
    ) -> Listed:
        """Return what to show of a list, and change nothing.

        Parameters
        ----------
        round_id
            The round's name.
        values
            The candidates' checked scores.
        ids
            Their checked ids; their positions otherwise.
        truncated_below
            The score at or below which candidates may have been cut off before they came here.
        again
            A decision to be made again, at its own thresholds.
        """
        settings, state, score = self.settings, self.tracker.state.policy, self.score
        threshold: float = state.carry[0] if again is None else again.threshold
        made = values if score is None else comparable(score, values)
        order, reached, truncated = select(values, made, made >= threshold, settings)
        if truncated_below is not None and not truncated:
            truncated = threshold <= highest_missing(score, truncated_below, values, made)
        positions = order.tolist()
        return Listed(
            round_id,
            ids,
            values,
            positions,
            threshold,
            getattr(state, "epoch", 0),
            reached,
            truncated,
            len(positions) == values.size and (threshold == -math.inf or settings.shadow),
            made[order].tolist(),
            truncated_below,
        )

    def allows(self, listed: Listed) -> bool:
        """Return whether the threshold of a list of this epoch is not above today's."""
        return listed.threshold <= self.threshold

    def apply(self, event: Event) -> None:
        """Take an event."""
        getattr(self, _MOVES[type(event)])(event)

    def due(self) -> Event | None:
        """Return the event that must follow before anything else is decided, or None; change nothing."""
        tracker = self.tracker
        return Restarted(tracker.epoch + 1) if tracker.state.must_restart else None

    def fold(self, event: Event) -> None:
        """Take an event, and all that must follow it."""
        following: Event | None = event
        while following is not None:
            getattr(self, _MOVES[type(following)])(following)  # `apply`, without a call for it
            following = self.due()

    def _listed(self, event: Listed) -> None:
        tally, count = self.tally, len(event.scores)
        tally.rounds += 1
        tally.candidates += count
        tally.truncated += event.truncated
        tally.hidden += count - (event.reached if self.settings.shadow else len(event.positions))
        self._show(event)

    def _show(self, event: Listed) -> None:
        self.tracker.show(event.round_id, event.threshold, event.epoch)

    def _hit(self, event: Hit) -> None:
        tally = self.tally
        tally.hits += 1
        tally.would_have_missed += event.below_cut
        if event.complete:
            self._remember(1, 0)
        self.tracker.hit(event.round_id, event.score)

    def _miss(self, event: Miss | Absent) -> None:
        tally = self.tally
        tally.misses += 1
        tally.would_have_missed += 1
        self._remember(0, event.complete)
        for tracker in self.trackers():
            tracker.miss(event.round_id, truncated=event.truncated)

    def _absent(self, event: Absent) -> None:
        if not event.believed:
            self._miss(event)
            return
        self.tally.absent += 1
        for tracker in self.trackers():
            tracker.withdraw(event.round_id)

    def _skip(self, event: Skip) -> None:
        self.tally.skipped += 1
        self._silence(event)

    def _expired(self, event: Expired) -> None:
        self.tally.expired += 1
        self._silence(event)

    def _silence(self, event: Skip | Expired) -> None:
        for tracker in self.trackers():
            tracker.silence(event.round_id)

    def _warm_started(self, event: WarmStarted) -> None:
        for tracker, scores in zip(self.trackers(), event.scores.values(), strict=True):
            tracker.warm_start(scores)

    def _configured(self, event: Configured) -> None:
        self.settings = self.settings.changed(**event.changes)
        for tracker in self.trackers():
            tracker.settings = self.settings

    def _restarted(self, event: Restarted) -> None:  # noqa: ARG002 - the tracker counts epochs
        self.tracker.restart()

    def _remember(self, hits: int, misses: int) -> None:
        """Count the answer of a complete list, in the epoch in which it comes."""
        tally = self.tally
        if tally.recall_epoch != self.tracker.epoch:
            tally.recall_epoch, tally.recall_hits, tally.recall_misses = self.tracker.epoch, 0, 0
        tally.recall_hits += hits
        tally.recall_misses += misses

    def warm_started(self, true_scores: Array, candidate_scores: ArrayLike | None) -> WarmStarted:
        """Return the event of learning from labelled examples, and change nothing."""
        return WarmStarted({0: true_comparable(self.score, true_scores, candidate_scores).tolist()})


_MOVES: Final[dict[type, str]] = {
    Listed: "_listed",
    Hit: "_hit",
    Miss: "_miss",
    Skip: "_skip",
    Absent: "_absent",
    Expired: "_expired",
    WarmStarted: "_warm_started",
    Configured: "_configured",
    Restarted: "_restarted",
}


def comparable(score: Score | None, values: Array) -> Array:
    """Return what a score makes of a list, checked if it is not one of ours; None leaves it as it is."""
    if score is None or not values.size:
        return values
    try:
        own = type(score) not in SCORES.values()  # it may write into what it is given
        made = np.asarray(score(values.copy() if own else values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidScores(f"the score {name_of(score)} made no numbers of {values.size} scores: {error}") from None
    if made is not values and (made.shape != values.shape or not np.isfinite(made).all()):
        raise InvalidScores(
            f"the score {name_of(score)} made an array of shape {made.shape} of {values.size} "
            "scores, or one that is not finite; it must return one finite number for each"
        )
    return made


def highest_missing(score: Score | None, bound: float, values: Array, made: Array) -> float:
    """Return the most that a candidate which is missing can have: with it in the list, or as its equal there."""
    added = comparable(score, np.append(values, bound))[-1]
    return float(np.maximum.reduce(made[values == bound], initial=added))


def true_comparable(score: Score | None, true_scores: Array, candidate_scores: ArrayLike | None) -> Array:
    """Return what a score makes of the right answers of labelled examples."""
    if score is None:
        return true_scores
    if candidate_scores is None:
        raise InvalidParameter(f"candidate_scores are missing; {name_of(score)} needs whole lists")
    try:
        rows = np.asarray(candidate_scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidScores(f"candidate_scores cannot be read as a table of numbers: {error}") from None
    if rows.ndim != 2 or len(rows) != true_scores.size:
        raise InvalidScores(f"candidate_scores have the shape {rows.shape}; there must be a row for each true score")
    made = np.full(true_scores.size, -np.inf)
    for i, (row, true) in enumerate(zip(rows, true_scores, strict=True)):
        equal = np.flatnonzero(row == true)
        if equal.size:
            made[i] = comparable(score, check_scores(row))[equal[0]]
        elif true > -np.inf:
            raise InvalidScores(f"true_scores[{i}] is {true}, which is not among its candidates")
    return made
