"""MVP: the multivalid predictor, without groups."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from shortlist._validation import check_count, check_number, miss_rate
from shortlist.policies.base import State
from shortlist.policies.imputation import RangePolicy, judge

__all__ = ["MVP"]

# Park and Miller's generator: its state is one integer, and its products fit in 64 bits.
MULTIPLIER: Final = 48271
MODULUS: Final = 2147483647
#: How finely a bucket is divided; the radius just below a bucket's end is in that bucket.
FINE: Final = 1000.0


def pull(values: list[float], bucket: int, buckets: int, eta: float) -> float:
    """Return how strongly a bucket has over-covered (positive) or under-covered."""
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
    """Record the round in the bucket of its radius, and draw the next radius."""
    _, bucket, random = carry
    p0, top, scale, buckets, eta, miss = constants
    while len(values) < 2 * buckets:
        values.append(0.0)
    counts, missed = judge(seen, missed, miss)
    if not counts:
        return carry
    values[bucket] += p0 - (1.0 if missed else 0.0)
    values[buckets + bucket] += 1.0
    random = random * MULTIPLIER % MODULUS
    share, bucket = choose(values, buckets, eta, random / MODULUS)
    return top - share * scale, bucket, random


@dataclass(frozen=True)
class MVP(RangePolicy):
    r"""The multivalid predictor: coverage that is right on average at each threshold it uses.

    The range of radii is split into m buckets; $V_i$ is the over-coverage of the rounds with a radius in
    bucket i, $n_i$ their number, $f(n) = \sqrt{n + 1}\, \log_2(n + 2)$, and

    $$C_i = \bigl(e^{\eta V_i / f(n_i)} - e^{-\eta V_i / f(n_i)}\bigr) / f(n_i).$$

    Where the sign changes between two neighbors, the end of the first or the beginning of the second is drawn,
    with the probability that balances them.

    Guarantees coverage near the target on average over the rounds of each bucket that is used often, for any
    sequence of scores. It only needs to know whether a round was a miss. Its draws come from one integer in the
    state, so runs are reproducible. Cost: O(m).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    top
        The highest score there is.
    scale
        The length of the range of scores below it.
    buckets
        m.
    eta
        The learning rate.
    seed
        The seed of the draws: an integer above 0.
    miss
        What a miss means: see `shortlist.policies.imputation`.

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
    buckets: int = 40
    eta: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "buckets", check_count("buckets", self.buckets, least=2))
        object.__setattr__(self, "eta", check_number("eta", self.eta, "a number above 0", above=0.0))
        object.__setattr__(self, "seed", check_count("seed", self.seed))

    def init(self) -> State:
        """Return a fresh state, in the first bucket.

        Returns
        -------
        State
            The state before the first round.
        """
        share, bucket = choose([0.0] * (2 * self.buckets), self.buckets, self.eta, 0.0)
        constants = (
            float(miss_rate(self.coverage)),
            self.top,
            self.scale,
            self.buckets,
            self.eta,
            self.miss_code,
        )
        return State((self.top - share * self.scale, bucket, self.seed % MODULUS or 1), [], constants)
