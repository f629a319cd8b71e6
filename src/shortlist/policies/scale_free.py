"""Scale-free online gradient descent on the pinball loss."""

import math
from dataclasses import dataclass
from typing import ClassVar

from shortlist._validation import miss_rate
from shortlist.policies.base import MISS, State
from shortlist.policies.imputation import BEYOND, DROPPED, RangePolicy

__all__ = ["ScaleFreeOGD"]


def gradient(distance: float, radius: float, coverage: float, p0: float) -> float:
    """Return the slope of the pinball loss of a radius."""
    if distance > radius:
        return -coverage
    return p0 if distance < radius else 0.0


def step(
    carry: tuple[float, float, float],
    _values: list[float],
    constants: tuple[float, float, float, float, int],
    seen: float,
    _missed: bool,
) -> tuple[float, float, float]:
    """Take one gradient step, scaled by the gradients so far."""
    _, radius, squares = carry
    coverage, p0, top, scale, miss = constants
    if seen == MISS and miss == DROPPED:
        return carry
    distance = radius if seen == MISS else top - seen
    if seen == MISS and miss == BEYOND:
        distance = math.inf
    slope = gradient(distance, radius, coverage, p0)
    squares += slope * slope
    if squares > 0.0:
        radius = max(0.0, radius - scale / math.sqrt(3.0 * squares) * slope)
    return top - radius, radius, squares


@dataclass(frozen=True)
class ScaleFreeOGD(RangePolicy):
    r"""Gradient descent on the pinball loss of the radius, with steps that adapt to the gradients so far (SF-OGD).

    With the radius $r_t$, the threshold $\text{top} - r_t$ and the slope $g_t$ of the pinball loss,

    $$r_{t+1} = \max\Bigl(0,\; r_t - \frac{D}{\sqrt{3 \sum_{i \le t} g_i^2}}\, g_t\Bigr)$$

    Guarantees that the share of misses tends to 1 - coverage for any sequence of scores in a range of length D. It
    only needs to know whether a round was a miss. Cost: O(1).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    top
        The highest score there is.
    scale
        D, the length of the range of scores below it.
    miss
        What a miss means: see `shortlist.policies.imputation`.

    Examples
    --------
    >>> policy = ScaleFreeOGD(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 3)
    0.104

    References
    ----------
    Orabona and Pál, Scale-Free Online Learning, 2018; Bhatnagar, Wang, Xiong and Bai, Improved Online Conformal
    Prediction via Strongly Adaptive Online Learning, ICML 2023.
    """

    key: ClassVar[str] = "sf-ogd"
    rule = staticmethod(step)

    def init(self) -> State:
        """Return a fresh state: everything in the range is shown.

        Returns
        -------
        State
            The state before the first round.
        """
        constants = (self.coverage, float(miss_rate(self.coverage)), self.top, self.scale, self.miss_code)
        return State((self.top - self.scale, self.scale, 0.0), [], constants)
