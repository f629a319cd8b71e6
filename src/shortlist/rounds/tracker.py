"""One threshold, and everything that moves it: a policy under late answers, silence and distribution shift.

A tracker knows rounds by name and scores by value; lists and members are its owner's concern.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from shortlist.drift import DriftDetector, DriftState
from shortlist.policies import MISS, Policy, State
from shortlist.policies.ordered import Joined, Ordered
from shortlist.rounds.settings import Settings
from shortlist.rounds.shown import RoundName

__all__ = ["FALSE_ALARM_ROUNDS", "Alarm", "PromptTracker", "Tracker", "TrackerState", "make_tracker"]

#: The guaranteed mean number of rounds between false alarms.
FALSE_ALARM_ROUNDS: Final = 1_000_000
#: How many alarms are kept; older ones are only counted.
_ALARMS: Final = 100


@dataclass(slots=True)
class Alarm:
    """An alarm of the drift detector."""

    #: The round that raised it.
    round: RoundName
    #: Its level, at least 1.
    strength: float
    epoch: int
    threshold: float
    counted: int


@dataclass(slots=True)
class TrackerState:
    """The state of a tracker."""

    #: The policy's state; an order-statistic policy's if rounds count in the order shown.
    policy: Annotated[Any, State]
    #: For the detector: the names of this epoch's rounds not yet counted, in the order shown.
    names: deque[RoundName] = field(default_factory=deque)
    #: Unanswered rounds of a policy that only counts answers, each with the threshold it was shown with.
    open: dict[RoundName, float] = field(default_factory=dict)
    #: Rounds shown, explored or not, with `explore_share`.
    seen: int = 0
    #: Explored rounds that await an answer, each with its number; and those beyond `patience`.
    explored: deque[tuple[RoundName, int]] = field(default_factory=deque)
    late: set[RoundName] = field(default_factory=set)
    #: Rounds of this epoch that will never be answered.
    silent: int = 0
    #: Misses of truncated lists: the right answer may be among the candidates left out.
    unseen: int = 0
    #: With the product limit, the most later rounds that were shown before a hit came; None before the first one.
    slowest: int | None = None
    drift: DriftState = field(default_factory=DriftState)
    alarms: list[Alarm] = field(default_factory=list)
    alarm_count: int = 0
    #: Whether an alarm was raised after which learning must restart.
    must_restart: bool = False


class Tracker:
    """The threshold of a policy for which rounds count in the order shown, answered or not.

    Parameters
    ----------
    settings
        The policy, the meaning of silence, and what to do about drift.
    state
        The state to continue from.
    """

    def __init__(self, settings: Settings, state: TrackerState | None = None) -> None:
        self.policy: Any = settings.policy
        self.settings = settings
        self.state = TrackerState(self._fresh()) if state is None else state
        self.detector = DriftDetector(self.coverage, FALSE_ALARM_ROUNDS) if settings.on_drift is not None else None

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        threshold: float = self.state.policy.threshold
        return threshold

    @property
    def coverage(self) -> float:
        """The target coverage of the policy; the default one if it has none."""
        coverage: float = getattr(self.policy, "coverage", 0.9)
        return coverage

    @property
    def epoch(self) -> int:
        """The number of restarts."""
        return getattr(self.state.policy, "epoch", 0)

    def is_open(self, name: RoundName) -> bool:
        """Return whether a round was recorded and has no answer."""
        return name in self.state.policy.open

    def show(self, name: RoundName, bound: float, epoch: int) -> None:
        """Record a round that was shown, with what its answer is judged against.

        That is the threshold in force, or an earlier one of this epoch; for the product limit, the score of the best
        candidate that was not shown. A round of an earlier epoch is never counted.
        """
        policy, state = self.policy, self.state.policy
        if self.detector is not None and epoch == state.epoch:
            self.state.names.append(name)
        policy.show(state, name, bound, epoch)
        until = state.shown - self.settings.waits(self.state.slowest)
        if state.passed < until:
            self._counted(policy.advance(state, until))

    def lower(self, name: RoundName, bound: float) -> None:
        """Record that more of a round's list was shown, for the product limit."""
        self.policy.lower(self.state.policy, name, bound)

    def fill(self, values: list[float], held: Iterable[tuple[int, RoundName]] = ()) -> None:
        """Put the window of the product limit, scored by another score, in place of what there is."""
        self.policy.fill(self.state.policy, values, held)
        self.state.silent = 0

    def hit(self, name: RoundName, score: float) -> None:
        """Take a round's answer: the score of what was picked."""
        state = self.state.policy
        epoch, index, _ = state.open[name]
        if self.settings.is_product_limit and epoch == state.epoch:
            self.state.slowest = max(self.state.slowest or 0, state.shown - 1 - index)
        joined = self.policy.answer(state, name, score)
        if self.detector is not None:
            self._counted(joined)

    def miss(self, name: RoundName, *, truncated: bool = False) -> None:
        """Take a miss; that of a truncated list is below the threshold, but no evidence of the threshold's miss rate.

        Neither is a miss at a threshold of -inf: there the right answer was not among the candidates, and no
        threshold could have kept it.
        """
        policy, state = self.policy, self.state.policy
        epoch, _, threshold = state.open[name]
        self.state.unseen += truncated and epoch == state.epoch
        counts = threshold > MISS and not truncated
        self._counted(policy.answer(state, name, None) if counts else policy.silence(state, name))

    def silence(self, name: RoundName) -> None:
        """Record that a round will never be answered."""
        policy, state = self.policy, self.state.policy
        self.state.silent += state.open[name][0] == state.epoch
        self._counted(policy.silence(state, name))

    def withdraw(self, name: RoundName) -> None:
        """Remove a round from the sample, because no candidate was right."""
        self._counted(self.policy.withdraw(self.state.policy, name))

    def warm_start(self, true_scores: list[float], censored: Iterable[int] = ()) -> None:
        """Take labeled examples as rounds in which everything was shown and answered, except those that are censored.

        With an order statistic these have no score: they are below every threshold.
        """
        if self.settings.is_product_limit:
            bounds = set(censored)
            self.fill([x for i, y in enumerate(true_scores) for x in (y, float(y == MISS or i in bounds))])
            return
        for score in true_scores:
            self.policy.update(self.state.policy, score)

    def restart(self) -> None:
        """Restart: a new epoch, with its own share of delta."""
        state = self.state
        self.policy.restart(state.policy, _share(state.policy.epoch + 1))
        state.names.clear()
        state.silent = state.unseen = 0
        state.must_restart = False

    def _counted(self, joined: list[Joined]) -> None:
        """Feed the rounds that were counted to the detector, until it requires a restart."""
        if self.detector is None:
            return
        names, state = self.state.names, self.state.policy
        first = state.shown - len(names)
        named = [(names[index - first], seen) for index, seen in joined]
        for _ in range(first, state.passed):  # withdrawn rounds have passed too
            names.popleft()
        for name, seen in named:
            if self.state.must_restart:
                return  # what is left belongs to the old epoch
            strength = self.detector.update(self.state.drift, seen == MISS)
            if strength is None:
                continue
            self._ring(name, strength)
            self.state.must_restart = self.settings.on_drift == "restart"

    def _ring(self, name: RoundName, strength: float) -> None:
        state = self.state.policy
        self.state.alarm_count += 1
        self.state.alarms.append(Alarm(name, strength, state.epoch, state.threshold, state.rounds))
        del self.state.alarms[:-_ALARMS]

    def _fresh(self) -> State:
        policy: Ordered = self.policy
        return policy.init(_share(0) if self.settings.on_drift == "restart" else 1.0)


class PromptTracker(Tracker):
    """The threshold of any policy, if a round counts when it is answered, and silence never does."""

    def is_open(self, name: RoundName) -> bool:
        """Return whether a round was recorded and has no answer."""
        return name in self.state.open

    def show(self, name: RoundName, bound: float, epoch: int) -> None:  # noqa: ARG002 - there is one
        """Record a round that was shown."""
        self.state.open[name] = bound

    def lower(self, name: RoundName, bound: float) -> None:
        """Record that more of a round's list was shown, for the product limit."""
        self.state.open[name] = bound

    def fill(self, values: list[float], held: Iterable[tuple[int, RoundName]] = ()) -> None:
        """Put the window of the product limit, scored by another score, in place of what there is."""
        super().fill(values, held)
        self.state.open.clear()

    def hit(self, name: RoundName, score: float) -> None:
        """Take a round's answer, judged against that round's own bound."""
        self.policy.take(self.state.policy, score, self.state.open.pop(name))

    def miss(self, name: RoundName, *, truncated: bool = False) -> None:  # noqa: ARG002 - a miss is a miss
        """Take a miss."""
        self.policy.take(self.state.policy, None, self.state.open.pop(name))

    def silence(self, name: RoundName) -> None:
        """Forget a round that will never be answered."""
        del self.state.open[name]

    def withdraw(self, name: RoundName) -> None:
        """Forget a round in which no candidate was right."""
        del self.state.open[name]

    def _fresh(self) -> State:
        policy: Policy = self.policy
        return policy.init()


class ExploringTracker(Tracker):
    """The threshold of an order-statistic policy for which only explored, answered rounds count, in the order shown.

    A round that is silent for `patience` later ones leaves the order; if it is answered after that, it enters then.
    """

    def is_open(self, name: RoundName) -> bool:
        """Return whether a round was recorded and has no answer."""
        return name in self.state.policy.open or name in self.state.late

    def show(self, name: RoundName, bound: float, epoch: int) -> None:
        """Record an explored round."""
        state = self.state
        self.policy.show(state.policy, name, bound, epoch)
        state.explored.append((name, state.seen))

    def tick(self) -> None:
        """Record that a round was shown, explored or not; rounds beyond `patience` leave the order."""
        state = self.state
        state.seen += 1
        while state.explored and state.explored[0][1] < state.seen - self.settings.patience:
            name, _ = state.explored.popleft()
            if name in state.policy.open:
                self.policy.withdraw(state.policy, name)
                state.late.add(name)

    def hit(self, name: RoundName, score: float) -> None:
        """Take a round's answer: the score of what was picked."""
        self._take(name, score)

    def miss(self, name: RoundName, *, truncated: bool = False) -> None:  # noqa: ARG002 - all of it was shown
        """Take a miss that is reported nonetheless."""
        self._take(name, None)

    def silence(self, name: RoundName) -> None:
        """Forget a round that will never be answered."""
        self.withdraw(name)

    def withdraw(self, name: RoundName) -> None:
        """Forget a round in which no candidate was right."""
        if name in self.state.late:
            self.state.late.discard(name)
        else:
            self.policy.withdraw(self.state.policy, name)

    def _take(self, name: RoundName, score: float | None) -> None:
        state = self.state
        if name in state.late:
            state.late.discard(name)
            self.policy.update(state.policy, score)
        else:
            self.policy.answer(state.policy, name, score)


def make_tracker(settings: Settings, state: TrackerState | None = None) -> Tracker:
    """Return the tracker for these settings."""
    if settings.explore_share is not None:
        return ExploringTracker(settings, state)
    kind = Tracker if settings.unanswered == "miss" and settings.is_orderly else PromptTracker
    return kind(settings, state)


def _share(epoch: int) -> float:
    """Return the share of delta that an epoch may use; all epochs together use delta."""
    return 1.0 / ((epoch + 1) * (epoch + 2))
