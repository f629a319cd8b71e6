"""How many low scores n rounds allow.

A *boundary* is a non-decreasing integer sequence k_1 <= k_2 <= ..., with -1 for "not yet". An
order-statistic policy may raise its threshold to the (k_n + 1)-th smallest of the n scores seen so
far. Let N_n be a walk of n Bernoulli(1 - coverage) steps. The **safety lemma** says that, for every
distribution of scores, with ties or without,

    P(the threshold ever passes the optimal one) <= P(there is an n with N_n <= k_n),

and `crossing_probability` computes the right-hand side exactly, without simulation.

| boundary | k_n | horizon | promise |
|---|---|---|---|
| `DKW` | floor(n p0 - sqrt(n log T)), the paper's | yes | 1 - 2/T |
| `BetaBinomial` | where a mixture martingale reaches 1/delta | no | 1 - delta |
| `Binomial` | largest k with P(Bin(n, p0) <= k) <= delta/T | yes | 1 - delta |
| `Calibrated` | the same with the level raised until delta is spent | yes | 1 - delta |
| `Quantile` | floor(n p0): the empirical quantile | no | none |
| `Held` | -1 until a given round, then another's for ever | no | the other's |

Here p0 = 1 - coverage. A boundary is walked in O(1) a round by a plain function over numbers, its
`advance` (they are in `shortlist.limits`): streaming calls it as it is, replay compiles it.
"""

import functools
import itertools
import math
from dataclasses import dataclass

from shortlist.crossing import crossing
from shortlist.errors import InvalidParameter
from shortlist.limits import (
    Boundary,
    Constants,
    Memory,
    as_array,
    band,
    binomial,
    held,
    mixture,
    quantile,
    walk_limits,
)
from shortlist.parameters import check_count, check_delta, check_number, miss_rate

__all__ = [
    "DKW",
    "BetaBinomial",
    "Binomial",
    "Boundary",
    "Calibrated",
    "Held",
    "Quantile",
    "crossing_probability",
]


@dataclass(frozen=True)
class DKW(Boundary):
    r"""The paper's boundary: the Dvoretzky-Kiefer-Wolfowitz band, united over the rounds.

    $$k_n = \max(-1, \lfloor n p_0 - \sqrt{n \log T} \rfloor)$$

    which is ``n (1 - alpha - epsilon_n)`` of Algorithm 1 with ``epsilon_n = sqrt(log(2/delta)/(2n))``
    and ``delta = 2/T^2``. Frozen after round T. Promise: 1 - 2/T.

    Parameters
    ----------
    horizon
        T, the number of rounds that is planned for.

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
        """The round after which k stands still."""
        return float(self.horizon)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return p0, log T (more of it for a smaller share of delta) and T."""
        log_term = math.log(self.horizon) - math.log(share) / 2
        return float(miss_rate(coverage)), log_term, float(self.horizon), 0.0, 0.0

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - nothing to remember
        """Return two unused numbers."""
        return 0.0, 0.0


@dataclass(frozen=True)
class BetaBinomial(Boundary):
    r"""The horizon-free boundary: k moves up where a mixture martingale has reached 1/delta.

    With the prior Beta(a, b) on the miss rate,

    $$e(n, k) = \frac{B(a + k, b + n - k)}{B(a, b)\, p_0^k\, c^{n-k}}$$

    is a non-negative martingale that starts at 1 when misses come at rate p0, so it ever reaches
    1/delta with probability at most delta (Ville). k_n is the largest k with e(n, j) >= 1/delta for
    all j <= k: so few low scores among n rounds are not to be explained by luck. Promise: 1 - delta,
    for ever.

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
        """Return a, b, coverage, p0 and the bar 1/delta."""
        p0 = float(miss_rate(coverage))
        a = self.relative_mean * p0 * self.weight
        return a, self.weight - a, coverage, p0, 1.0 / (self.delta * share)

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - e is 1 at every coverage
        """Return e(0, 0) = 1."""
        return 1.0, 0.0


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


@dataclass(frozen=True)
class Quantile(Boundary):
    """floor(n p0): the empirical quantile, with no allowance for chance and so no promise.

    Examples
    --------
    >>> Quantile().limits(coverage=0.9, rounds=20)[[8, 9, 18, 19]].tolist()
    [0, 1, 1, 2]
    """

    advance = staticmethod(quantile)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:  # noqa: ARG002 - spends nothing
        """Return numerator and denominator of p0.

        Below 2^52 their sums are exact in floats; a denominator that is larger is replaced by the
        nearest one that is not, which changes no floor before 10^15 rounds.
        """
        p0 = miss_rate(coverage).limit_denominator(2**52)
        return float(p0.numerator), float(p0.denominator), 0.0, 0.0, 0.0

    def start(self, coverage: float) -> Memory:
        """Return a remainder so full that the first round takes k from -1 to 0."""
        return self.constants(coverage)[1], 0.0


@dataclass(frozen=True)
class Held(Boundary):
    """-1 until a given round, then another boundary's value in that round, for ever.

    Explore, then commit. Promise: that of the other boundary in that one round.

    Parameters
    ----------
    boundary
        The boundary that decides.
    rounds
        The round in which it decides.

    Examples
    --------
    >>> Held(Quantile(), rounds=100).limits(coverage=0.9, rounds=200)[[98, 99, 199]].tolist()
    [-1, 10, 10]
    """

    advance = staticmethod(held)
    boundary: Boundary
    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", check_count("rounds", self.rounds))

    @property
    def last(self) -> float:
        """The round after which k stands still."""
        return float(self.rounds)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return the round and the limit that holds from it on."""
        inner = self.boundary
        limits = walk_limits(inner.advance, inner.constants(coverage, share), inner.start(coverage))
        decided = next(itertools.islice(limits, self.rounds - 1, None))
        return float(self.rounds), float(decided), 0.0, 0.0, 0.0

    def start(self, coverage: float) -> Memory:  # noqa: ARG002 - nothing to remember
        """Return two unused numbers."""
        return 0.0, 0.0


def crossing_probability(boundary: Boundary, coverage: float, rounds: int) -> float:
    """Return the exact probability that a walk of low scores is ever at or below the boundary.

    This bounds, for every distribution of scores, the probability that an order-statistic policy
    over this boundary ever raises its threshold past the optimal one; for scores without ties it
    *is* that probability.

    The computation is in `shortlist.crossing`; 10^5 rounds take well under a second.

    Parameters
    ----------
    boundary
        The boundary to be judged.
    coverage
        The coverage at which it is used; low scores come with probability 1 - coverage.
    rounds
        How many rounds to look at.

    Examples
    --------
    >>> f"{crossing_probability(DKW(10_000), coverage=0.9, rounds=10_000):.2e}"
    '1.54e-25'
    """
    if not isinstance(boundary, Boundary):
        raise InvalidParameter(
            f"boundary is {boundary!r}; it must be a boundary, for example BetaBinomial(delta=0.05), or policy.boundary"
        )
    return crossing(boundary.limits(coverage, rounds), coverage)
