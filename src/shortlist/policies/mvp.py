"""MVP: the multivalid predictor, without groups."""

import math
from typing import ClassVar, Final

from shortlist.frozen import frozen
from shortlist.parameters import check_count, check_number, check_probability, miss_rate
from shortlist.policies.base import MISS, Policy, State
from shortlist.policies.misses import DROPPED, THRESHOLD, check_miss, check_scale, miss_code

__all__ = ["MVP"]

# Park and Miller's generator: its state is one integer, and its products fit into 64 bits.
MULTIPLIER: Final = 48271
MODULUS: Final = 2147483647
#: How finely a bucket is divided; the radius just below a bucket's end is in that bucket.
FINE: Final = 1000.0


def pull(values: list[float], bucket: int, buckets: int, eta: float) -> float:
    """Return how strongly a bucket has covered too much (positive) or too little."""
    count = values[buckets + bucket]
    scale = math.sqrt(count + 1.0) * math.log2(count + 2.0)
    return (math.exp(eta * values[bucket] / scale) - math.exp(-eta * values[bucket] / scale)) / scale


def choose(values: list[float], buckets: int, eta: float, chance: float) -> tuple[float, int]:
    """Return the next radius, as a share of the scale, and its bucket."""
    before = pull(values, 0, buckets, eta)
    positive, negative = before > 0.0, before < 0.0
    for j in range(buckets - 1):
        after = pull(values, j + 1, buckets, eta)
        if before * after <= 0.0:
            both = abs(before) + abs(after)
            if both == 0.0 or chance < abs(after) / both:
                return (j + 1.0) / buckets - 1.0 / (FINE * buckets), j
            return (j + 1.0) / buckets, j + 1
        positive, negative = positive and after > 0.0, negative and after < 0.0
        before = after
    return (0.0, 0) if positive else (1.0, buckets - 1)


def step(
    carry: tuple[float, int, int],
    values: list[float],
    constants: tuple[float, float, float, int, float, int],
    seen: float,
    missed: bool,
) -> tuple[float, int, int]:
    """Book the round on the bucket that its radius was from, and draw the next radius."""
    _, bucket, random = carry
    p0, top, scale, buckets, eta, miss = constants
    while len(values) < 2 * buckets:
        values.append(0.0)
    if seen == MISS and miss == DROPPED:
        return carry
    if seen == MISS and miss == THRESHOLD:
        missed = False
    values[bucket] += p0 - (1.0 if missed else 0.0)
    values[buckets + bucket] += 1.0
    random = random * MULTIPLIER % MODULUS
    share, bucket = choose(values, buckets, eta, random / MODULUS)
    return top - share * scale, bucket, random


@frozen
class MVP(Policy):
    r"""The multivalid predictor: coverage that is right on average at each threshold that it uses.

    The range of radii is cut into m buckets; :math:`V_i` is by how much the rounds with a radius from bucket i
    have covered too much, :math:`n_i` their number, :math:`f(n) = \sqrt{n + 1}\, \log_2(n + 2)`, and

    .. math:: C_i = \bigl(e^{\eta V_i / f(n_i)} - e^{-\eta V_i / f(n_i)}\bigr) / f(n_i).

    Where the sign changes between two neighbours, the end of the first or the beginning of the second is drawn,
    with the probability that balances them.

    Promises coverage near the target on average over the rounds of each bucket that is used often, whatever
    happens. It needs to know only whether it was a miss. Its draws come from one integer in the state, so runs
    can be repeated. Cost: O(m).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    top
        The highest score there is.
    scale
        How far below it scores lie.
    buckets
        m.
    eta
        The learning rate.
    seed
        What the draws begin with: an integer above 0.
    miss
        What a miss means: see :mod:`shortlist.policies.misses`.

    Examples
    --------
    >>> policy = MVP(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 3)
    0.1

    References
    ----------
    Bastani, Gupta, Jung, Noarov, Ramalingam and Roth, Practical Adversarial Multivalid Conformal
    Prediction, NeurIPS 2022, Algorithm 1, with the one group of all rounds.
    """

    key: ClassVar[str] = "mvp"
    rule = staticmethod(step)
    coverage: float
    top: float = 1.0
    scale: float = 1.0
    buckets: int = 40
    eta: float = 0.1
    seed: int = 1
    miss: str = "beyond"

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        top, scale = check_scale(self.top, self.scale)
        object.__setattr__(self, "top", top)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "buckets", check_count("buckets", self.buckets, least=2))
        object.__setattr__(self, "eta", check_number("eta", self.eta, "a number above 0", above=0.0))
        object.__setattr__(self, "seed", check_count("seed", self.seed))
        object.__setattr__(self, "miss", check_miss(self.miss))

    def init(self) -> State:
        """Return a fresh state; where nothing is known, the first bucket is used."""
        share, bucket = choose([0.0] * (2 * self.buckets), self.buckets, self.eta, 0.0)
        constants = (
            float(miss_rate(self.coverage)),
            self.top,
            self.scale,
            self.buckets,
            self.eta,
            miss_code(self.miss),
        )
        return State((self.top - share * self.scale, bucket, self.seed % MODULUS or 1), [], constants)
