"""DtACI, also known as FACI: many step sizes at once, weighted by how well each has done."""

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from shortlist._validation import check_count, miss_rate
from shortlist.policies.base import MISS, State
from shortlist.policies.imputation import BEYOND, DROPPED, RangePolicy

__all__ = ["DtACI"]

#: The step sizes: 0.001, 0.002, ..., 0.128.
EXPERTS: Final = 8
FIRST_STEP: Final = 0.001


def position_of(values: list[float], value: float, first: int) -> int:
    """Return the position of a value in the sorted part of a list, before its equals."""
    low, high = first, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def learn(values: list[float], beta: float, p0: float, eta: float, sigma: float) -> None:
    """Weight the experts by their pinball losses, and move each by its own step."""
    highest = -math.inf
    for k in range(EXPERTS):
        alpha = values[k]
        loss = max(p0 * (beta - alpha), (1.0 - p0) * (alpha - beta))
        values[EXPERTS + k] -= eta * loss
        highest = max(highest, values[EXPERTS + k])
    total = 0.0
    for k in range(EXPERTS):
        total += math.exp(values[EXPERTS + k] - highest)
    mixed = 0.0
    for k in range(EXPERTS):
        weight = (1.0 - sigma) * math.exp(values[EXPERTS + k] - highest) + sigma / EXPERTS * total
        values[EXPERTS + k] = weight
        mixed += weight
    step_size = FIRST_STEP
    for k in range(EXPERTS):
        values[EXPERTS + k] = math.log(values[EXPERTS + k] / mixed)
        erred = 1.0 if values[k] > beta else 0.0
        values[k] = min(1.0, max(0.0, values[k] + step_size * (p0 - erred)))
        step_size *= 2.0


def step(
    carry: tuple[float],
    values: list[float],
    constants: tuple[float, float, float, float, float, int],
    seen: float,
    _missed: bool,
) -> tuple[float]:
    """Update the experts by the rank of the score among all earlier ones; return the quantile at their mean level."""
    threshold = carry[0]
    p0, top, scale, eta, sigma, miss = constants
    if len(values) == 0:
        for k in range(2 * EXPERTS):
            values.append(p0 if k < EXPERTS else -math.log(EXPERTS))  # noqa: PERF401 - numba compiles this
    if seen == MISS and miss == DROPPED:
        return carry
    distance = top - (threshold if seen == MISS else seen)
    if seen == MISS and (miss == BEYOND or threshold == -math.inf):
        distance = scale
    first = 2 * EXPERTS
    n = len(values) - first
    position = position_of(values, distance, first)
    if n > math.floor(1.0 / p0):
        learn(values, (first + n - position) / n, p0, eta, sigma)
    values.insert(position, distance)
    n += 1
    alpha = 0.0
    for k in range(EXPERTS):
        alpha += math.exp(values[EXPERTS + k]) * values[k]
    index = math.ceil(n * min(1.0, max(0.0, 1.0 - alpha)) - 1.0)
    return (top - values[first + max(0, index)],)


@dataclass(frozen=True)
class DtACI(RangePolicy):
    r"""Dynamically-tuned ACI (also FACI): eight step sizes, mixed by exponential weights.

    Each expert k keeps a level $\alpha_k$ and moves it by its own step $\gamma_k$; after each round
    $\beta$ is the share of earlier distances (`top` minus score) no smaller than this one, and

    $$\alpha_k \leftarrow \alpha_k + \gamma_k ((1 - \alpha) - \mathbb{1}[\alpha_k > \beta]), \qquad
    w_k \propto (1 - \sigma)\, w_k e^{-\eta\, \ell(\beta, \alpha_k)} + \sigma / K$$

    with the pinball loss $\ell$. The list is cut at the quantile of all distances so far, at the weighted
    mean of the levels.

    Guarantees long-run coverage under full feedback, and low regret over every interval of time; where a miss
    has no score, the distances are not those of the distribution, and the guarantee is void. Cost: one insertion
    into a sorted list per round.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    top
        The highest score there is.
    scale
        The length of the range of scores below it: the distance of a miss if `miss` is ``"beyond"``.
    interval
        The length of the intervals that eta and sigma are tuned for.
    miss
        What a miss means: see `shortlist.policies.imputation`.

    Examples
    --------
    >>> policy = DtACI(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 3)
    0.106

    References
    ----------
    Gibbs and Candès, Conformal Inference for Online Prediction with Arbitrary Distribution Shifts, JMLR 2024
    (arXiv 2208.08401); the constants are those of the package online-conformal.
    """

    key: ClassVar[str] = "dtaci"
    rule = staticmethod(step)
    interval: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "interval", check_count("interval", self.interval))

    def init(self) -> State:
        """Return a fresh state: everything is shown until there is a score.

        Returns
        -------
        State
            The state before the first round.
        """
        p0 = float(miss_rate(self.coverage))
        spread = ((1 - p0) ** 2 * p0**3 + p0**2 * (1 - p0) ** 3) / 3
        eta = math.sqrt(3 / self.interval) * math.sqrt((math.log(self.interval * EXPERTS) + 2) / spread)
        constants = (p0, self.top, self.scale, eta, 1 / (2 * self.interval), self.miss_code)
        return State((-math.inf,), [], constants)
