"""SAOCP: strongly adaptive, with many learners of different ages at once."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from shortlist._validation import check_count
from shortlist.policies.base import MISS, State
from shortlist.policies.imputation import BEYOND, DROPPED, RangePolicy
from shortlist.policies.scale_free import gradient

__all__ = ["SAOCP"]

# An expert's numbers, one after the other in the list: the round it was added in, its radius, the sum of squared
# slopes, its gain, its weighted gain, its age and its lifetime, both in rounds.
BORN, RADIUS, SQUARES, GAIN, WEIGHTED, AGE, LIFETIME = range(7)
WIDTH: Final = 7


def weight(values: list[float], at: int) -> float:
    """Return an expert's weight before its prior: 0 until it has lived for a round."""
    age = values[at + AGE]
    return 0.0 if age == 0.0 else values[at + GAIN] / age * (1.0 + values[at + WEIGHTED])


def prior(born: float) -> float:
    """Return the prior of an expert, up to a factor."""
    return 1.0 / (born * born * (1.0 + math.floor(math.log2(born))))


def mean_radius(values: list[float]) -> float:
    """Return the weighted mean of the experts' radii; weighted by the prior alone while no expert has a weight.

    A young expert's gain may be nothing but a rounding error, and its sign decides: so the terms are
    normalized and summed in the order of the public implementation.
    """
    priors = 0.0
    for at in range(0, len(values), WIDTH):
        priors += prior(values[at + BORN])
    total = 0.0
    for at in range(0, len(values), WIDTH):
        total += prior(values[at + BORN]) / priors * max(0.0, weight(values, at))
    mean = 0.0
    for at in range(0, len(values), WIDTH):
        share = prior(values[at + BORN]) / priors
        if total > 0.0:
            share = share * max(0.0, weight(values, at)) / total
        mean += share * values[at + RADIUS]
    return mean


def pinball(distance: float, radius: float, coverage: float, p0: float) -> float:
    """Return the pinball loss of a radius."""
    return max(coverage * (distance - radius), p0 * (radius - distance))


def drop_expired(values: list[float]) -> None:
    """Remove the experts older than their lifetime, keeping the others in order."""
    kept = 0
    for at in range(0, len(values), WIDTH):
        if values[at + AGE] <= values[at + LIFETIME]:
            for j in range(WIDTH):
                values[kept + j] = values[at + j]
            kept += WIDTH
    while len(values) > kept:
        values.pop()


def add_expert(values: list[float], t: int, radius: float, lifetime: int) -> None:
    """Add the expert of round t; its lifetime doubles for each factor of 2 in t."""
    doubled, odd = 1, t
    while odd % 2 == 0:
        odd //= 2
        doubled *= 2
    values.append(float(t))
    values.append(radius)
    for _ in range(4):
        values.append(0.0)  # noqa: PERF401 - numba compiles this
    values.append(float(lifetime * doubled))


def step(
    carry: tuple[float, float, int],
    values: list[float],
    constants: tuple[float, float, float, float, int, int],
    seen: float,
    _missed: bool,
) -> tuple[float, float, int]:
    """Add an expert, let all learn from the distance, and mix them into the next radius."""
    threshold, radius, t = carry
    coverage, p0, top, scale, lifetime, miss = constants
    if seen == MISS and miss == DROPPED:
        return carry
    distance = top - (threshold if seen == MISS else seen)
    if seen == MISS and miss == BEYOND:
        distance = scale
    drop_expired(values)
    add_expert(values, t, radius, lifetime)
    agreed = pinball(distance, mean_radius(values), coverage, p0)
    for at in range(0, len(values), WIDTH):
        mine, w = values[at + RADIUS], weight(values, at)
        gain = (agreed - pinball(distance, mine, coverage, p0)) / scale / max(coverage, p0)
        gain = min(1.0, max(-1.0 if w > 0.0 else 0.0, gain))
        values[at + GAIN] += gain
        values[at + WEIGHTED] += gain * w
        values[at + AGE] += 1.0
        slope = gradient(distance, mine, coverage, p0)
        values[at + SQUARES] += slope * slope
        if values[at + SQUARES] > 0.0:
            values[at + RADIUS] = max(0.0, mine - scale / math.sqrt(3.0) / math.sqrt(values[at + SQUARES]) * slope)
    radius = mean_radius(values)
    return top - radius, radius, t + 1


@dataclass(frozen=True)
class SAOCP(RangePolicy):
    r"""Strongly Adaptive Online Conformal Prediction: scale-free learners of all ages, mixed by coin betting.

    A learner is added in every round and lives for $g\,2^u$ rounds, where $2^u$ is the largest power of
    two that divides its first round; each runs scale-free gradient descent on the pinball loss, and their radii
    are averaged with the weights of coin betting for changing environments.

    Guarantees, under full feedback, low regret over every interval of time. Its weights need the distance
    itself; where misses have none, the guarantee is void. Cost: O(log n) learners per round.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    top
        The highest score there is.
    scale
        D, the length of the range of scores below it, and the distance of a miss if `miss` is ``"beyond"``.
    lifetime
        g, the shortest lifetime of a learner.
    miss
        What a miss means: see `shortlist.policies.imputation`.

    Examples
    --------
    >>> policy = SAOCP(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(300):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 3)
    0.047

    References
    ----------
    Bhatnagar, Wang, Xiong and Bai, Improved Online Conformal Prediction via Strongly Adaptive Online Learning,
    ICML 2023; Jun, Orabona, Wright and Willett, Improved Strongly Adaptive Online Learning using Coin Betting,
    AISTATS 2017.
    """

    key: ClassVar[str] = "saocp"
    rule = staticmethod(step)
    lifetime: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lifetime", check_count("lifetime", self.lifetime))

    def init(self) -> State:
        """Return a fresh state: everything in the range is shown.

        Returns
        -------
        State
            The state before the first round.
        """
        # 1 - coverage in floats, not `miss_rate`: as in the authors' implementation, with which this agrees to nine
        # digits; experts live and die by the last one.
        constants = (self.coverage, 1.0 - self.coverage, self.top, self.scale, self.lifetime, self.miss_code)
        return State((self.top - self.scale, self.scale, 1), [], constants)
