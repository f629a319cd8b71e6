"""The exact probability that a random walk ever falls to a boundary or below it."""

import math

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import miss_rate
from shortlist.boundaries.base import Boundary
from shortlist.errors import InvalidParameter

__all__ = ["crossing", "crossing_probability"]


def crossing(limits: NDArray[np.int64], coverage: float) -> float:
    """Return P(there is an n with N_n <= limits[n - 1]) for steps of probability 1 - coverage.

    The distribution of N_n is pushed forward, and the mass at or below k_n is absorbed. Only rounds
    in which k rises can absorb anything, so the walk moves from one such round to the next in one
    convolution: T p0 convolutions over O(sqrt T) states. All terms are positive and summed directly,
    so 1e-55 is computed with as many digits as 0.05. States more than ten standard
    deviations above the mean are dropped: they cross later less often than the rest, so the relative
    error is below 1e-20.

    >>> crossing(np.array([-1, 0]), coverage=0.5)  # two rounds without a low score
    0.25
    """
    p0, rounds = float(miss_rate(coverage)), limits.size
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, rounds + 2)))])

    def highest(n: int) -> int:
        return min(n, math.ceil(n * p0 + 10 * math.sqrt(n * p0 * coverage) + 30))

    alive = np.ones(1)  # alive[j]: probability of N_n = lowest + j and no crossing so far
    lowest = crossed_at = 0
    absorbed = 0.0
    steps: dict[int, NDArray[np.float64]] = {}
    for n in (np.flatnonzero(np.diff(limits, prepend=-1)) + 1).tolist():
        gap = n - crossed_at
        if gap not in steps:
            j = np.arange(highest(gap) + 1)
            log_choose = log_factorial[gap] - log_factorial[j] - log_factorial[gap - j]
            steps[gap] = np.exp(log_choose + j * math.log(p0) + (gap - j) * math.log(coverage))
        alive = np.convolve(alive, steps[gap])[: max(highest(n) - lowest + 1, 0)]
        fallen = int(limits[n - 1]) + 1 - lowest
        absorbed += float(alive[:fallen].sum())
        alive = alive[fallen:]
        lowest += fallen
        crossed_at = n
        if alive.size == 0:  # everything has crossed
            break
    return min(absorbed, 1.0)


def crossing_probability(boundary: Boundary, coverage: float, rounds: int) -> float:
    """Return the exact probability that a walk of low scores is ever at or below the boundary.

    This bounds, for every distribution of scores, the probability that an order-statistic policy
    over this boundary ever raises its threshold past the optimal one; for scores without ties it
    *is* that probability.

    10^5 rounds take well under a second.

    Parameters
    ----------
    boundary
        The boundary.
    coverage
        The coverage at which it is used; low scores occur with probability 1 - coverage.
    rounds
        The number of rounds.

    Returns
    -------
    float
        The probability, exact to floating-point accuracy.

    Raises
    ------
    InvalidParameter
        If `boundary` is not a boundary, or `coverage` or `rounds` is out of range.

    Examples
    --------
    >>> from shortlist import DKW
    >>> f"{crossing_probability(DKW(10_000), coverage=0.9, rounds=10_000):.2e}"
    '1.54e-25'
    """
    if not isinstance(boundary, Boundary):
        raise InvalidParameter(
            f"boundary is {boundary!r}; it must be a boundary, for example BetaBinomial(delta=0.05), or policy.boundary"
        )
    return crossing(boundary.limits(coverage, rounds), coverage)
