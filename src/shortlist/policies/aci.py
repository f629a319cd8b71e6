"""ACI: adaptive conformal inference, quantile form, on hits only."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from shortlist._validation import check_number, check_probability, miss_rate
from shortlist.errors import InvalidParameter
from shortlist.policies.base import MISS, Policy, State

__all__ = ["ACI"]

_LEVELS: Final = ("open", "clipped", "hits")
_CLIPPED, _HITS = 1, 2


def insert(values: list[float], value: float) -> None:
    """Insert `value` into a sorted list, after its equals; numba does not support bisect."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if value < values[middle]:
            high = middle
        else:
            low = middle + 1
    values.insert(low, value)


def step(
    carry: tuple[float, float], hits: list[float], constants: tuple[float, float, int], seen: float, missed: bool
) -> tuple[float, float]:
    """Move the level up a little after a hit, down a lot after a miss; read off its quantile."""
    _, beta = carry
    p0, step_size, levels = constants
    if levels != _HITS or not missed:
        beta += step_size * (p0 - (1.0 if missed else 0.0))
    if levels == _CLIPPED:
        beta = min(max(beta, 0.0), 1.0)
    if seen != MISS:
        insert(hits, seen)
    n = len(hits)
    if n == 0 or (beta <= 0.0 and levels != _CLIPPED):
        return -math.inf, beta
    if beta >= 1.0 and levels != _CLIPPED:
        return math.inf, beta
    return hits[min(math.floor(n * beta), n - 1)], beta


@dataclass(frozen=True)
class ACI(Policy):
    r"""Adaptive Conformal Inference under semi-bandit feedback, as in the paper's experiments.

    Keep a level beta, starting at 1 - coverage; raise it after a hit, lower it after a miss,
    and cut at that quantile of the hits:

    $$\beta_{t+1} = \beta_t + \gamma\,((1 - \alpha) - \mathbb{1}[\text{miss}]), \qquad
    \tau_{t+1} = \text{element } \lfloor n \beta_{t+1} \rfloor \text{ of the } n
    \text{ sorted hits}$$

    with -inf while there are no hits. The paper does not say what happens at the ends, and it decides how ACI fares
    here, so it is a setting:

    - ``levels="open"``: the threshold is -inf for beta <= 0 and +inf for beta >= 1, as Gibbs and Candès define it;
    - ``levels="clipped"``: beta stays in [0, 1], so the threshold stays between the lowest and the highest hit. A
      score below the lowest hit is never seen again, and the threshold only drifts up;
    - ``levels="hits"``: as open, but beta is updated on hits only, so it never falls.

    With open levels it guarantees that the long-run share of misses tends to 1 - coverage, for any sequence of
    scores; it does so by alternating between lists that are too long and too short. The other two guarantee nothing.
    The quantile is of the hits only, and is biased upward. Cost: one insertion into a sorted list per round, a
    microsecond or two up to 10^5 rounds, growing with n beyond that.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    step
        The step size, gamma in the paper: how far one answer moves the level.
    levels
        ``"open"``, ``"clipped"`` or ``"hits"``.

    Examples
    --------
    >>> policy = ACI(coverage=0.9, step=0.01)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 7 % 1000) / 1000)
    >>> state.threshold
    0.222

    References
    ----------
    Gibbs and Candès, Adaptive Conformal Inference Under Distribution Shift, NeurIPS 2021, as used in
    Ge, Bastani and Bastani, ICML 2025, Section 5.1.
    """

    key: ClassVar[str] = "aci"
    rule = staticmethod(step)
    coverage: float
    step: float
    levels: str = "open"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        object.__setattr__(self, "step", check_number("step", self.step, "a number above 0", above=0.0))
        if self.levels not in _LEVELS:
            raise InvalidParameter(f"levels is {self.levels!r}; it must be one of {', '.join(_LEVELS)}")

    def init(self) -> State:
        """Return a fresh state: no hits, everything is shown.

        Returns
        -------
        State
            The state before the first round.
        """
        p0 = float(miss_rate(self.coverage))
        return State((-math.inf, p0), [], (p0, self.step, _LEVELS.index(self.levels)))
