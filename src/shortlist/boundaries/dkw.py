"""The paper's boundary."""

import math
from dataclasses import dataclass

from shortlist._validation import check_count, miss_rate
from shortlist.boundaries.base import Boundary, Constants

__all__ = ["DKW", "band"]


def band(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance the Dvoretzky-Kiefer-Wolfowitz band."""
    p0, log_term, horizon, _, _ = constants
    if n < horizon:
        k = max(k, math.floor((n + 1) * p0 - math.sqrt((n + 1) * log_term)))
    return k, first, second


@dataclass(frozen=True)
class DKW(Boundary):
    r"""The paper's boundary: the Dvoretzky-Kiefer-Wolfowitz band, with a union bound over rounds.

    $$k_n = \max(-1, \lfloor n p_0 - \sqrt{n \log T} \rfloor)$$

    which is ``n (1 - alpha - epsilon_n)`` of Algorithm 1 with ``epsilon_n = sqrt(log(2/delta)/(2n))``
    and ``delta = 2/T^2``. Frozen after round T. Guarantee: 1 - 2/T.

    Parameters
    ----------
    horizon
        T, the planned number of rounds.

    Examples
    --------
    >>> DKW(horizon=10_000).limits(coverage=0.9, rounds=922)[-2:].tolist()
    [-1, 0]

    References
    ----------
    Ge, Bastani and Bastani, Stochastic Online Conformal Prediction with Semi-Bandit Feedback,
    ICML 2025, equation (4).
    """

    advance = staticmethod(band)
    horizon: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizon", check_count("horizon", self.horizon))

    @property
    def last(self) -> float:
        """The last round in which k can change."""
        return float(self.horizon)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return p0, log T (larger for a smaller share of delta) and T: see `Boundary.constants`."""
        log_term = math.log(self.horizon) - math.log(share) / 2
        return float(miss_rate(coverage)), log_term, float(self.horizon), 0.0, 0.0
