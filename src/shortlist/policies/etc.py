"""Explore, then commit: the order-statistic rule over a boundary that is fixed once."""

from dataclasses import dataclass, field
from typing import ClassVar

from shortlist._validation import check_count
from shortlist.boundaries import DKW, Boundary, Held, Quantile
from shortlist.policies.order_statistic import OrderStatistic

__all__ = ["ConservativeETC", "ExploreThenCommit"]


@dataclass(frozen=True)
class ExploreThenCommit(OrderStatistic):
    r"""Show everything for m rounds, then use their empirical quantile from then on (ETC).

    $$\tau = \sup\{\tau : G_m(\tau) \le 1 - \alpha\}$$

    Guarantees nothing: about half of all runs commit to a threshold that is too high, and never
    notice. Cost: O(log m) per round.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    explore
        m, the number of rounds in which everything is shown.
    window
        As in `OrderStatistic`.

    Examples
    --------
    >>> policy = ExploreThenCommit(coverage=0.9, explore=100)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 7 % 100) / 100)
    >>> state.threshold
    0.1

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, Appendix A.
    """

    key: ClassVar[str] = "etc"
    boundary: Boundary = field(init=False, repr=False)
    explore: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "explore", check_count("explore", self.explore))
        object.__setattr__(self, "boundary", Held(self._decides(), self.explore))
        super().__post_init__()

    def _decides(self) -> Boundary:
        return Quantile()


@dataclass(frozen=True)
class ConservativeETC(ExploreThenCommit):
    r"""Show everything for m rounds, then use their lower confidence bound from then on (Con-ETC).

    $$\tau = \sup\{\tau : G_m(\tau) + \sqrt{\log T / m} \le 1 - \alpha\}$$

    Guarantees, for i.i.d. scores, that the threshold never passes the optimal one, with probability at
    least 1 - 2/T^2 (there is only one band, so no union bound is needed). It never improves after round m.
    Cost: O(log m) per round.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list.
    explore
        m, the number of rounds in which everything is shown.
    horizon
        T, the planned number of rounds.
    window
        As in `OrderStatistic`.

    Examples
    --------
    >>> policy = ConservativeETC(coverage=0.9, explore=4000, horizon=10_000)
    >>> state = policy.init()
    >>> for i in range(5000):
    ...     policy.update(state, score=(i * 7 % 1000) / 1000)
    >>> state.threshold
    0.052

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, Appendix A.
    """

    key: ClassVar[str] = "conservative-etc"
    horizon: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", check_count("horizon", self.horizon))
        super().__post_init__()

    def _decides(self) -> Boundary:
        return DKW(self.horizon)
