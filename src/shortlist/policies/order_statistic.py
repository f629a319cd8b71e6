r"""The one rule behind SPS and all its relatives, built for late and missing answers.

**Idea.** Show everything until n rounds are known; then the (k_n + 1)-th smallest true score is a
threshold that allows k_n low scores, and a *boundary* says how many are safe to allow.

**Rule.** Let x_i be the true score of the i-th round shown if it was revealed, -inf if it was not
(yet), for any reason whatever. With x_(1) <= x_(2) <= ... the sorted x_1, ..., x_n,

$$\tau \leftarrow \max(\tau,\; x_{(k_n + 1)}).$$

This is Algorithm 1 of the paper: substituting tau_t for a censored score, as it does, gives the
same thresholds bit for bit. So does full information: what lies below tau never matters again.

**Guarantee.** For i.i.d. scores, P(tau ever passes the optimal threshold) is at most the boundary's
crossing probability (`shortlist.crossing_probability`), with ties or without, for answers as
late and as selective as they please.

**Cost.** O(log m) per round, for a window of m = O(sqrt n) scores around the threshold.

The pieces, in the order of theory and code: a round joins the count (`count`), which seldom concerns
the scores kept (`keep`, which moves the threshold); a joined round's score may be revealed late
(`reveal`).
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import ClassVar, Final, cast

from shortlist._validation import check_probability, miss_rate
from shortlist.boundaries.base import Advance, Boundary
from shortlist.boundaries.base import Constants as BoundaryConstants
from shortlist.errors import InvalidParameter
from shortlist.policies.base import MISS, Policy, Prefilter, Schedule, State

__all__ = ["OrderStatistic", "OrderStatisticState"]

# threshold, n, k, the boundary's two memories, low, ceiling, pending
Tally = tuple[float, int, int, float, float, int, float, int]
# p0, coverage, whether to keep a window, the boundary's constants and last round
Constants = tuple[float, float, bool, BoundaryConstants, float]


def count(advance: Advance, carry: Tally, constants: Constants, seen: float) -> tuple[Tally, bool]:
    """Count one more round, with the score of a hit or MISS; return also whether it concerns the scores kept.

    It seldom does: only if more low scores are allowed now, or the score is in the window.
    """
    threshold, n, k, first, second, low, ceiling, pending = carry
    more, first, second = advance(n, k, first, second, constants[3])
    if not seen >= threshold or seen == MISS:  # a score that is not a number is low too
        return (threshold, n + 1, more, first, second, low + 1, ceiling, pending), more > k
    return (threshold, n + 1, more, first, second, low, ceiling, pending), more > k or seen <= ceiling


def keep(carry: Tally, heap: list[float], constants: Constants, seen: float, _missed: bool) -> Tally:
    """Put a score in the window on the heap, and settle the threshold.

    Scores are counted as low, the lowest first, until k are; the threshold rises to the next one.
    The window keeps the lowest scores only. `ceiling`, the highest score kept, is never raised
    again: a score between an old and a new ceiling would be missing, and the threshold too high.
    """
    threshold, n, k, first, second, low, ceiling, pending = carry
    if MISS < seen <= ceiling and seen >= threshold:
        p0, coverage, windowed, _, last = constants
        heappush(heap, seen)
        if windowed:
            moving = min(float(n), last)  # k does not move after `last`, and needs no wider window
            width = math.floor(moving * p0 - k + 5 * math.sqrt(moving * p0 * coverage)) + pending + 64
            if len(heap) > 2 * width:
                heap.sort()
                while len(heap) > width:
                    heap.pop()
                ceiling = heap[-1]
    while low < k and heap:
        heappop(heap)
        low += 1
    if 0 <= k >= low and heap and heap[0] > threshold:
        threshold = heap[0]
    return threshold, n, k, first, second, low, ceiling, pending


def reveal(carry: Tally, heap: list[float], constants: Constants, seen: float) -> Tally:
    """Correct a round that had joined as low: its answer has come."""
    threshold, n, k, first, second, low, ceiling, pending = carry
    pending -= 1
    if seen == MISS or seen < threshold:
        return threshold, n, k, first, second, low, ceiling, pending
    return keep((threshold, n, k, first, second, low - 1, ceiling, pending), heap, constants, seen, False)


#: A round that has joined: its index, and the score of a hit, MISS, or None where there is no answer.
Joined = tuple[int, float | None]

#: Waits in a round's place when it was withdrawn: the round never joins.
_WITHDRAWN: Final = math.inf


@dataclass(slots=True)
class OrderStatisticState(State):
    """The state of an order-statistic policy, with its open rounds.

    Rounds shown but not yet counted keep their order: joined rounds are always a prefix of the
    rounds shown, because answered rounds that overtook open ones would break the promise.
    """

    share: float = 1.0
    #: Restarts so far; the index counters below are this epoch's.
    epoch: int = 0
    #: Rounds shown in this epoch.
    shown: int = 0
    #: Rounds of this epoch that have joined or were withdrawn: a prefix of those shown.
    passed: int = 0
    #: Unanswered rounds: id -> (epoch, index, threshold it was shown with).
    open: dict[Hashable, tuple[int, int, float]] = field(default_factory=dict)
    #: Closed rounds behind an open one: index -> score, MISS, +inf if withdrawn.
    waiting: dict[int, float] = field(default_factory=dict)
    #: Those of them that will never be answered.
    silent: set[int] = field(default_factory=set)

    @property
    def rounds(self) -> int:
        """n, the rounds that have joined."""
        count: int = self.carry[1]
        return count

    @property
    def limit(self) -> int:
        """k_n, the low scores that are allowed among them; -1 before the first cut."""
        limit: int = self.carry[2]
        return limit

    @property
    def low(self) -> int:
        """Rounds counted as low: missed, unanswered, or passed by the threshold."""
        low: int = self.carry[5]
        return low

    @property
    def dropped(self) -> int:
        """Rounds whose score is above the window: neither low nor kept."""
        return self.rounds - self.low - len(self.values)

    @property
    def pending(self) -> int:
        """Joined rounds whose answer may still come."""
        pending: int = self.carry[7]
        return pending


@dataclass(frozen=True)
class OrderStatistic(Policy):
    """The order-statistic rule over any boundary.

    Rule, guarantee and cost are those of the module: `shortlist.policies.order_statistic`.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list.
    boundary
        How many low scores n rounds allow.
    window
        Keep only the O(sqrt n) scores that the threshold can reach (the default). Without it every
        score is kept; the thresholds have come out the same in every run tried.

    Examples
    --------
    >>> from shortlist import BetaBinomial
    >>> policy = OrderStatistic(coverage=0.9, boundary=BetaBinomial(delta=0.01))
    >>> state = policy.init()
    >>> for i in range(200):
    ...     policy.update(state, score=(i * 7 % 100) / 100)
    >>> state.threshold
    0.03

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, Algorithm 1.
    """

    key: ClassVar[str] = "order-statistic"
    rule = staticmethod(keep)
    state_type: ClassVar[type[State]] = OrderStatisticState
    coverage: float
    boundary: Boundary
    window: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        if not isinstance(self.boundary, Boundary):
            raise InvalidParameter(
                f"boundary is {self.boundary!r}; it must be a boundary, for example BetaBinomial(delta=0.05)"
            )

    @property
    def prefilter(self) -> tuple[Prefilter, Schedule]:
        """`count`, which decides whether a round concerns the scores kept, and the boundary's schedule."""
        return count, self.boundary.advance

    def init(self, share: float = 1.0) -> OrderStatisticState:
        """Return a fresh state that spends this share of the boundary's delta."""
        p0 = float(miss_rate(self.coverage))
        constants = (
            p0,
            self.coverage,
            self.window,
            self.boundary.constants(self.coverage, share),
            self.boundary.last,
        )
        first, second = self.boundary.start(self.coverage)
        carry = (-math.inf, 0, -1, first, second, 0, math.inf, 0)
        return OrderStatisticState(carry, [], constants, share=share)

    def update(self, state: State, score: float | None) -> None:
        """Show a round and take its answer at once; behind open rounds it waits its turn."""
        state = cast("OrderStatisticState", state)
        # One below the threshold is counted, and nothing else of it is used; + 0.0 makes one zero of two.
        seen = MISS if score is None else score + 0.0
        index = state.shown
        state.shown = index + 1
        if state.passed == index:
            state.passed = state.shown
            # `learn`, written out: a method call is a tenth of what a round costs.
            carry, concerns = count(self.boundary.advance, state.carry, state.constants, seen)
            state.carry = keep(carry, state.values, state.constants, seen, False) if concerns else carry
        else:
            state.waiting[index] = seen if seen >= state.carry[0] else MISS
            self.advance(state)

    def learn(self, state: State, seen: float) -> None:
        """Let one round join, with the score of a hit or MISS."""
        carry, concerns = count(self.boundary.advance, state.carry, state.constants, seen)
        state.carry = keep(carry, state.values, state.constants, seen, False) if concerns else carry

    def show(
        self, state: OrderStatisticState, name: Hashable, threshold: float | None = None, epoch: int | None = None
    ) -> None:
        """Open a round under a name; its answer is judged against its own threshold: the one in force now.

        Whoever shows lists from an older copy of the state says with which `threshold` and `epoch`; a
        round of an older epoch has no place in the count.
        """
        state.open[name] = (
            state.epoch if epoch is None else epoch,
            state.shown,
            state.threshold if threshold is None else threshold,
        )
        state.shown += epoch is None or epoch == state.epoch

    def answer(self, state: OrderStatisticState, name: Hashable, score: float | None) -> list[Joined]:
        """Take an open round's answer. A score below that round's own threshold counts as a miss."""
        epoch, index, threshold = state.open.pop(name)
        seen = score if score is not None and score >= threshold else MISS
        if index != state.passed or epoch != state.epoch:
            return self._close(state, epoch, index, seen)
        state.passed = index + 1  # in order, as nearly all are
        self.learn(state, seen)
        return [(index, seen), *self.advance(state)] if state.waiting else [(index, seen)]

    def silence(self, state: OrderStatisticState, name: Hashable) -> list[Joined]:
        """Say that an open round will never be answered: it counts as low."""
        epoch, index, _ = state.open.pop(name)
        if epoch == state.epoch and index >= state.passed:
            state.silent.add(index)
        return self._close(state, epoch, index, MISS)

    def withdraw(self, state: OrderStatisticState, name: Hashable) -> list[Joined]:
        """Take an open round out of the count; one that has joined already stays low."""
        epoch, index, _ = state.open.pop(name)
        return self._close(state, epoch, index, _WITHDRAWN)

    def _close(self, state: OrderStatisticState, epoch: int, index: int, seen: float) -> list[Joined]:
        if epoch != state.epoch:
            return []  # of another epoch: taken by the caller, never counted
        if index >= state.passed:
            state.waiting[index] = seen
            return self.advance(state) if index == state.passed else []
        state.carry = reveal(state.carry, state.values, state.constants, MISS if seen == _WITHDRAWN else seen)
        return []

    def advance(self, state: OrderStatisticState, until: int = 0) -> list[Joined]:
        """Let rounds join in the order shown: closed ones, and all with an index below `until`.

        An unanswered round joins as low and is corrected when its hit comes. Any `until` is safe;
        ``shown - patience`` means that a round is waited for while `patience` later ones are shown.

        Returns the rounds that joined, in order: index, and the score of a hit, MISS, or None where
        there is no answer.
        """
        joined: list[Joined] = []
        waiting, silent = state.waiting, state.silent
        while (index := state.passed) < state.shown:
            seen = waiting.pop(index, None)
            if seen is None:
                if index >= until:
                    break
                state.carry = (*state.carry[:7], state.carry[7] + 1)
            state.passed = index + 1
            if seen == _WITHDRAWN:
                continue
            self.learn(state, MISS if seen is None else seen)
            if silent and index in silent:
                silent.discard(index)
                seen = None
            joined.append((index, seen))
        return joined

    def restart(self, state: OrderStatisticState, share: float) -> None:
        """Open a new epoch: everything learnt is forgotten, and `share` of delta is spent anew.

        Answers to rounds of older epochs are accepted and not counted.
        """
        fresh = self.init(share)
        state.carry, state.values, state.constants = fresh.carry, fresh.values, fresh.constants
        state.share, state.epoch = share, state.epoch + 1
        state.shown = state.passed = 0
        state.waiting, state.silent = {}, set()
