"""The exact binomial bound of each round, united over the rounds, or with its level raised until delta is spent."""

import functools
import math
from dataclasses import dataclass

from shortlist._validation import check_count, check_delta, miss_rate
from shortlist.boundaries.base import Boundary, Constants, Memory, as_array, walk_limits
from shortlist.boundaries.crossing import crossing

__all__ = ["Binomial", "Calibrated", "binomial"]


def binomial(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance the binomial tail: `first` is P(Bin(n, p0) = k + 1), `second` P(Bin(n, p0) <= k + 1)."""
    p0, coverage, level, horizon, _ = constants
    if n < horizon:
        second -= p0 * first
        first *= (n + 1) * coverage / (n - k)
        if k < 0:
            second = first  # the same event; the difference above would keep an error of 1e-16
        if second <= level:
            k += 1
            first *= (n + 1 - k) * p0 / ((k + 1) * coverage)
            second += first
    return k, first, second


@dataclass(frozen=True)
class Binomial(Boundary):
    """Each round's exact binomial bound at delta/T, united over the rounds.

    k_n is the largest k with ``P(Bin(n, p0) <= k) <= delta/T``. Frozen after round T.
    Promise: 1 - delta.

    Parameters
    ----------
    delta
        Probability of ever allowing too much.
    horizon
        T, the number of rounds that is planned for.

    Examples
    --------
    >>> Binomial(delta=0.05, horizon=1000).limits(coverage=0.9, rounds=94)[-2:].tolist()
    [-1, 0]
    """

    advance = staticmethod(binomial)
    delta: float
    horizon: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_delta(self.delta))
        object.__setattr__(self, "horizon", check_count("horizon", self.horizon))

    @property
    def last(self) -> float:
        """The round after which k stands still."""
        return float(self.horizon)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return p0, coverage, the level that is spent on each round, and T."""
        return _binomial_constants(coverage, self.delta * share / self.horizon, self.horizon)

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - Bin(0, p0) is 0
        """Return P(Bin(0, p0) = 0) and P(Bin(0, p0) <= 0)."""
        return 1.0, 1.0


@dataclass(frozen=True)
class Calibrated(Binomial):
    """The binomial boundary with its level raised until delta is spent.

    A union bound wastes most of its budget, because the rounds' events overlap. Here the level of
    each round is raised, on a grid of steps of 0.05 %, to the highest one whose exact crossing
    probability (`crossing_probability`) is still at most delta. Frozen after round T.
    Promise: 1 - delta, with nothing wasted but what the integers of k leave (much, if a few rounds
    are all there is).

    Parameters
    ----------
    delta
        Probability of ever allowing too much.
    horizon
        T, the number of rounds that is planned for.

    Notes
    -----
    The search runs once for each (delta, horizon, coverage) and is remembered: well under a
    second at 10^4 rounds, a few seconds at 10^5, a minute at 10^6.

    Examples
    --------
    >>> from shortlist import crossing_probability
    >>> f"{crossing_probability(Calibrated(delta=0.05, horizon=1000), coverage=0.9, rounds=1000):.3f}"
    '0.050'
    """

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return p0, coverage, the level at which the rounds together spend delta, and T."""
        level = _calibrated_level(self.delta * share, self.horizon, coverage)
        return _binomial_constants(coverage, level, self.horizon)


def _binomial_constants(coverage: float, level: float, horizon: int) -> Constants:
    # The level is shaved by more than the walk's rounding errors (2e-9 at 10^8 rounds), so that it is never exceeded.
    return float(miss_rate(coverage)), coverage, level * (1 - 1e-8), float(horizon), 0.0


@functools.lru_cache(maxsize=256)
def _calibrated_level(delta: float, horizon: int, coverage: float) -> float:
    """Bisect for the highest grid level whose crossing probability is at most delta.

    The grid makes the result the same on every machine: a level found to the last bit would depend
    on how a platform rounds exp and log. The search begins at the union bound, which is within
    budget, and ends at delta: a round in which a larger level allowed more would break the budget
    on its own.
    """
    steps = 2000  # grid points for a factor of e

    def level(index: int) -> float:
        return delta / horizon * math.exp(index / steps)

    def within_budget(index: int) -> bool:
        constants = _binomial_constants(coverage, level(index), horizon)
        limits = as_array(walk_limits(binomial, constants, (1.0, 1.0)), horizon)
        return crossing(limits, coverage) <= delta

    within, beyond = 0, math.ceil(steps * math.log(horizon)) + 1
    while beyond - within > 1:
        middle = (within + beyond) // 2
        if within_budget(middle):
            within = middle
        else:
            beyond = middle
    return level(within)
