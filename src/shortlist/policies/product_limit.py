r"""The product-limit threshold: the quantile of scores of which some are only known to be low.

**Idea.** A hit reveals its score; a miss says that the score is at or below that of the best candidate that was not
shown. That is a sample with left-censored values, and the product-limit estimator of Kaplan and Meier, with the axis
reversed, uses each of them for what it says and no more.

**Rule.** Of each of the last N rounds keep (y, censored): y is the score of a hit, otherwise the score that the right
one cannot exceed. Order them from the highest y down, seen before censored where they tie; of the j-th of n,
n - j + 1 are at or below it, itself included. Then

$$F(v) = \prod_{\text{seen } y_j \ge v} \Bigl(1 - \frac{1}{n - j + 1}\Bigr) \qquad
\tau = \max\Bigl\{\text{seen } y : F(y) \le p_0 - \tfrac12\sqrt{p_0 c / n}\Bigr\}$$

F estimates P(s < v). Where no seen y qualifies, F is not identified that far down, because all lists were shorter: the
threshold *steps down*, to the median of the finite censored y below the lowest seen one, where misses lie, or to the
lowest seen y if there is none. Without that step the threshold ratchets up: scores below the shortest list are never
seen again.

Without lists a miss is censored at the threshold itself, and nothing says where misses lie: that step would end where
it began, or above. Then the threshold steps down by as much as, above the lowest seen y, it takes to find the mass of F
that is missing below it; to minus infinity if all seen y are equal, or there is none.

The threshold is computed first after ten rounds, then after max(1, n // 50) more each time.

**Guarantee.** None by itself: in a lister the error budget bounds the misses, for any distribution and any base list
(`shortlist.rounds.budget`). The censoring level depends on the list, which overstates F a little: the safe side.

**Cost.** O(N log N) now and then, otherwise O(1). Products, one square root, comparisons: the same bits on every
machine.
"""

import math
from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from shortlist._validation import check_count, check_probability, miss_rate
from shortlist.errors import InvalidParameter
from shortlist.policies.base import MISS, State
from shortlist.policies.ordered import Ordered, OrderedState

__all__ = ["FIRST", "ProductLimit", "ProductLimitState", "estimate"]

#: The number of rounds before the first threshold.
FIRST: Final = 10
#: The threshold is computed again after this share of the window's rounds.
_PARTS: Final = 50
#: F and the level may be equal, and differ by rounding.
_ROUNDING: Final = 1e-12
#: What is known of a round's score: it is y; it is at or below y; it is below the threshold y, and there was no list.
_SEEN: Final = 0.0
_CENSORED: Final = 1.0
_UNLISTED: Final = 2.0

#: The threshold, the rounds that have entered, the rounds until it is computed again, how often it stepped down, and
#: what no censored y in the window is above.
Carry = tuple[float, int, int, int, float]
#: p0, coverage, N
Constants = tuple[float, float, int]


def level(p0: float, coverage: float, n: int) -> float:
    """Return what F may be at the threshold: half a standard error below p0."""
    return max(0.0, p0 - 0.5 * math.sqrt(p0 * coverage / n))


def estimate(
    values: list[float], share: float, now: float = MISS, bound: float = math.inf
) -> tuple[float, bool, float]:
    """Return the largest seen y with F(y) <= share, or the step down; whether there is one; the highest censored y.

    Between two censored y the product telescopes: of r at or below, the m highest seen ones make it (r - m)/r times
    what it was. So those above all censored ones, nearly all, are only counted, and only the others are sorted.

    Parameters
    ----------
    values
        y and whether it is seen (0), censored (1), or censored at the threshold (2), for one round after the other.
    share
        The level.
    now
        The threshold in force: where there are no lists, a step down must leave it.
    bound
        No censored y is above this; to find that out takes longest.
    """
    scores = values[::2]
    low = [i for i, y in enumerate(scores) if y <= bound]
    censored = [scores[i] for i in low if values[2 * i + 1] != _SEEN]
    censored.sort()
    highest = censored[len(censored) - 1] if len(censored) > 0 else MISS
    close = [scores[i] for i in low if values[2 * i + 1] == _SEEN and scores[i] <= highest]
    close.sort()
    n, last, level = len(scores), len(close), share + _ROUNDING
    high = n - len(censored) - last
    below, at_risk = (n - high) / n, n - high
    if below <= level:
        return _highest(values, highest, _steps(1.0, n, level)), True, highest
    for i in range(len(censored) - 1, -2, -1):
        first = last
        while first > 0 and (i < 0 or close[first - 1] >= censored[i]):  # where they tie, seen comes first
            first -= 1
        if first < last:
            if below * (at_risk - (last - first)) / at_risk <= level:
                return close[last - _steps(below, at_risk, level)], True, highest
            below *= (at_risk - (last - first)) / at_risk
            at_risk -= last - first
            last = first
        at_risk -= 1
    lowest = close[0] if len(close) > 0 else _highest(values, highest, high) if high > 0 else math.inf
    threshold = _step_down(lowest, censored)
    if threshold >= now and _is_unlisted(values, now):
        threshold = now - _reach(values, share)
    return threshold, False, highest


def _highest(values: list[float], bound: float, m: int) -> float:
    """Return the m-th highest of the seen y above a bound."""
    above = [y for y, kind in zip(values[::2], values[1::2]) if kind == _SEEN and y > bound]  # noqa: B905
    above.sort()
    return above[len(above) - m]


def _steps(below: float, at_risk: int, level: float) -> int:
    """Return the smallest m with ``below * (at_risk - m) / at_risk <= level``."""
    m = max(1, int(math.ceil(at_risk * (1.0 - level / below))))  # but for rounding  # noqa: RUF046 - numba's is a float
    while below * (at_risk - m) / at_risk > level:
        m += 1
    while m > 1 and below * (at_risk - m + 1) / at_risk <= level:
        m -= 1
    return m


def _step_down(lowest: float, censored: list[float]) -> float:
    """Return the median of the finite censored y below the lowest seen one; that one if there is none."""
    first = 0
    while first < len(censored) and censored[first] == MISS:
        first += 1
    last = first
    while last < len(censored) and censored[last] < lowest:
        last += 1
    if last == first:
        return lowest if lowest < math.inf else MISS
    middle = first + (last - first) // 2
    if (last - first) % 2 == 1:
        return censored[middle]
    return censored[middle - 1] / 2 + censored[middle] / 2  # the sum may overflow


def _is_unlisted(values: list[float], now: float) -> bool:
    """Return whether a miss without a list is censored at this threshold."""
    for i in range(0, len(values), 2):  # noqa: SIM110 - numba knows no `any`
        if values[i] == now and values[i + 1] == _UNLISTED:
            return True
    return False


def _reach(values: list[float], share: float) -> float:
    """Return how far above the lowest seen y as much of F lies as is missing below it; infinity if all are equal."""
    seen = [y for y, kind in zip(values[::2], values[1::2]) if kind == _SEEN]  # noqa: B905
    if len(seen) == 0:
        return math.inf
    censored = [y for y, kind in zip(values[::2], values[1::2]) if kind != _SEEN]  # noqa: B905
    seen.sort()
    censored.sort()
    below, at_risk, above = 1.0, len(values) // 2, len(censored)
    estimates = [1.0 for _ in seen]  # F at each of them
    for i in range(len(seen) - 1, -1, -1):
        while above > 0 and censored[above - 1] > seen[i]:
            above -= 1
            at_risk -= 1
        below *= 1.0 - 1.0 / at_risk
        at_risk -= 1
        estimates[i] = below
    target, i = 2 * estimates[0] - share, 0
    while i < len(seen) - 1 and estimates[i] < target:
        i += 1
    return seen[i] - seen[0] if seen[i] > seen[0] else math.inf


def settle(carry: Carry, values: list[float], constants: Constants) -> Carry:
    """Compute the threshold from the window."""
    threshold, count, _, steps, bound = carry
    p0, coverage, _ = constants
    n = len(values) // 2
    if n < FIRST:
        return threshold, count, FIRST - n, steps, bound
    threshold, identified, bound = estimate(values, level(p0, coverage, n), threshold, bound)
    return threshold, count, max(1, n // _PARTS), steps if identified else steps + 1, bound


def enter(carry: Carry, values: list[float], constants: Constants, y: float, censored: float) -> Carry:
    """Add a round to the window, in place of the oldest if it is full."""
    threshold, count, wait, steps, bound = carry
    _, _, window = constants
    if censored != _SEEN:
        bound = max(bound, y)
    if len(values) < 2 * window:
        values.append(y)
        values.append(censored)
    else:
        slot = 2 * (count % window)
        values[slot] = y
        values[slot + 1] = censored
    carry = (threshold, count + 1, wait - 1, steps, bound)
    return carry if wait > 1 else settle(carry, values, constants)


def step(carry: Carry, values: list[float], constants: Constants, seen: float, _missed: bool) -> Carry:
    """Take one round at the current threshold: a miss is censored there."""
    if seen == MISS:
        return enter(carry, values, constants, carry[0], _UNLISTED)
    return enter(carry, values, constants, seen, _SEEN)


def _compact(values: list[float]) -> Any:
    """Return numbers as an array, which is read and changed like a list: 8 bytes for each instead of 32."""
    return array("d", values)


@dataclass(slots=True)
class ProductLimitState(OrderedState):
    """The state of the product-limit rule, with its open rounds."""

    #: The bound of each round that was shown and has not entered the window, in order.
    bounds: list[float] = field(default_factory=list)
    #: Rounds in the window whose answer may still arrive: index -> which round it was to enter.
    late: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = _compact(self.values)

    @property
    def rounds(self) -> int:
        """The number of rounds that have entered."""
        count: int = self.carry[1]
        return count

    @property
    def pending(self) -> int:
        """Rounds that have entered and whose answer may still arrive."""
        return len(self.late)

    @property
    def wait(self) -> int:
        """The rounds that enter before the threshold is computed again."""
        wait: int = self.carry[2]
        return wait

    @property
    def unidentified(self) -> int:
        """How often F was not identified at its level, and the threshold stepped down."""
        steps: int = self.carry[3]
        return steps


@dataclass(frozen=True)
class ProductLimit(Ordered):
    """The product-limit estimate of the threshold: short lists from the first one on.

    Rule and cost are those of the module, `shortlist.policies.product_limit`. By itself it guarantees nothing; in a
    lister, which refuses it without an error budget, that budget bounds the misses under any distribution shift.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    window
        N, the number of rounds that the estimate uses: the latest ones.

    Examples
    --------
    >>> policy = ProductLimit(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 3)
    0.088

    References
    ----------
    Kaplan and Meier, Nonparametric Estimation from Incomplete Observations, Journal of the American Statistical
    Association 1958.
    """

    key: ClassVar[str] = "product-limit"
    rule = staticmethod(step)
    state_type: ClassVar[type[State]] = ProductLimitState
    coverage: float
    window: int = 1000

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        object.__setattr__(self, "window", check_count("window", self.window, least=FIRST))

    def init(self, share: float = 1.0) -> ProductLimitState:
        """Return a fresh state.

        Parameters
        ----------
        share
            Not used: there is no delta.

        Returns
        -------
        ProductLimitState
            The state before the first round.
        """
        constants = (float(miss_rate(self.coverage)), self.coverage, self.window)
        return ProductLimitState((-math.inf, 0, FIRST, 0, -math.inf), [], constants, share=share)

    def update(self, state: State, score: float | None) -> None:
        """Take a round with a prompt answer; a miss is censored at the threshold.

        Parameters
        ----------
        state
            The state, changed in place.
        score
            The true label's score, or None for a miss; one below the threshold counts as a miss.

        Raises
        ------
        InvalidParameter
            If rounds are open: they are answered by their names.
        """
        assert isinstance(state, ProductLimitState)  # noqa: S101 - for the type checker
        if state.passed < state.shown:
            raise InvalidParameter(f"{state.shown - state.passed} rounds are open: answer them by name instead")
        state.shown = state.passed = state.shown + 1
        super().update(state, score)

    def take(self, state: State, score: float | None, bound: float) -> None:
        """Take the answer of a round, whatever the threshold is now.

        Parameters
        ----------
        state
            The state, changed in place.
        score
            The true label's score, or None for a miss.
        bound
            What a miss is censored at.
        """
        self._add(state, score, bound)

    def _add(self, state: State, score: float | None, bound: float) -> None:
        y, censored = (bound, _CENSORED) if score is None or score == MISS else (score + 0.0, _SEEN)
        state.carry = enter(state.carry, state.values, state.constants, y, censored)

    def show(
        self, state: ProductLimitState, name: Hashable, bound: float | None = None, epoch: int | None = None
    ) -> None:
        """Open a round; `bound` is the score of its best candidate that was not shown, -inf if all were.

        Parameters
        ----------
        state
            The state, changed in place.
        name
            The round's name, not used by another open round.
        bound
            What a miss is censored at; by default the threshold in force.
        epoch
            The epoch it was cut in; by default the current one.
        """
        bound = state.threshold if bound is None else bound
        super().show(state, name, bound, epoch)
        if epoch is None or epoch == state.epoch:
            state.bounds.append(bound)

    def lower(self, state: ProductLimitState, name: Hashable, bound: float) -> None:
        """Lower the bound of an open round: more of its list was shown.

        Parameters
        ----------
        state
            The state, changed in place.
        name
            The round.
        bound
            Its bound from now on.
        """
        epoch, index, _ = state.open[name]
        state.open[name] = epoch, index, bound
        if epoch != state.epoch:
            return
        if index >= state.passed:
            state.bounds[index - state.passed] = bound
        elif index in state.late:
            self._put(state, state.late[index], bound, _CENSORED)

    def _judge(self, score: float | None, bound: float) -> float:  # noqa: ARG002 - a score that was seen is known
        """Return the score of what was picked, or MISS."""
        return MISS if score is None else score

    def _enter(self, state: ProductLimitState, index: int, seen: float | None) -> None:
        """Add a round to the window; without an answer it is censored until that arrives."""
        if seen is None:
            state.late[index] = state.rounds
        self._add(state, seen, state.bounds.pop(0))

    def _correct(self, state: ProductLimitState, index: int, seen: float) -> None:
        """Take the answer of a round that entered without one; a miss is censored already."""
        number = state.late.pop(index, None)
        if seen != MISS and number is not None:
            self._put(state, number, seen + 0.0, _SEEN)

    def _put(self, state: ProductLimitState, number: int, y: float, censored: float) -> None:
        """Change a round, by its number, if it is still in the window."""
        if state.rounds - number > self.window:
            return
        slot = 2 * (number % self.window)
        state.values[slot], state.values[slot + 1] = y, censored
        threshold, count, wait, steps, bound = state.carry
        state.carry = threshold, count, wait - 1, steps, max(bound, y) if censored else bound
        if wait <= 1:
            state.carry = settle(state.carry, state.values, state.constants)

    def _leave(self, state: ProductLimitState) -> None:
        """Pass over a round that was withdrawn."""
        state.bounds.pop(0)

    def fill(self, state: ProductLimitState, values: list[float], held: Iterable[tuple[int, Hashable]] = ()) -> None:
        """Put other rounds in place of the window: the same ones by another score.

        Rounds that are open enter no more; those in the window may still be answered.

        Parameters
        ----------
        state
            The state, changed in place.
        values
            y and whether it is seen (0) or censored (1), for one round after the other.
        held
            Which of these rounds are open: their place, and their name.
        """
        first = max(0, len(values) // 2 - self.window)
        state.values = _compact(values[2 * first :])
        count = len(state.values) // 2
        state.waiting, state.silent, state.late = {}, set(), {}
        state.bounds = []
        state.passed = state.shown
        for slot, name in held:
            epoch, index, _ = state.open.get(name, (-1, 0, 0.0))
            if epoch == state.epoch and slot >= first:
                state.late[index] = slot - first
        # Any bound will do for numbers of which nothing is known.
        state.carry = settle((-math.inf, count, 1, state.unidentified, math.inf), state.values, state.constants)

    def restart(self, state: Any, share: float) -> None:
        """Start a new epoch with an empty window.

        Parameters
        ----------
        state
            The state, changed in place.
        share
            Not used: there is no delta.
        """
        super().restart(state, share)
        state.bounds = []
        state.late = {}
