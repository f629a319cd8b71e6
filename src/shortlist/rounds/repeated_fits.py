r"""``score="auto"`` with the product limit: the score is fitted again at 15, 30, 60, 120 and 250 picks.

No guarantee rests on a score that is frozen: the error budget holds for any base list. So lists are cut from the start,
by the prior's weights, and each fit may change the score. The last 250 answered lists are kept until the last fit,
missed ones too, and then dropped.

**The window.** Thresholds of two scores cannot be compared, so with each fit the window of the product limit is
replaced by the lists that are kept, scored again: a pick by its score, a missed round censored at its best candidate
that was not shown. Only rounds that have entered in the order shown are in it; those that are still waited for, or wait
behind one of them, never enter, but the next fit has them. A round that has entered unanswered is censored, and
corrected when it is picked, also after the fit: `Fitted` names these, and `Hit` then carries the score by the fit in
use. `Fitted` carries the numbers: optimization and `exp` may differ in the last bits between machines, so nothing is
computed again when a log or a file is read.

**With few picks the window is cross-fitted.** Scored by weights that were fitted on them, the picks look better than
those to come, and the threshold is too high: with 10 scorers and 15 picks base lists cover .69 instead of .90. So while
there are fewer than ten picks per scorer, each round is scored by a fit without its own fold, one of five.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from shortlist._validation import UNNAMED, Array, Scorers
from shortlist.rounds.events import Absent, Event, Expanded, Fitted, Hit, Listed, Miss, Withdrawn
from shortlist.rounds.exploring import shuffled
from shortlist.rounds.learning import KeptRound, Learning, LearningState, picks_needed
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import RoundName
from shortlist.scores import Learned
from shortlist.scores.kept_lists import MOST_KEPT, Example, KeptList, keep
from shortlist.scores.learned import fit

__all__ = ["SCHEDULE", "RepeatedFits", "make_learning"]

#: The numbers of picks at which the score is fitted.
SCHEDULE: Final = (15, 30, 60, 120, 250)
#: How many answered lists are kept, and how many open ones at the most.
_KEPT: Final = SCHEDULE[-1]
_OPEN: Final = 4 * _KEPT
#: With fewer picks per scorer the window is cross-fitted, in so many folds.
_FEW: Final = 10
_FOLDS: Final = 5
#: Of a long list, the best candidates are kept: this many of those shown, and others up to so many in all.
_BEST_SHOWN: Final = 48
_BEST: Final = 64


class RepeatedFits(Learning):
    """A learned score that is fitted again and again, shared by one or several streams.

    Parameters
    ----------
    settings
        The coverage at which lists are compared, and how long a round is waited for.
    state
        The state to continue from.
    """

    def __init__(self, settings: Settings, state: LearningState | None = None) -> None:
        super().__init__(settings, LearningState(fitting=False) if state is None else state)
        self.settings = settings
        self._frozen: Learning | None = None

    @property
    def is_done(self) -> bool:
        """Whether there will be no further fit."""
        return self.state.stage >= len(SCHEDULE)

    @property
    def needed(self) -> int:
        """The picks at which it is fitted next; those of the last fit after that."""
        return SCHEDULE[min(self.state.stage, len(SCHEDULE) - 1)]

    def counts(self, listed: Listed) -> bool:
        """Return whether a round may enter the window: its list was cut with the score in use."""
        return listed.fit == len(self.state.fits)

    def best_of(self, compared: Array, positions: list[int]) -> list[int] | None:
        """Return the positions to keep of a long list, best first: of those shown, and the next ones."""
        if len(compared) <= MOST_KEPT:
            return None
        shown = positions[:_BEST_SHOWN]
        rest = np.ones(len(compared), dtype=bool)
        rest[positions] = False
        others = rest.nonzero()[0]
        order = others[np.argsort(-compared[others], kind="stable")]
        return [*shown, *order[: _BEST - len(shown)].tolist()]

    # What happens.

    def show(self, listed: Listed, seed: str = "") -> None:
        """Keep a list that was shown, until the last fit."""
        state = self.state
        if state.scorers is None and len(listed.scores):  # an empty search does not name its scorers
            state.scorers = UNNAMED if listed.scorers is None else tuple(listed.scorers)
        values = np.asarray(listed.scores, dtype=np.float64)  # an empty search is a round like any other
        kept = KeptList(values)
        if len(values) > MOST_KEPT:
            state.sampled = True
            best = listed.positions if listed.kept is None else listed.kept
            kept = keep(values, best, lambda count: shuffled(seed, f"{listed.round_id}\0fit", count))
        everything = len(listed.positions) == len(values)
        state.kept[listed.round_id] = KeptRound(
            kept, state.shown, seed, [] if everything else _kept_of(kept, listed.positions), everything
        )
        state.shown += 1
        if not self.is_due:
            while len(state.kept) > _OPEN:
                del state.kept[next(iter(state.kept))]

    def expand(self, event: Expanded) -> None:
        """Take note that more of a list was shown."""
        one = self.state.kept.get(event.round_id)
        if one is None or self.is_due:
            return  # a fit that is due sees the list as it was
        everything = event.edge is None
        shown = [] if everything else [*one.shown, *_kept_of(one.kept, event.positions)]
        self.state.kept[event.round_id] = one._replace(shown=shown, everything=everything)

    def answer(self, event: Event) -> None:
        """Take a round's answer; while a fit is due, only note it, for its examples must not change."""
        name, position, row = event.round_id, None, None  # type: ignore[union-attr]
        if isinstance(event, Hit):
            kind, position, row = "hit", event.position, event.row
        elif isinstance(event, Miss) or (isinstance(event, Absent) and not event.believed):
            kind = "miss"
        elif isinstance(event, (Absent, Withdrawn)):
            kind = "none"
        else:
            kind = "miss" if self.settings.unanswered == "miss" else "none"
        if self.is_due:
            self.state.later.append((name, kind, self.state.shown, position, row))
        else:
            self._close(name, kind, self.state.shown, position, row)

    def _close(
        self, name: RoundName, kind: str, shown: int, position: int | None, row: list[float | None] | None
    ) -> None:
        state = self.state
        one = state.kept.pop(name, None)
        if one is None or kind == "none":
            return
        state.closed.append(one._replace(pick=position if kind == "hit" else None, row=row))
        if len(state.closed) > _KEPT:
            state.closed.popleft()
        if kind == "hit":
            state.picks += 1
            state.slowest = max(state.slowest or 0, shown - 1 - one.number)
            state.due_at = state.shown  # if a fit is due now, it is about the rounds shown so far

    @property
    def is_due(self) -> bool:
        """Whether a fit is due; unlike `due`, this is fast."""
        state = self.state
        return state.stage < len(SCHEDULE) and state.picks >= SCHEDULE[state.stage] and state.scorers is not None

    @property
    def stamp(self) -> tuple[int, ...]:
        """What a fit that is due depends on: if it has changed, a fit that was computed before is out of date."""
        return self.state.picks, self.state.since

    def prepared(self, stopping: Callable[[], bool] = bool) -> Callable[[], Fitted]:
        """Return what computes the fit that is due; it may be called in any thread, whatever happens meanwhile."""
        state = self.state
        assert state.scorers is not None  # noqa: S101 - it is due
        closed, entered = list(state.closed), self._entered(state.due_at)
        return functools.partial(self._computed, closed, entered, state.scorers, self.number + 1, stopping)

    def due(self) -> Fitted | None:
        """Return the fit, if it is due, with the picks that have come since."""
        return self.amended(self.prepared()()) if self.is_due else None

    def amended(self, event: Fitted, hits: Iterable[Hit] = ()) -> Fitted:
        """Return a fit whose window has the picks that came while it was computed, of rounds that it found open."""
        state, picks = self.state, {hit.round_id: (hit.position, hit.row) for hit in hits}
        picks |= {name: (position, row) for name, kind, _, position, row in state.later if kind == "hit"}
        windows = {owner: list(values) for owner, values in (event.windows or {}).items()}
        held: dict[str, list[tuple[int, RoundName]]] = {}
        for owner, rounds in (event.held or {}).items():
            for slot, name in rounds:
                position, row = picks.get(name, (None, None))
                if position is None:
                    held.setdefault(owner, []).append((slot, name))
                    continue
                one = state.kept[name]._replace(pick=position, row=row)
                windows[owner][2 * slot : 2 * slot + 2] = one.y(event.score), 0.0
        return event._replace(windows=windows, held=held or None)

    def _entered(self, shown: int) -> list[tuple[RoundName | None, KeptRound]]:
        """Return the rounds of this epoch that have entered in the order shown, of the first `shown`; open ones named.

        A round that is waited for holds back later ones of its own stream, until one that was shown so much later has
        an answer; later rounds are those of all streams here.
        """
        state, settings = self.state, self.settings
        patience = settings.waits(state.slowest)
        newest = max((one.number for one in state.closed), default=0)
        rounds: list[tuple[RoundName | None, KeptRound]]
        rounds = [(None, one) for one in state.closed if one.number >= state.since]
        if settings.unanswered == "miss":
            held = [(name, one) for name, one in state.kept.items() if state.since <= one.number < shown]
            waiting: dict[str, int] = {}
            for _, one in held:
                if newest - one.number <= patience:
                    waiting.setdefault(one.owner, one.number)
            rounds = [each for each in (*rounds, *held) if each[1].number < waiting.get(each[1].owner, shown)]
        return sorted(rounds, key=lambda each: each[1].number)

    def _computed(
        self,
        closed: list[KeptRound],
        entered: list[tuple[RoundName | None, KeptRound]],
        scorers: Scorers,
        number: int,
        stopping: Callable[[], bool],
    ) -> Fitted:
        """Return the event of a fit on the picks, with the windows of the rounds that have entered."""
        numbers = sorted({one.number for one in closed} | {one.number for _, one in entered})
        fold = {each: i % _FOLDS for i, each in enumerate(numbers)}
        picked = [(fold[one.number], one.example) for one in closed if one.pick is not None]
        score, folds = self._fits(picked, scorers, stopping)
        windows: dict[str, list[float]] = {}
        held: dict[str, list[tuple[int, RoundName]]] = {}
        for name, one in entered:
            window = windows.setdefault(one.owner, [])
            if name is not None:
                held.setdefault(one.owner, []).append((len(window) // 2, name))
            window.extend((one.y(folds[fold[one.number]]), float(one.pick is None)))
        return Fitted(number, score, windows=windows, held=held or None)

    def _fits(
        self, picked: list[tuple[int, Example]], scorers: Scorers, stopping: Callable[[], bool] = bool
    ) -> tuple[Learned, list[Learned]]:
        """Return the score that fits these picks, each with its fold, and what rounds of each fold are scored by."""
        score = fit([example for _, example in picked], scorers, self.coverage, stopping)
        if len(picked) >= _FEW * len(scorers):
            return score, [score] * _FOLDS
        without = ([example for its, example in picked if its != fold] for fold in range(_FOLDS))
        return score, [fit(others, scorers, self.coverage, stopping) for others in without]

    def freeze(self, event: Fitted) -> None:
        """Use a score from now on."""
        state = self.state
        state.fits.append(event.score)
        state.scorers = event.score.scorers
        if event.windows is None:  # of a warm start: the next fit is on more picks than it was
            state.stage = sum(picks <= event.score.rounds for picks in SCHEDULE)
        else:
            state.stage = sum(picks <= state.picks for picks in SCHEDULE)
        later, state.later = state.later, []
        for answer in later:
            self._close(*answer)
        if self.is_done:
            state.kept.clear()
            state.closed.clear()

    def refit(self) -> None:
        """Learn the score again, from the picks to come; until then it stays as it is."""
        state = self.state
        state.stage = state.picks = 0
        state.kept.clear()
        state.closed.clear()
        state.later.clear()

    def restart(self) -> None:
        """Let no round shown so far enter a window any more."""
        self.state.since = self.state.shown

    def frozen(self, settings: Settings) -> Learning:
        """Return a learner that keeps this score for good, or learns it once more, if it is of too few picks.

        It is the same one each time.
        """
        if self._frozen is None:
            state = self.state
            poor = state.score is None or state.score.rounds < picks_needed(state.scorers or UNNAMED)
            self._frozen = Learning(
                settings, LearningState(state.scorers, list(state.fits), poor, sampled=state.sampled)
            )
        return self._frozen

    # Labeled lists.

    def from_labels(
        self, tables: list[Array], right: list[tuple[int, ...]], scorers: Scorers
    ) -> tuple[Fitted | None, list[Learned]]:
        """Return a fit on the last labeled lists, None if there are too few, and what each list is scored by."""
        first, score = max(0, len(tables) - _KEPT), self.score(scorers)
        folds, fitted = [score] * _FOLDS, None
        picked = [
            (i % _FOLDS, self.example(tables[i], right[i][0], i, scorers))
            for i in range(first, len(tables))
            if right[i]
        ]
        if len(picked) >= SCHEDULE[0]:
            score, folds = self._fits(picked, scorers)
            fitted = Fitted(self.number + 1, score)
        return fitted, [folds[i % _FOLDS] if i >= first else score for i in range(len(tables))]


def _kept_of(kept: KeptList, positions: Iterable[int]) -> list[int]:
    """Return where candidates of a list are among those that are kept of it."""
    if kept.positions is None:
        return list(positions)
    where = {position: i for i, position in enumerate(kept.positions)}
    return [where[position] for position in positions if position in where]


def make_learning(settings: Settings, state: LearningState | None = None) -> Learning | None:
    """Return the learner of the score, if it is learned: once with an order statistic, else again and again."""
    if settings.score != "auto":
        return None
    return RepeatedFits(settings, state) if settings.is_product_limit else Learning(settings, state)
