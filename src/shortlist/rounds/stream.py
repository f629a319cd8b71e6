"""A stream of rounds: `decide` and `due` look at it, `apply` changes it, and nothing else does.

`decide` cuts a list and changes nothing. `apply` takes events, and depends on nothing but the event and
what was applied before, so a stream is the fold of its events. It cannot fail on an event that `decide` or
`admit` has made. `due` is the event that must follow before the next list is cut: the fit of a learned score, or
a restart after an alarm.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from shortlist._validation import UNNAMED, Array, Member, Scorers
from shortlist.errors import InvalidParameter
from shortlist.rounds.budget import Budget, BudgetState
from shortlist.rounds.events import (
    Absent,
    Answered,
    Configured,
    Corrected,
    Event,
    Expanded,
    Expired,
    Fitted,
    Hit,
    Listed,
    Miss,
    Restarted,
    Skip,
    WarmStarted,
    Withdrawn,
)
from shortlist.rounds.exploring import coin, share_at, shuffled
from shortlist.rounds.holding import Holding
from shortlist.rounds.learning import Learning
from shortlist.rounds.selection import Selection, all_best_first, select
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import RoundName
from shortlist.rounds.subgroups import Subgroups, SubgroupsState
from shortlist.rounds.tracker import ExploringTracker, Tracker, TrackerState, make_tracker
from shortlist.rounds.whatif import WhatIfState, make_what_if
from shortlist.scores import Learned, Raw, Score, name_of
from shortlist.scores.comparing import comparable, highest_missing, true_comparable
from shortlist.scores.learned import Example

__all__ = ["Stream", "StreamState", "Tally"]


@dataclass(slots=True)
class Tally:
    """What has happened, counted."""

    rounds: int = 0
    hits: int = 0
    misses: int = 0
    skipped: int = 0
    absent: int = 0
    expired: int = 0
    withdrawn: int = 0
    #: Candidates in all lists, those of them that were not shown, and lists that may lack one.
    candidates: int = 0
    hidden: int = 0
    truncated: int = 0
    #: Answers that the list would not have had in it, but for shadow mode.
    would_have_missed: int = 0
    #: Rounds in which more was asked for, and those of them in which it was found there.
    expanded: int = 0
    found: int = 0
    #: Rounds that were explored: everything was shown, in random order.
    explored: int = 0
    #: Lists that the error budget made longer, and the candidates that it added.
    lengthened: int = 0
    added: int = 0
    #: Of this epoch's complete lists: how often the right answer was among the candidates, and how often not.
    recall_epoch: int = 0
    recall_hits: int = 0
    recall_misses: int = 0


@dataclass(slots=True)
class StreamState:
    """What a stream remembers, but for the score that it learns: that may be several streams'."""

    tally: Tally
    tracker: TrackerState
    #: The names of the scorers, fixed by the first round.
    scorers: tuple[str, ...] | None = None
    budget: BudgetState = field(default_factory=BudgetState)
    #: Answers that may still be corrected, oldest first.
    held: list[Answered] = field(default_factory=list)
    #: What is only told, and decides nothing.
    tags: SubgroupsState = field(default_factory=SubgroupsState)
    what_if: WhatIfState | None = None


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
    learning
        What learns its score, where one is learned; streams may share it.
    teaches
        Whether the score learns from this stream's answers. Of streams that have the same rounds, one does.
    seed
        What coins depend on besides the rounds' names. Streams that have the same rounds have the same.
    """

    def __init__(
        self,
        settings: Settings,
        share: float = 1.0,
        state: StreamState | None = None,
        learning: Learning | None = None,
        *,
        teaches: bool = True,
        seed: str = "",
    ) -> None:
        self.settings = settings
        self.seed = seed
        self.tally = Tally() if state is None else state.tally
        self.tracker = make_tracker(settings, share, None if state is None else state.tracker)
        #: The answers that may still be corrected: they move nothing yet.
        self.holding = Holding(settings.grace, () if state is None else state.held)
        #: Coverage by what callers say about their rounds; and what a higher coverage would have been.
        self.subgroups = Subgroups(None if state is None else state.tags)
        self.what_if = make_what_if(settings, share, None if state is None else state.what_if)
        self._budget_state = BudgetState() if state is None else state.budget
        #: Which misses may still come; None where none are counted. A restart does not touch it.
        self.budget = self._made_budget()
        self.learning = learning
        self.teaches = teaches
        # Whether every round is one for the threshold: none is there to learn the score, or is left out by a coin.
        self._all_count = learning is None and settings.explore_share is None
        score = settings.score
        #: Whether raw scores are compared with the threshold.
        self.is_raw = isinstance(score, Raw)
        # What makes scores comparable; None where they are compared as they are, or it is learned.
        self._score: Score | None = None if isinstance(score, (Raw, str)) else score
        self._scorers: Scorers | None = None if state is None else state.scorers

    @property
    def state(self) -> StreamState:
        """What it remembers."""
        return StreamState(
            self.tally,
            self.tracker.state,
            self._scorers,
            self._budget_state,
            list(self.holding.answers.values()),
            self.subgroups.state,
            None if self.what_if is None else self.what_if.state,
        )

    def _made_budget(self) -> Budget | None:
        size = self.settings.miss_budget
        return None if size is None else Budget(size, self.tracker.coverage, self._budget_state)

    @property
    def scorers(self) -> Scorers | None:
        """The names of the scorers that its lists have; None before the first."""
        if self.learning is not None:
            return self.learning.scorers
        return self._score.scorers if isinstance(self._score, Learned) else self._scorers

    def score_of(self, scorers: Scorers, fit: int | None = None) -> Score | None:
        """Return what makes scores comparable, None where they are as they are; that of an earlier `fit` if given."""
        return self._score if self.learning is None else self.learning.score(scorers, fit)

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self.tracker.threshold

    @property
    def score_name(self) -> str:
        """The score in use."""
        return "auto" if self.learning is not None else name_of(self.settings.score)

    def decide(
        self,
        round_id: RoundName,
        values: Array,
        ids: list[Member] | None = None,
        truncated_below: float | list[float | None] | None = None,
        *,
        scorers: Scorers = UNNAMED,
        tags: dict[str, str] | None = None,
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
            The score at or below which candidates may have been cut off before they came here; one for each scorer
            where there are several.
        scorers
            The names of the scorers, checked.
        tags
            What the caller says about the round, checked.
        again
            A decision to be made again, at its own thresholds.
        """
        settings, state, learning, budget = self.settings, self.tracker.state.policy, self.learning, self.budget
        explored = None if settings.explore_share is None else self._explores(round_id, again)
        score = self._score if learning is None else self.score_of(scorers, None if again is None else again.fit)
        threshold: float = -math.inf if explored else state.carry[0] if again is None else again.threshold
        made = values if score is None and values.ndim == 1 else comparable(score, values)
        spent = None if budget is None else budget.state.spent if again is None else again.spent
        more = 0 if budget is None or spent is None else budget.more(len(values), spent)
        if explored:
            shown = Selection(shuffled(self.seed, round_id, len(values)), len(values), False)
        else:
            shown = select(values, made, made >= threshold, settings, more)
        truncated = shown.truncated
        if truncated_below is not None and not truncated:
            truncated = threshold <= highest_missing(score, truncated_below, values, made)
        fit = None if learning is None else learning.number
        positions = shown.positions.tolist()
        return Listed(
            round_id,
            ids,
            values,
            positions,
            threshold,
            getattr(state, "epoch", 0),
            shown.reached,
            truncated,
            len(positions) == len(values) and (threshold == -math.inf or settings.shadow),
            made[shown.positions].tolist(),
            truncated_below,
            None if scorers is UNNAMED or scorers == UNNAMED else list(scorers),
            fit if again is None else again.fit,
            spent if more else None,
            shown.added,
            shown.asked,
            explored=explored,
            tags=tags,
        )

    def _explores(self, round_id: RoundName, again: Listed | None) -> bool:
        """Toss the coin of a round; while the score is learned everything is shown, and nothing counts anyway."""
        if again is not None:
            return bool(again.explored)
        if self.learning is not None and self.learning.state.fitting:
            return False
        assert self.settings.explore_share is not None  # noqa: S101 - for the type checker
        return coin(self.seed, round_id) < share_at(self.settings.explore_share, self.tally.rounds, self.threshold)

    def expand(self, listed: Listed, values: Array, count: int | None = None) -> Expanded | None:
        """Return what to show when more of a list is asked for, None if all of it is shown; change nothing.

        Parameters
        ----------
        listed
            The list as it is shown now.
        values
            The candidates' scores.
        count
            How many more; all the rest if not given.
        """
        if len(values) == len(listed.positions):
            return None
        scorers = UNNAMED if listed.scorers is None else tuple(listed.scorers)
        score = self.score_of(scorers, listed.fit)
        made = comparable(score, values)
        reached = made >= listed.threshold
        shown = set(listed.positions)
        more = [one for one in all_best_first(values, made, reached).tolist() if one not in shown][:count]
        now = int(reached[[*listed.positions, *more]].sum())
        truncated = now < int(reached.sum())
        if listed.truncated_below is not None and not truncated:
            truncated = listed.threshold <= highest_missing(score, listed.truncated_below, values, made)
        again = listed.first is not None
        return Expanded(listed.round_id, more, max(now, listed.reached), truncated, made[more].tolist(), again)

    def completed(self, listed: Listed, values: Array) -> Listed:
        """Return a list with what its score makes of those shown, where a log has left that out."""
        if self.is_raw or listed.comparable is not None:
            return listed
        scorers = UNNAMED if listed.scorers is None else tuple(listed.scorers)
        made = comparable(self.score_of(scorers, listed.fit), values)
        return listed._replace(comparable=made[listed.positions].tolist())

    def allows(self, listed: Listed) -> bool:
        """Return whether the threshold of a list of this epoch is not above today's."""
        return listed.threshold <= self.threshold

    def apply(self, event: Event) -> None:
        """Take an event; with `grace`, an answer when so many more have come."""
        following: Event | None = event
        if self.holding.grace and type(event) in _ANSWERS:
            following = self.holding.take(event)
        if following is not None:
            getattr(self, _MOVES[type(following)])(following)

    def effect(self, event: Event) -> Event | None:
        """Return the event that takes effect when this one comes: with `grace`, an earlier answer; change nothing."""
        held = self.holding.grace and type(event) in _ANSWERS
        return self.holding.effect(event) if held else event

    def _corrected(self, event: Corrected) -> None:
        self.holding.correct(event)

    @property
    def is_due(self) -> bool:
        """Whether an event must follow; `due` makes it, which takes a while where it is a fit."""
        return self.tracker.state.must_restart or (self.learning is not None and self.learning.is_due)

    def due(self) -> Event | None:
        """Return the event that must follow before anything else is decided, or None; change nothing."""
        if self.tracker.state.must_restart:
            return Restarted(self.tracker.epoch + 1)
        return None if self.learning is None else self.learning.due()

    def settle(self) -> None:
        """Take all that is due."""
        while (event := self.due()) is not None:
            self.apply(event)

    def fold(self, event: Event) -> None:
        """Take an event, and all that must follow it."""
        following: Event | None = event
        while following is not None:
            self.apply(following)
            following = self.due()

    def _listed(self, event: Listed) -> None:
        tally, count = self.tally, len(event.scores)
        tally.rounds += 1
        tally.candidates += count
        tally.truncated += event.truncated
        if event.added:
            tally.lengthened += 1
            tally.added += event.added
        tally.hidden += count - (event.reached if self.settings.shadow else len(event.positions))
        if event.tags:
            self.subgroups.show(event.round_id, event.tags)
        learning = self.learning
        if learning is None:
            if self._scorers is None and count:  # a search that found nothing says nothing of its scorers
                self._scorers = UNNAMED if event.scorers is None else tuple(event.scorers)
        else:
            counts = learning.counts(event)
            if self.teaches:
                learning.show(event)
            if not counts:
                return  # it was shown to learn the score, and is never used for the threshold
        if isinstance(self.tracker, ExploringTracker):
            self.tracker.tick()
            tally.explored += bool(event.explored)
            if not event.explored:
                return
        self.tracker.show(event.round_id, event.threshold, event.epoch)
        if self.what_if is not None:
            self.what_if.show(event)

    def _expanded(self, event: Expanded) -> None:
        self.tally.expanded += not event.again

    def _counts(self, event: Hit | Miss | Absent | Skip | Expired | Withdrawn) -> bool:
        """Teach the score, where it is learned; return whether the round is one for the threshold."""
        if self.learning is not None and self.teaches:
            self.learning.answer(event)
        return self._all_count or self.tracker.is_open(event.round_id)

    def _hit(self, event: Hit) -> None:
        tally = self.tally
        if event.after_more:  # the list that was shown had it not
            tally.misses += 1
            tally.found += 1
        else:
            tally.hits += 1
        tally.would_have_missed += event.missed
        if event.complete:
            self._remember(1, 0)
        if self.budget is not None:
            self.budget.take(missed=event.missed)
        if self.subgroups.state.open:
            exploring = self.settings.explore_share is not None  # misses are not reported: nothing is known
            missed = None if exploring else event.missed or event.after_more
            self.subgroups.answer(event.round_id, missed=missed)
        if self._all_count or self._counts(event):
            if self.what_if is not None:
                self.what_if.hit(event)
            self.tracker.hit(event.round_id, event.score)

    def _miss(self, event: Miss | Absent) -> None:
        tally = self.tally
        tally.misses += 1
        tally.would_have_missed += 1
        self._remember(0, event.complete)
        if self.budget is not None:
            self.budget.take(missed=True, everything=event.everything, paged=event.paged)
        self.subgroups.answer(event.round_id, missed=True)
        if self._counts(event):
            if self.what_if is not None:
                self.what_if.miss(event)
            self.tracker.miss(event.round_id, truncated=event.truncated)

    def _absent(self, event: Absent) -> None:
        if not event.believed:
            self._miss(event)
            return
        self.tally.absent += 1
        if self.budget is not None:
            self.budget.take(missed=False)
        self._leave(event)

    def _withdrawn(self, event: Withdrawn) -> None:
        self.tally.withdrawn += 1
        self._leave(event)

    def _leave(self, event: Absent | Withdrawn) -> None:
        """Take a round out of the sample, unless it has entered it already: then it stays low."""
        self.subgroups.answer(event.round_id, missed=None)
        if self._counts(event):
            for each in self._trackers():
                each.withdraw(event.round_id)

    def _skip(self, event: Skip) -> None:
        self.tally.skipped += 1
        self._silence(event)

    def _expired(self, event: Expired) -> None:
        self.tally.expired += 1
        self._silence(event)

    def _silence(self, event: Skip | Expired) -> None:
        self.subgroups.answer(event.round_id, missed=None)
        if self._counts(event):
            for each in self._trackers():
                each.silence(event.round_id)

    def _trackers(self) -> list[Tracker]:
        """Return what learns the threshold in use, and the one beside it."""
        return [self.tracker] if self.what_if is None else [self.tracker, self.what_if.tracker]

    def _warm_started(self, event: WarmStarted) -> None:
        for each in self._trackers():
            each.warm_start(event.scores)

    def _configured(self, event: Configured) -> None:
        self.settings = self.settings.changed(**event.changes)
        for each in self._trackers():
            each.settings = self.settings
        self.budget = self._made_budget()

    def _restarted(self, event: Restarted) -> None:
        for each in self._trackers():
            each.restart()
        if event.refit and self.learning is not None and self.teaches:
            self.learning.refit()

    def _fitted(self, event: Fitted) -> None:
        assert self.learning is not None  # noqa: S101 - `due` has made it
        self.learning.freeze(event)

    def _remember(self, hits: int, misses: int) -> None:
        """Count the answer of a complete list, in the epoch in which it comes."""
        tally = self.tally
        if tally.recall_epoch != self.tracker.epoch:
            tally.recall_epoch, tally.recall_hits, tally.recall_misses = self.tracker.epoch, 0, 0
        tally.recall_hits += hits
        tally.recall_misses += misses

    def warm_started(self, tables: list[Array], right: list[tuple[int, ...]], scorers: Scorers) -> list[Event]:
        """Return the events of learning from labelled lists, and change nothing.

        Where the score is learned, the first lists are for the fit, and only the others are for the threshold.

        Parameters
        ----------
        tables
            The lists.
        right
            The positions of what is right in each, all of them needed; none where it is not among the candidates.
        scorers
            The names of the scorers.
        """
        score, events = self._score, list[Event]()
        learning = self.learning
        if learning is not None:
            wanted = learning.fit_rounds_of(scorers)
            usable = [i for i, places in enumerate(right) if places]
            if len(usable) < wanted:
                raise InvalidParameter(
                    f"there are {len(usable)} lists with a right candidate, and learning the score takes {wanted}: "
                    "give more, set fit_rounds, or pass score= what shortlist.scores.learn returns"
                )
            end = usable[wanted - 1] + 1
            fitted = learning.fitted([Example(tables[i], right[i][0]) for i in usable[:wanted]], scorers)
            score, tables, right = fitted.score, tables[end:], right[end:]
            events.append(fitted)
        rows = zip(tables, right, strict=True)
        return [*events, WarmStarted([true_comparable(score, table, places) for table, places in rows])]


_MOVES: Final[dict[type, str]] = {
    Listed: "_listed",
    Expanded: "_expanded",
    Hit: "_hit",
    Miss: "_miss",
    Skip: "_skip",
    Absent: "_absent",
    Expired: "_expired",
    Withdrawn: "_withdrawn",
    Corrected: "_corrected",
    WarmStarted: "_warm_started",
    Configured: "_configured",
    Restarted: "_restarted",
    Fitted: "_fitted",
}


#: What `grace` holds back.
_ANSWERS: Final = frozenset({Hit, Miss, Skip, Absent})
