"""A stream of rounds: `decide` and `due` are pure, and only `apply` changes the state.

`decide` cuts a list and changes nothing. `apply` takes events, and depends only on the event and
those applied before, so a stream is the fold of its events. It cannot fail on an event that `decide` or
`admit` returned. `due` returns the event that must follow before the next list is cut: the fit of a learned score,
or a restart after an alarm.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from shortlist._validation import UNNAMED, Array, Member, Scorers
from shortlist.errors import InvalidParameter
from shortlist.policies import Policy
from shortlist.policies.product_limit import FIRST
from shortlist.rounds.budget import Budget, BudgetState
from shortlist.rounds.events import (
    Absent,
    Configured,
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
from shortlist.rounds.learning import Learning, picks_needed
from shortlist.rounds.repeated_fits import RepeatedFits
from shortlist.rounds.selection import Positions, Selection, all_best_first, select
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import RoundName
from shortlist.rounds.tracker import ExploringTracker, TrackerState, make_tracker
from shortlist.scores import Learned, Raw, Score, name_of
from shortlist.scores.comparable import comparable, highest_missing, true_comparable

__all__ = ["Stream", "StreamState", "Tally"]

#: About how many of the latest lists averages are over.
_RECENT: Final = 100


@dataclass(slots=True)
class Tally:
    """Counts of rounds and answers."""

    rounds: int = 0
    hits: int = 0
    misses: int = 0
    skipped: int = 0
    absent: int = 0
    expired: int = 0
    withdrawn: int = 0
    #: Candidates in all lists, those not shown, and lists that may lack one.
    candidates: int = 0
    hidden: int = 0
    truncated: int = 0
    #: Right answers that would not have been in the list without shadow mode.
    would_have_missed: int = 0
    #: Rounds in which more was asked for, and those in which the right answer was found there.
    expanded: int = 0
    found_after_more: int = 0
    #: Rounds that were explored: everything was shown, in random order.
    explored: int = 0
    #: Lists that the error budget lengthened, and the candidates it added.
    lengthened: int = 0
    added: int = 0
    #: This epoch's complete lists: how often the right answer was among the candidates, and how often not.
    recall_epoch: int = 0
    recall_hits: int = 0
    recall_misses: int = 0
    #: The mean length of the latest lists: of all at first, then an exponential average.
    length: float = 0.0
    #: Of the latest answered lists that were cut: how many there are, and the share with the right answer in the better
    #: half.
    halves: int = 0
    half: float = 0.0
    #: Picks from lists that were cut, with the product limit.
    cut_hits: int = 0


@dataclass(slots=True)
class StreamState:
    """The state of a stream, except the score it learns, which several streams may share."""

    tally: Tally
    tracker: TrackerState
    #: The names of the scorers, fixed by the first round.
    scorers: tuple[str, ...] | None = None
    budget: BudgetState = field(default_factory=BudgetState)


class Stream:
    """Rounds that share a threshold.

    Parameters
    ----------
    settings
        The settings.
    state
        The state to continue from.
    learning
        The learner of its score, if the score is learned; streams may share it.
    seed
        The seed of random draws, besides the rounds' names.
    exploring
        The policy that it uses once exploration is turned on, if not the one that the settings say.
    """

    def __init__(
        self,
        settings: Settings,
        state: StreamState | None = None,
        learning: Learning | None = None,
        *,
        seed: str = "",
        exploring: Policy | None = None,
    ) -> None:
        self.seed, self._exploring = seed, exploring
        #: Whether it was logged that the error budget is spent; not part of the state.
        self.is_told_spent = False
        self.tally = Tally() if state is None else state.tally
        self._budget_state = BudgetState() if state is None else state.budget
        self.learning = learning
        self._use(settings, None if state is None else state.tracker)
        score = settings.score
        #: Whether raw scores are compared with the threshold.
        self.is_raw = isinstance(score, Raw)
        # The function that makes scores comparable; None if they are compared as they are, or it is learned.
        self._score: Score | None = None if isinstance(score, (Raw, str)) else score
        self._scorers: Scorers | None = None if state is None else state.scorers

    def _use(self, settings: Settings, tracker: TrackerState | None) -> None:
        """Use these settings from now on, with what the tracker of their policy knows."""
        self.settings = settings
        self.tracker = make_tracker(settings, tracker)
        #: The error budget; None if it is off. A restart does not reset it.
        self.budget = self._new_budget()
        self._note_fits()
        # Whether every round counts for the threshold: none is used to learn the score, or left out by exploration.
        self._all_count = self.learning is None and settings.explore_share is None
        # Whether a miss is censored at the best candidate that was not shown.
        self._censors = settings.is_product_limit
        # How many candidates are shown while nothing is known; None if all are.
        self._first = FIRST if settings.is_product_limit or settings.explore_share is not None else None

    def _note_fits(self) -> None:
        """Take note whether there will be another fit of the score."""
        learning = self.learning
        # Whether lists and answers are kept for a fit to come.
        self._learns = learning is not None and not learning.is_done
        #: Whether an event may have to follow another one: a fit, or a restart after an alarm.
        self.settles = self._learns or self.settings.on_drift == "restart"

    @property
    def state(self) -> StreamState:
        """The state, as plain data."""
        return StreamState(
            self.tally,
            self.tracker.state,
            self._scorers,
            self._budget_state,
        )

    def _new_budget(self) -> Budget | None:
        size = self.settings.miss_budget
        return (
            None if size is None or isinstance(size, str) else Budget(size, self.tracker.coverage, self._budget_state)
        )

    @property
    def scorers(self) -> Scorers | None:
        """The names of the scorers that its lists have; None before the first."""
        if self.learning is not None:
            return self.learning.scorers
        return self._score.scorers if isinstance(self._score, Learned) else self._scorers

    def score_of(self, scorers: Scorers, fit: int | None = None) -> Score | None:
        """Return the function that makes scores comparable, None if they are used as they are; of a `fit` if given."""
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
        page: Sequence[int] | None = None,
        again: Listed | None = None,
    ) -> Listed:
        """Return what to show of a list; change nothing.

        Parameters
        ----------
        round_id
            The round's name.
        values
            The candidates' checked scores.
        ids
            Their checked ids; by default their positions.
        truncated_below
            The score at or below which the search may have left candidates out; with several scorers one each.
        scorers
            The names of the scorers, checked.
        page
            How many candidates the caller asks for: at least, and at most.
        again
            An earlier decision to repeat, at its own threshold.
        """
        settings, state, learning, budget = self.settings, self.tracker.state.policy, self.learning, self.budget
        explored = None if settings.explore_share is None else self._explores(round_id, again)
        score = self._score if learning is None else self.score_of(scorers, None if again is None else again.fit)
        threshold: float = -math.inf if explored else state.threshold if again is None else again.threshold
        compared = values if score is None and values.ndim == 1 else comparable(score, values)
        spent = None if budget is None else budget.state.spent if again is None else again.spent
        more = 0 if budget is None or spent is None else budget.more(len(values), spent)
        if explored:
            shown = Selection(shuffled(self.seed, round_id, len(values)), len(values), False)
        else:
            first = self._first if threshold == -math.inf else None
            page = page if again is None else again.page
            shown = select(values, compared, compared >= threshold, settings, more, first, page)
        truncated = shown.truncated
        positions = shown.positions.tolist()
        if truncated_below is not None and not truncated:
            lowest = self._lowest(threshold, compared, positions, explored=bool(explored))
            truncated = lowest <= highest_missing(score, truncated_below, values, compared)
        fit = None if learning is None else learning.number
        everything = len(positions) == len(values)
        complete = everything and (threshold == -math.inf or settings.shadow)
        return Listed(
            round_id,
            ids,
            values,
            positions,
            threshold,
            getattr(state, "epoch", 0),
            # Without a threshold the best ten are base; if others were added until all are shown, nothing was cut.
            len(values) if complete and not settings.shadow else shown.reached,
            truncated,
            complete,
            compared[shown.positions].tolist(),
            truncated_below,
            None if scorers is UNNAMED or scorers == UNNAMED else list(scorers),
            fit if again is None else again.fit,
            spent if more else None,
            shown.added,
            shown.asked,
            explored=explored,
            edge=_best_hidden(compared, shown.positions) if self._censors else None,
            kept=learning.best_of(compared, positions) if self._learns and learning is not None else None,
            page=None if page is None else list(page),
        )

    def _lowest(self, threshold: float, compared: Array, positions: list[int], *, explored: bool) -> float:
        """Return what a candidate would have to reach to be shown."""
        if threshold > -math.inf or self._first is None or explored or len(positions) < self._first:
            return threshold
        return float(compared[positions[self._first - 1]])  # cut by rank

    def _explores(self, round_id: RoundName, again: Listed | None) -> bool:
        """Draw whether a round is explored."""
        if again is not None:
            return bool(again.explored)
        assert self.settings.explore_share is not None  # noqa: S101 - for the type checker
        return coin(self.seed, round_id) < share_at(self.settings.explore_share, self.tally.rounds, self.threshold)

    def expand(self, listed: Listed, values: Array, count: int | None = None) -> Expanded | None:
        """Return what to show on a request for more of a list, None if all of it is shown; change nothing.

        Parameters
        ----------
        listed
            The list as it is shown now.
        values
            The candidates' scores.
        count
            How many more; by default all the rest.
        """
        if len(values) == len(listed.positions):
            return None
        scorers = UNNAMED if listed.scorers is None else tuple(listed.scorers)
        score = self.score_of(scorers, listed.fit)
        compared = comparable(score, values)
        reached = compared >= listed.threshold
        by_rank = self._first is not None and listed.threshold == -math.inf and not listed.explored
        shown = set(listed.positions)
        more = [one for one in all_best_first(values, compared, reached).tolist() if one not in shown][:count]
        positions = [*listed.positions, *more]
        now = int(reached[positions].sum())
        most = min(FIRST, len(values)) if by_rank else int(reached.sum())
        truncated = now < most
        if listed.truncated_below is not None and not truncated:
            lowest = self._lowest(listed.threshold, compared, positions, explored=bool(listed.explored))
            truncated = lowest <= highest_missing(score, listed.truncated_below, values, compared)
        again = listed.first is not None
        edge = _best_hidden(self._compared_now(listed, values, compared), positions) if self._censors else None
        reaching = max(min(now, most), listed.reached)
        return Expanded(listed.round_id, more, reaching, truncated, compared[more].tolist(), again, edge)

    def completed(self, listed: Listed) -> Listed:
        """Return a list with the comparable scores of those shown, which a log leaves out."""
        if listed.comparable is not None:
            return listed
        values = np.asarray(listed.scores, dtype=np.float64)
        scorers = UNNAMED if listed.scorers is None else tuple(listed.scorers)
        compared = comparable(self.score_of(scorers, listed.fit), values)
        return listed._replace(comparable=compared[listed.positions].tolist())

    def rescored(self, hit: Hit, listed: Listed) -> Hit:
        """Return a pick with its score by the score in use, if the round is in the window by that; change nothing."""
        learning = self.learning
        if not self._censors or learning is None or listed.fit == learning.number:
            return hit
        if hit.position is None or not self.tracker.is_open(hit.round_id):
            return hit
        values = np.asarray(listed.scores, dtype=np.float64)
        return hit._replace(now=self._compared_now(listed, values).item(hit.position))

    def _compared_now(self, listed: Listed, values: Array, compared: Array | None = None) -> Array:
        """Return the comparable scores of a list by the score in use; `compared` are those by the list's own."""
        if compared is not None and (self.learning is None or listed.fit == self.learning.number):
            return compared
        return comparable(self.score_of(UNNAMED if listed.scorers is None else tuple(listed.scorers)), values)

    def allows(self, listed: Listed) -> bool:
        """Return whether the threshold of a list of this epoch may be that of an older state.

        That of an order statistic only rises; that of the product limit moves both ways.
        """
        return self._censors or listed.threshold <= self.threshold

    def apply(self, event: Event) -> None:
        """Apply an event."""
        getattr(self, _MOVES[type(event)])(event)

    def due(self) -> Event | None:
        """Return the event that must follow before the next decision, or None; change nothing."""
        if self.tracker.state.must_restart:
            return self.due_restart()
        learning = self.learning
        return learning.due() if learning is not None and learning.is_due else None

    def due_restart(self) -> Restarted | None:
        """Return the restart that must follow, if one must; a fit may also be computed while others go on."""
        return Restarted(self.tracker.epoch + 1) if self.tracker.state.must_restart else None

    def settle(self) -> None:
        """Apply all events that are due."""
        while (event := self.due()) is not None:
            self.apply(event)

    def fold(self, event: Event) -> None:
        """Apply an event, and all that must follow it."""
        self.apply(event)
        if self.settles:
            self.settle()

    def _listed(self, event: Listed) -> None:
        tally, count = self.tally, len(event.scores)
        tally.rounds += 1
        tally.candidates += count
        tally.truncated += event.truncated
        if event.added:
            tally.lengthened += 1
            tally.added += event.added
        length = event.reached if self.settings.shadow else len(event.positions)
        tally.length += (length - tally.length) / min(tally.rounds, _RECENT)
        tally.hidden += count - (event.reached if self.settings.shadow else len(event.positions))
        tally.explored += bool(event.explored)
        learning = self.learning
        if learning is None:
            if self._scorers is None and count:  # an empty search does not name its scorers
                self._scorers = UNNAMED if event.scorers is None else tuple(event.scorers)
        else:
            counts = learning.counts(event)
            if self._learns:
                learning.show(event, self.seed)
            if not counts:
                return  # it was used to learn the score, and is never used for the threshold
        if isinstance(self.tracker, ExploringTracker):
            self.tracker.tick()
            if not event.explored:
                return
        bound = event.threshold
        if self._censors:
            bound = -math.inf if event.edge is None else event.edge
        self.tracker.show(event.round_id, bound, event.epoch)

    def _expanded(self, event: Expanded) -> None:
        self.tally.expanded += not event.again
        if self._learns and self.learning is not None:
            self.learning.expand(event)
        if self._censors and self.tracker.is_open(event.round_id):
            self.tracker.lower(event.round_id, -math.inf if event.edge is None else event.edge)

    def _counts(self, event: Hit | Miss | Absent | Skip | Expired | Withdrawn) -> bool:
        """Pass an answer to the learner of the score, if any; return whether the round counts for the threshold."""
        if self._learns and self.learning is not None:
            self.learning.answer(event)
        return self._all_count or self.tracker.is_open(event.round_id)

    def _hit(self, event: Hit) -> None:
        tally = self.tally
        if event.after_more:  # the list that was shown did not have it
            tally.misses += 1
            tally.found_after_more += 1
        else:
            tally.hits += 1
        tally.would_have_missed += event.missed
        if event.complete:
            self._remember(1, 0)
        if event.half is not None:
            tally.cut_hits += 1
            self._note_half(event.half and not event.missed)
        if self.budget is not None:
            self.budget.take(missed=event.missed)
        if self._all_count or self._counts(event):
            self.tracker.hit(event.round_id, event.score if event.now is None else event.now)

    def _miss(self, event: Miss | Absent) -> None:
        tally = self.tally
        tally.misses += 1
        tally.would_have_missed += 1
        self._remember(0, event.complete)
        if self._censors and not event.everything:
            self._note_half(False)
        if self.budget is not None:
            self.budget.take(missed=True, everything=event.everything, paged=event.paged)
        if self._counts(event):
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
        """Remove a round from the sample, unless it has already entered it: then it stays below the threshold."""
        if self._counts(event):
            self.tracker.withdraw(event.round_id)

    def _skip(self, event: Skip) -> None:
        self.tally.skipped += 1
        self._silence(event)

    def _expired(self, event: Expired) -> None:
        self.tally.expired += 1
        self._silence(event)

    def _silence(self, event: Skip | Expired) -> None:
        if self._counts(event):
            self.tracker.silence(event.round_id)

    def _warm_started(self, event: WarmStarted) -> None:
        self.tracker.warm_start(event.scores, event.censored or ())

    def _configured(self, event: Configured) -> None:
        before, settings = self.settings, self.settings.changed(**event.changes)
        if settings.is_product_limit is before.is_product_limit:
            self._use(settings, self.tracker.state)
            if isinstance(self.learning, RepeatedFits):
                self.learning.settings = settings
            return
        # Exploration begins: another rule, in a new epoch, with the score so far.
        settings = dataclasses.replace(settings, policy=self._exploring or settings.policy)
        epoch = self.tracker.epoch + 1
        if isinstance(self.learning, RepeatedFits):
            self.learning = self.learning.frozen(settings)
        self._use(settings, None)
        self.tracker.state.policy.epoch = epoch

    def _restarted(self, event: Restarted) -> None:
        self.tracker.restart()
        if self.learning is not None:
            self.learning.restart()
            if event.refit:
                self.learning.refit()
                self._note_fits()

    def _fitted(self, event: Fitted) -> None:
        assert self.learning is not None  # noqa: S101 - `due` has returned it
        if event.number > self.learning.number:  # all streams that share it get the event
            self.learning.freeze(event)
        self._note_fits()
        if self._censors:
            self.tracker.fill((event.windows or {}).get(self.seed, []), (event.held or {}).get(self.seed, ()))

    def _note_half(self, better: bool) -> None:
        """Count whether the right answer of a cut list was in its better half."""
        tally = self.tally
        tally.halves = min(tally.halves + 1, _RECENT)
        tally.half += (better - tally.half) / tally.halves

    def _remember(self, hits: int, misses: int) -> None:
        """Count the answer to a complete list, in the epoch in which it arrives."""
        tally = self.tally
        if tally.recall_epoch != self.tracker.epoch:
            tally.recall_epoch, tally.recall_hits, tally.recall_misses = self.tracker.epoch, 0, 0
        tally.recall_hits += hits
        tally.recall_misses += misses

    def warm_started(
        self,
        tables: list[Array],
        right: list[tuple[int, ...]],
        scorers: Scorers,
        shown: list[list[int]] | None = None,
    ) -> list[Event]:
        """Return the events of learning from labeled lists; change nothing.

        If the score is learned once, the first lists are used for the fit, and only the others for the threshold.

        Parameters
        ----------
        tables
            The lists.
        right
            The positions of the right candidates in each, all of them needed; empty if they are not among them.
        scorers
            The names of the scorers.
        shown
            The positions that were shown of each list, if not everything was: where no candidate is right, the right
            one may be among the others.
        """
        score, events = self._score, list[Event]()
        learning = self.learning
        if self._censors:
            each: list[Score | None] = [score] * len(tables)
            if isinstance(learning, RepeatedFits):
                fit, learned = learning.from_labels(tables, right, scorers)
                events, each = [] if fit is None else [fit], list(learned)
            return [*events, _window(tables, right, each, shown)]
        if learning is not None:
            needed = picks_needed(scorers)
            usable = [i for i, positions in enumerate(right) if positions]
            if len(usable) < needed:
                raise InvalidParameter(
                    f"there are {len(usable)} lists with a right candidate, and learning the score takes {needed}: "
                    "give more, or pass as score= what shortlist.scores.learn returns"
                )
            end = usable[needed - 1] + 1
            fitted = learning.fitted(
                [learning.example(tables[i], right[i][0], i, scorers) for i in usable[:needed]], scorers
            )
            score, tables, right = fitted.score, tables[end:], right[end:]
            events.append(fitted)
        rows = zip(tables, right, strict=True)
        return [*events, WarmStarted([true_comparable(score, table, positions) for table, positions in rows])]


def _window(
    tables: list[Array], right: list[tuple[int, ...]], scores: list[Score | None], shown: list[list[int]] | None
) -> WarmStarted:
    """Return labeled lists as the window of the product limit; missed ones are censored as at a fit."""
    values, censored = [true_comparable(*row) for row in zip(scores, tables, right, strict=True)], []
    for i, positions in enumerate(shown or ()):
        edge = None if right[i] else _best_hidden(comparable(scores[i], tables[i]), positions)
        if edge is not None:
            values[i] = edge
            censored.append(i)
    return WarmStarted(values, censored=censored or None)


def _best_hidden(compared: Array, positions: list[int] | Positions) -> float | None:
    """Return the comparable score of the best candidate that is not shown; None if all are."""
    if len(positions) == len(compared):
        return None
    hidden = compared.copy()
    hidden[positions] = -math.inf
    return hidden.item(hidden.argmax())


_MOVES: Final[dict[type, str]] = {
    Listed: "_listed",
    Expanded: "_expanded",
    Hit: "_hit",
    Miss: "_miss",
    Skip: "_skip",
    Absent: "_absent",
    Expired: "_expired",
    Withdrawn: "_withdrawn",
    WarmStarted: "_warm_started",
    Configured: "_configured",
    Restarted: "_restarted",
    Fitted: "_fitted",
}
