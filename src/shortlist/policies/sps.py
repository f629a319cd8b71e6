"""SPS, the paper's algorithm: the order-statistic rule over the DKW boundary."""

from dataclasses import dataclass, field
from typing import ClassVar

from shortlist.boundaries import DKW, Boundary
from shortlist.policies.order_statistic import OrderStatistic

__all__ = ["SPS"]


@dataclass(frozen=True)
class SPS(OrderStatistic):
    r"""Semi-bandit Prediction Sets, Algorithm 1 of the paper, bit for bit.

    Raise the threshold to the largest value whose empirical share of lower scores, plus a
    Dvoretzky-Kiefer-Wolfowitz band, is still at most 1 - coverage; never lower it:

    $$\tau_{t+1} = \max\{\tau_t,\; \sup\{\tau : G_t(\tau) + \sqrt{\log T / t} \le 1 - \alpha\}\}$$

    (the paper's alpha is the coverage). Misses count as below the threshold.

    Guarantees, for i.i.d. scores, that the threshold never passes the optimal one in T rounds, with
    probability at least 1 - 2/T. It is frozen after round T. Cost: O(log T) per round.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list.
    horizon
        T, the planned number of rounds.
    window
        As in `OrderStatistic`.

    Examples
    --------
    >>> policy = SPS(coverage=0.9, horizon=1000)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 7 % 1000) / 1000)
    >>> state.threshold
    0.016

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, Algorithm 1.
    """

    key: ClassVar[str] = "sps"
    boundary: Boundary = field(init=False, repr=False)
    horizon: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "boundary", DKW(self.horizon))
        object.__setattr__(self, "horizon", self.boundary.horizon)  # type: ignore[attr-defined]
        super().__post_init__()
