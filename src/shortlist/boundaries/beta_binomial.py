"""The horizon-free boundary."""

from dataclasses import dataclass

from shortlist._validation import check_delta, check_number, miss_rate
from shortlist.boundaries.base import Boundary, Constants, Memory
from shortlist.errors import InvalidParameter

__all__ = ["BetaBinomial", "mixture"]


def mixture(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance the mixture martingale: `first` is e at (n, k + 1).

    It is updated by multiplication: exact to 2e-11 at 10^6 rounds, where recomputing it from lgamma is off by
    3e-9; it stays near the bar, so nothing overflows.
    """
    a, b, coverage, p0, bar = constants
    first *= (b + (n - k - 1.0)) / ((a + b + n) * coverage)  # in this order: a tiny b must not be lost
    if first >= bar:
        k += 1
        first *= (a + k) * coverage / ((b + (n - k)) * p0)
    return k, first, second


@dataclass(frozen=True)
class BetaBinomial(Boundary):
    r"""The horizon-free boundary: k moves up where a mixture martingale has reached 1/delta.

    With the prior Beta(a, b) on the miss rate,

    $$e(n, k) = \frac{B(a + k, b + n - k)}{B(a, b)\, p_0^k\, c^{n-k}}$$

    is, when misses occur at rate p0, a non-negative martingale that starts at 1, so the probability that it
    ever reaches 1/delta is at most delta (Ville). k_n is the largest k with e(n, j) >= 1/delta for
    all j <= k: so few low scores among n rounds cannot be explained by chance. Guarantee: 1 - delta,
    uniformly over time.

    Parameters
    ----------
    delta
        Probability of ever allowing too much.
    relative_mean
        The prior's mean a/(a + b) as a share of p0, in (0, 1]. More than 1 would bet on the wrong
        side, and the recursion would no longer be stable.
    weight
        a + b, the prior's weight in rounds.

    Notes
    -----
    The defaults were chosen on a grid of coverages 0.5 to 0.99, horizons 10^3 to 10^6 and deltas
    2/T and 0.05: regret is within 6 % of the best prior of the grid for coverages 0.8 to 0.95, and
    at worst 14 % above it (coverage 0.5, 10^6 rounds, delta 0.05).

    Examples
    --------
    >>> BetaBinomial(delta=0.05).limits(coverage=0.9, rounds=71)[-2:].tolist()
    [-1, 0]
    """

    advance = staticmethod(mixture)
    delta: float
    relative_mean: float = 0.8
    weight: float = 100.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_delta(self.delta))
        relative_mean = check_number("relative_mean", self.relative_mean, "in (0, 1]", above=0.0)
        if relative_mean > 1.0:
            raise InvalidParameter(
                f"relative_mean is {self.relative_mean}; it must be in (0, 1]: "
                "a prior that expects more misses than allowed bets on the wrong side"
            )
        object.__setattr__(self, "relative_mean", relative_mean)
        object.__setattr__(self, "weight", check_number("weight", self.weight, "above 0", above=0.0))

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return a, b, coverage, p0 and the bar 1/delta.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.
        share
            The share of delta to use.

        Returns
        -------
        Constants
            The constants, padded with zeros.
        """
        p0 = float(miss_rate(coverage))
        a = self.relative_mean * p0 * self.weight
        return a, self.weight - a, coverage, p0, 1.0 / (self.delta * share)

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - e is 1 at every coverage
        """Return e(0, 0) = 1.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.

        Returns
        -------
        Memory
            The boundary's memory.
        """
        return 1.0, 0.0
