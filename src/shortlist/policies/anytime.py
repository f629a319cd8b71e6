"""AnytimeSPS: the order-statistic rule over the beta-binomial boundary."""

from dataclasses import dataclass, field
from typing import ClassVar

from shortlist.boundaries import BetaBinomial, Boundary
from shortlist.policies.order_statistic import OrderStatistic

__all__ = ["AnytimeSPS"]


@dataclass(frozen=True)
class AnytimeSPS(OrderStatistic):
    """SPS without a horizon, and with less regret at the same guarantee.

    Regret is less than half that of SPS at coverages from 0.9 to 0.98 and 10,000 rounds or more.

    SPS bounds the whole distribution of scores, round by round, with a union bound over rounds.
    But only one point of it matters (the optimal threshold), and a martingale bound holds for all
    rounds at once: allow k low scores among n where the mixture martingale of
    `shortlist.boundaries.BetaBinomial` has reached 1/delta.

    Guarantees, for i.i.d. scores, that the threshold never passes the optimal one, in any number of
    rounds, with probability at least 1 - delta. Cost: O(log n) per round.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list.
    delta
        The probability that the threshold may ever pass the optimal one.
    window
        As in `OrderStatistic`.

    Examples
    --------
    >>> policy = AnytimeSPS(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 7 % 1000) / 1000)
    >>> state.threshold
    0.068

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, for the rule; Robbins, Statistical Methods Related to the Law of the Iterated
    Logarithm, Annals of Mathematical Statistics 1970, for the mixture.
    """

    key: ClassVar[str] = "anytime"
    boundary: Boundary = field(init=False, repr=False)
    delta: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "boundary", BetaBinomial(self.delta))
        object.__setattr__(self, "delta", self.boundary.delta)  # type: ignore[attr-defined]
        super().__post_init__()
