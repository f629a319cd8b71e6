r"""``score="auto"`` with a delta: learn the score first, freeze it, then learn its threshold.

The first rounds are shown complete, until 30 of them (100 with several scorers) were answered by a pick, or at the
latest after ten times as many rounds. Then the score is fitted (`shortlist.scores.learned`) and frozen.

**Why this costs no guarantee.** Given the weights, the rounds shown after that moment are fresh draws, so the
threshold learned from them alone keeps the guarantee of its policy, with the whole delta. Rounds shown before
never count, however late their answers are. Who answers during the fit affects only the weights.

The result of the fit is an event, `Fitted`: floating-point optimization may differ in the last bits between machines,
so it is recorded, and never recomputed when a log or a file is read.
"""

import functools
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from shortlist._validation import UNNAMED, Array, Scorers
from shortlist.rounds.events import Event, Expanded, Fitted, Hit, Listed
from shortlist.rounds.exploring import shuffled
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import RoundName
from shortlist.scores import Learned
from shortlist.scores.kept_lists import MOST_KEPT, Example, KeptList, keep
from shortlist.scores.learned import fit, lengths_without, prior, scores_of

__all__ = ["PATIENCE", "KeptRound", "Learning", "LearningState", "picks_needed"]

#: The picks for a fit, with one scorer and with several: a bad fit is frozen, so these are chosen for the worst run.
_PICKS_ONE: Final = 30
_PICKS_SEVERAL: Final = 100
#: The wait for them, at most, as a multiple in rounds.
PATIENCE: Final = 10
#: The smallest number of picks for measuring what a fresh fit would change.
_FEW: Final = 20


class KeptRound(NamedTuple):
    """A list that is kept for fits, and its answer, if it has one."""

    kept: KeptList
    #: Which of all lists it was.
    number: int
    #: The seed of its stream.
    owner: str
    #: Of the candidates that are kept, those that were shown; empty if all were.
    shown: list[int]
    everything: bool
    #: The position of the pick; None if it was missed, or is not answered yet.
    pick: int | None = None
    #: The scores of the pick, where it may not be kept.
    row: list[float | None] | None = None

    @property
    def example(self) -> Example:
        """The example of its pick."""
        assert self.pick is not None  # noqa: S101 - it was picked
        return self.kept.example(self.pick, _row(self.kept, self.row))

    def y(self, score: Learned) -> float:
        """Return the score of its pick, or that of the best candidate that was not shown; -inf if all were."""
        if self.pick is not None:
            example = self.example
            return float(scores_of(score, example)[example.position])
        if self.everything:
            return -math.inf
        scores = scores_of(score, self.kept.unpicked)
        hidden = np.ones(len(scores), dtype=bool)
        hidden[self.shown] = False
        return float(scores[hidden].max() if hidden.any() else scores.min())


@dataclass(slots=True)
class LearningState:
    """The state of a learned score and its fit."""

    #: The names of the scorers, fixed by the first round.
    scorers: tuple[str, ...] | None = None
    #: The scores of all fits, the last of which is in use: lists of an earlier one may still be answered.
    fits: list[Learned] = field(default_factory=list)
    #: Whether a fit is pending.
    fitting: bool = True
    #: Rounds shown since it has been pending.
    rounds: int = 0
    #: Whether only a part of a list was ever kept, because it is long.
    sampled: bool = False
    #: Picks so far that were, or are, examples.
    picks: int = 0
    #: Lists that may become examples when they are answered, oldest first.
    open: dict[RoundName, KeptList] = field(default_factory=dict)
    #: The last lists in which something was picked.
    examples: deque[Example] = field(default_factory=deque)
    #: With repeated fits: which is next, and the lists that are kept, open ones in the order shown, and answered ones.
    stage: int = 0
    kept: dict[RoundName, KeptRound] = field(default_factory=dict)
    closed: deque[KeptRound] = field(default_factory=deque)
    #: Lists kept so far, how many they were at the last pick, and at the last restart.
    shown: int = 0
    due_at: int = 0
    since: int = 0
    #: Answers that came while a fit was due: round, kind, lists kept so far, position and row of a pick.
    later: list[tuple[RoundName, str, int, int | None, list[float | None] | None]] = field(default_factory=list)
    #: The most later lists that were shown before a hit came; None before the first one.
    slowest: int | None = None

    @property
    def score(self) -> Learned | None:
        """The score in use; None before the first fit."""
        return self.fits[-1] if self.fits else None


class Learning:
    """A learned score, shared by one or several streams, and its fit.

    Parameters
    ----------
    settings
        The coverage at which lists are compared.
    state
        The state to continue from.
    """

    def __init__(self, settings: Settings, state: LearningState | None = None) -> None:
        self.coverage: float = getattr(settings.policy, "coverage", 0.9)
        self.state = LearningState() if state is None else state
        self._prior: Learned | None = None
        # The pick after which it was measured, and the result.
        self._gain: tuple[int, tuple[float, float]] | None = None

    @property
    def scorers(self) -> Scorers | None:
        """The names of the scorers, once there has been a round."""
        return self.state.scorers

    @property
    def needed(self) -> int:
        """How many picks a fit needs."""
        return picks_needed(self.state.scorers or UNNAMED)

    @property
    def is_done(self) -> bool:
        """Whether no list is kept any more. Here they are, for they say what a fresh fit would change."""
        return False

    @property
    def number(self) -> int:
        """The number of the score in use: 0 before the first fit."""
        return len(self.state.fits)

    def score(self, scorers: Scorers, fit: int | None = None) -> Learned:
        """Return the score in use, or that of an earlier fit; before the first, all scorers have equal weights."""
        fits = self.state.fits
        if fits and fit != 0:
            return fits[-1 if fit is None else fit - 1]
        if self._prior is None or self._prior.scorers != scorers:
            self._prior = prior(scorers)
        return self._prior

    @property
    def stamp(self) -> tuple[int, ...]:
        """What a fit that is due depends on: if it has changed, a fit that was computed before is out of date."""
        return (self.state.picks,)

    def best_of(self, compared: Array, positions: list[int]) -> list[int] | None:  # noqa: ARG002 - as shown
        """Return the positions to keep of a long list, best first, if they are others than those shown."""
        return None

    def expand(self, event: Expanded) -> None:
        """Take note that more of a list was shown."""

    def restart(self) -> None:
        """Take note that a new epoch begins."""

    def counts(self, listed: Listed) -> bool:
        """Return whether a round may count for the threshold: its list was cut with the frozen score."""
        return not self.state.fitting and listed.fit == len(self.state.fits)

    # What happens.

    def show(self, listed: Listed, seed: str = "") -> None:
        """Record a list that was shown; the seed is for what is kept of a long one."""
        state = self.state
        if state.scorers is None and len(listed.scores):  # an empty search does not name its scorers
            state.scorers = UNNAMED if listed.scorers is None else tuple(listed.scorers)
        state.rounds += state.fitting
        values = np.asarray(listed.scores, dtype=np.float64)
        if len(values) <= MOST_KEPT:
            state.open[listed.round_id] = KeptList(values)
        else:
            state.sampled = True
            best = [] if listed.explored else listed.positions
            state.open[listed.round_id] = keep(
                values, best, lambda count: shuffled(seed, f"{listed.round_id}\0fit", count)
            )
        if len(state.open) > self.needed:
            most = PATIENCE * self.needed if state.fitting else self.needed
            while len(state.open) > most:
                del state.open[next(iter(state.open))]

    def answer(self, event: Event) -> None:
        """Take a round's answer: only a pick is an example."""
        state = self.state
        kept = state.open.pop(event.round_id, None)  # type: ignore[union-attr]
        if kept is None or not isinstance(event, Hit) or event.position is None:
            return
        if self.is_due:
            return  # the examples of a fit that is due do not change until it is applied
        state.picks += 1
        state.examples.append(kept.example(event.position, _row(kept, event.row)))
        while len(state.examples) > self.needed:
            state.examples.popleft()

    @property
    def is_due(self) -> bool:
        """Whether the fit is due; unlike `due`, this is fast."""
        state = self.state
        if not state.fitting or state.scorers is None:
            return False
        needed = self.needed
        return len(state.examples) >= needed or state.rounds >= PATIENCE * needed

    def due(self) -> Fitted | None:
        """Return the fit, if it is due."""
        return self.prepared()() if self.is_due else None

    def prepared(self, stopping: Callable[[], bool] = bool) -> Callable[[], Fitted]:
        """Return what computes the fit that is due; it may be called in any thread, whatever happens meanwhile."""
        assert self.state.scorers is not None  # noqa: S101 - it is due
        return functools.partial(self.fitted, list(self.state.examples), self.state.scorers, self.number + 1, stopping)

    def example(self, values: Array, position: int, number: int, scorers: Scorers) -> Example:
        """Return a labeled list as an example; the number is its own, among those of a warm start."""
        best = self.score(scorers)(values) if len(values) > MOST_KEPT else np.empty(0)
        kept = keep(
            values, np.argsort(-best, kind="stable").tolist(), lambda count: shuffled("", f"warm\0{number}", count)
        )
        return kept.example(position, values[position])

    def fitted(
        self,
        examples: list[Example],
        scorers: Scorers,
        number: int | None = None,
        stopping: Callable[[], bool] = bool,
    ) -> Fitted:
        """Return the event of a fit on these examples."""
        return Fitted(number or self.number + 1, fit(examples, scorers, self.coverage, stopping))

    def freeze(self, event: Fitted) -> None:
        """Use a score from now on."""
        state = self.state
        state.fits.append(event.score)
        state.scorers = event.score.scorers
        state.fitting, state.rounds = False, 0
        self._gain = None

    def refit(self) -> None:
        """Schedule another fit, on the latest picks and those to come."""
        self.state.fitting, self.state.rounds = True, 0

    # What a fresh fit would change.

    @property
    def gain_is_due(self) -> bool:
        """Whether `gain` would measure, which takes as long as two fits; so it does once per `needed` picks."""
        state, needed = self.state, max(_FEW, self.needed)
        if state.score is None or state.fitting or state.picks < 2 * needed or len(state.examples) < _FEW:
            return False  # the examples of the fit itself say nothing
        return self._gain is None or state.picks - self._gain[0] >= needed

    @property
    def measured(self) -> tuple[float, float] | None:
        """The latest result of `gain`."""
        return None if self._gain is None or self.state.fitting else self._gain[1]

    def gain(self) -> tuple[float, float] | None:
        """Return the mean length of the latest lists with the score in use, and with a fresh fit.

        Each half of the latest examples is cut with a fit on the other half.
        """
        state = self.state
        if self.gain_is_due and state.score is not None:
            self._gain = state.picks, self._measured(list(state.examples), state.score)
        return self.measured

    def _measured(self, examples: list[Example], score: Learned) -> tuple[float, float]:
        halves = examples[::2], examples[1::2]
        now = fresh = 0.0
        for half, other in (halves, halves[::-1]):
            again = fit(other, score.scorers, self.coverage)
            now += float(lengths_without(score, half, self.coverage).sum())
            fresh += float(lengths_without(again, half, self.coverage).sum())
        return now / len(examples), fresh / len(examples)


def _row(kept: KeptList, row: list[float | None] | None) -> Any:
    """Return the scores of a pick, in the shape of the list's: one number, or one of each scorer."""
    if row is None:
        return None
    return row if kept.values.ndim > 1 else row[0]


def picks_needed(scorers: Scorers) -> int:
    """Return how many picks a fit of these scorers needs."""
    return _PICKS_ONE if len(scorers) == 1 else _PICKS_SEVERAL
