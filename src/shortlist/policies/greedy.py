"""Greedy: the empirical quantile of the hits, as if misses did not exist."""

import math
from dataclasses import dataclass
from typing import ClassVar

from shortlist._validation import check_probability, miss_rate
from shortlist.boundaries import Quantile
from shortlist.boundaries.empirical_quantile import quantile
from shortlist.policies.base import Policy, State
from shortlist.policies.order_statistic import Constants, Tally, count, keep

__all__ = ["Greedy"]


def step(carry: Tally, heap: list[float], constants: Constants, seen: float, missed: bool) -> Tally:
    """Count a hit; forget a miss."""
    if missed:
        return carry
    carry, concerns = count(quantile, carry, constants, seen)
    return keep(carry, heap, constants, seen, missed) if concerns else carry


@dataclass(frozen=True)
class Greedy(Policy):
    r"""The empirical quantile of the hits alone.

    $$\tau_{t+1} = \sup\{\tau : G_t(\tau) \le 1 - \alpha\}$$

    with G_t over the hits so far: the (floor(n p0) + 1)-th smallest of n hits. Misses are below
    the threshold and never seen again, so each quantile is taken of what the last one let
    through, and the threshold rises without end.

    Guarantees nothing; it is included because it is the obvious thing to do. Cost: O(log n) per round, and memory
    for nine tenths of the hits (at coverage 0.9).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.

    Examples
    --------
    >>> policy = Greedy(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 7 % 1000) / 1000)
    >>> state.threshold
    0.23

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, Section 5.1.
    """

    key: ClassVar[str] = "greedy"
    rule = staticmethod(step)
    coverage: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))

    def init(self) -> State:
        """Return a fresh state: no hits, everything is shown.

        Returns
        -------
        State
            The state before the first round.
        """
        boundary, p0 = Quantile(), float(miss_rate(self.coverage))
        first, second = boundary.start(self.coverage)
        carry = (-math.inf, 0, -1, first, second, 0, math.inf, 0)
        constants = (p0, self.coverage, False, boundary.constants(self.coverage), boundary.last)
        return State(carry, [], constants)
