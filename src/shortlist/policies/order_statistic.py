r"""The rule behind SPS and all its relatives, for answers that may be late or missing.

**Idea.** Show everything for n rounds; then the (k_n + 1)-th smallest true score is a
threshold that allows k_n low scores, and a *boundary* says how many are safe to allow.

**Rule.** Let x_i be the true score of the i-th round shown if it was revealed, -inf if it was not
(yet), for whatever reason. With x_(1) <= x_(2) <= ... the sorted x_1, ..., x_n,

$$\tau \leftarrow \max(\tau,\; x_{(k_n + 1)}).$$

This is Algorithm 1 of the paper: substituting tau_t for a censored score, as it does, gives the
same thresholds bit for bit. So does full information: scores below tau never matter again.

**Guarantee.** For i.i.d. scores, P(tau ever passes the optimal threshold) is at most the boundary's
crossing probability (`shortlist.crossing_probability`), with ties or without, however late or
selective the answers are.

**Cost.** O(log m) per round, for a window of m = O(sqrt n) scores around the threshold.

The pieces, in the order of theory and code: a round enters the sample (`count`), which seldom affects
the scores kept; if it does, `keep` updates them and the threshold; the score of a round in the sample may
be revealed late (`reveal`).
"""

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import ClassVar, cast

from shortlist._validation import check_probability, miss_rate
from shortlist.boundaries.base import Advance, Boundary
from shortlist.boundaries.base import Constants as BoundaryConstants
from shortlist.errors import InvalidParameter
from shortlist.policies.base import MISS, Prefilter, Schedule, State
from shortlist.policies.ordered import Ordered, OrderedState

__all__ = ["OrderStatistic", "OrderStatisticState"]

#: The positions in the carry.
_THRESHOLD, _ROUNDS, _LIMIT, _FIRST, _SECOND, _LOW, _CEILING, _PENDING = range(8)
# threshold, n, k, the boundary's two memories, low, ceiling, pending
Tally = tuple[float, int, int, float, float, int, float, int]
# p0, coverage, whether to keep a window, the boundary's constants and last round
Constants = tuple[float, float, bool, BoundaryConstants, float]


def count(advance: Advance, carry: Tally, constants: Constants, seen: float) -> tuple[Tally, bool]:
    """Count one more round, with the score of a hit or MISS; also return whether it concerns the scores kept.

    It seldom does: only if more low scores are allowed now, or the score is in the window.
    """
    threshold, n, k, first, second, low, ceiling, pending = carry
    _, _, _, schedule, _ = constants
    more, first, second = advance(n, k, first, second, schedule)
    if not seen >= threshold or seen == MISS:  # a score that is not a number is low too
        return (threshold, n + 1, more, first, second, low + 1, ceiling, pending), more > k
    return (threshold, n + 1, more, first, second, low, ceiling, pending), more > k or seen <= ceiling


def keep(carry: Tally, heap: list[float], constants: Constants, seen: float, _missed: bool) -> Tally:
    """Put a score in the window on the heap, and settle the threshold.

    Scores are counted as low, lowest first, until k are; the threshold rises to the next one.
    The window keeps only the lowest scores. `ceiling`, the highest score kept, is never raised
    again: a score between an old and a new ceiling would be missing, and the threshold too high.
    """
    threshold, n, k, first, second, low, ceiling, pending = carry
    pushed = MISS < seen <= ceiling and seen >= threshold
    if pushed:
        heappush(heap, seen)
    while low < k and heap:
        heappop(heap)
        low += 1
    if 0 <= k >= low and heap and heap[0] > threshold:
        threshold = heap[0]
    p0, coverage, windowed, _, last = constants
    if pushed and windowed:  # after the low ones are gone: k may have jumped, and `width` counts from there
        moving = min(float(n), last)  # k does not move after `last`, and needs no wider window
        width = max(0, math.floor(moving * p0 - k + 5 * math.sqrt(moving * p0 * coverage))) + pending + 64
        if len(heap) > 2 * width:
            heap.sort()
            while len(heap) > width:
                heap.pop()
            ceiling = heap[-1]
    return threshold, n, k, first, second, low, ceiling, pending


def reveal(carry: Tally, heap: list[float], constants: Constants, seen: float) -> Tally:
    """Correct a round that entered the sample unanswered: its answer has arrived."""
    threshold, n, k, first, second, low, ceiling, pending = carry
    pending -= 1
    if seen == MISS or seen < threshold:
        return threshold, n, k, first, second, low, ceiling, pending
    return keep((threshold, n, k, first, second, low - 1, ceiling, pending), heap, constants, seen, False)


@dataclass(slots=True)
class OrderStatisticState(OrderedState):
    """The state of an order-statistic policy, with its open rounds."""

    @property
    def rounds(self) -> int:
        """n, the number of rounds in the sample."""
        count: int = self.carry[_ROUNDS]
        return count

    @property
    def limit(self) -> int:
        """k_n, the number of low scores allowed among them; -1 before the first cut."""
        limit: int = self.carry[_LIMIT]
        return limit

    @property
    def low(self) -> int:
        """Rounds that count as below the threshold: missed, unanswered, or passed by it."""
        low: int = self.carry[_LOW]
        return low

    @property
    def pending(self) -> int:
        """Rounds in the sample whose answer may still arrive."""
        pending: int = self.carry[_PENDING]
        return pending

    @property
    def walk(self) -> tuple[int, int, float, float]:
        """n, k_n and the boundary's two memories: what its schedule advances."""
        walk: tuple[int, int, float, float] = self.carry[_ROUNDS:_LOW]
        return walk

    @property
    def schedule(self) -> BoundaryConstants:
        """The boundary's constants."""
        _, _, _, schedule, _ = self.constants
        return schedule  # type: ignore[no-any-return]


@dataclass(frozen=True)
class OrderStatistic(Ordered):
    """The order-statistic rule over any boundary.

    Rule, guarantee and cost are those of the module: `shortlist.policies.order_statistic`.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list.
    boundary
        How many scores below the threshold are allowed among n rounds.
    window
        Keep only the O(sqrt n) scores that the threshold can reach (the default). Without it every
        score is kept; the thresholds were the same in every run tried.

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
        """The function `count`, which decides whether a round concerns the scores kept, and the boundary's schedule."""
        return count, self.boundary.advance

    def init(self, share: float = 1.0) -> OrderStatisticState:
        """Return a fresh state that uses this share of the boundary's delta.

        Parameters
        ----------
        share
            The share of the boundary's delta.

        Returns
        -------
        OrderStatisticState
            The state before the first round.
        """
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
        """Show a round and take its answer at once; behind open rounds it waits for them.

        Parameters
        ----------
        state
            The state, changed in place.
        score
            The true label's score, or None for a miss; one below the threshold counts as a miss.
        """
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
            state.waiting[index] = seen if seen >= state.threshold else MISS
            self.advance(state)

    def learn(self, state: State, seen: float) -> None:
        """Add one round to the sample.

        Parameters
        ----------
        state
            The state, changed in place.
        seen
            The score of a hit, or `MISS`.
        """
        carry, concerns = count(self.boundary.advance, state.carry, state.constants, seen)
        state.carry = keep(carry, state.values, state.constants, seen, False) if concerns else carry

    def _judge(self, score: float | None, bound: float) -> float:
        """Return the score of a hit; one below its own round's threshold counts as a miss."""
        return score if score is not None and score >= bound else MISS

    def _enter(self, state: State, index: int, seen: float | None) -> None:  # noqa: ARG002 - the sample has no order
        """Add a round to the sample; without an answer it counts as below the threshold until that arrives."""
        if seen is None:
            state.carry, seen = (*state.carry[:_PENDING], state.carry[_PENDING] + 1), MISS
        self.learn(state, seen)

    def _correct(self, state: State, index: int, seen: float) -> None:  # noqa: ARG002 - likewise
        """Take the answer of a round that entered without one."""
        state.carry = reveal(state.carry, state.values, state.constants, seen)
