"""The empirical quantile."""

from dataclasses import dataclass

from shortlist._validation import miss_rate
from shortlist.boundaries.base import Boundary, Constants, Memory

__all__ = ["Quantile", "quantile"]


def quantile(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:  # noqa: ARG001
    """Advance floor(n p0): `first` is the remainder of n * numerator by the denominator, exact in floats."""
    numerator, denominator, _, _, _ = constants
    first += numerator
    if first >= denominator:
        first -= denominator
        k += 1
    return k, first, second


@dataclass(frozen=True)
class Quantile(Boundary):
    """floor(n p0): the empirical quantile, with no allowance for chance and so no guarantee.

    Examples
    --------
    >>> Quantile().limits(coverage=0.9, rounds=20)[[8, 9, 18, 19]].tolist()
    [0, 1, 1, 2]
    """

    advance = staticmethod(quantile)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:  # noqa: ARG002 - spends nothing
        """Return numerator and denominator of p0.

        Below 2^52 their sums are exact in floats; a larger denominator is replaced by the nearest
        fraction with a smaller one, which changes no floor before 10^15 rounds.

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
        p0 = miss_rate(coverage).limit_denominator(2**52)
        return float(p0.numerator), float(p0.denominator), 0.0, 0.0, 0.0

    def start(self, coverage: float) -> Memory:
        """Return a remainder so large that the first round raises k from -1 to 0: see `Boundary.start`."""
        return self.constants(coverage)[1], 0.0
