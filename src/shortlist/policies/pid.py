"""Conformal PID: quantile tracking and an integrator of past errors."""

import math
from dataclasses import dataclass
from typing import ClassVar

from shortlist._validation import check_number, miss_rate
from shortlist.policies.base import State
from shortlist.policies.imputation import RangePolicy, judge

__all__ = ["ConformalPID"]


def saturate(total: float, t: float, saturation: float) -> float:
    """Return tan(total log(t) / (t saturation)), infinite beyond a right angle."""
    angle = total * math.log(t) / (saturation * t)
    if angle >= math.pi / 2:
        return math.inf
    if angle <= -math.pi / 2:
        return -math.inf
    return math.tan(angle)


def step(
    carry: tuple[float, float, float, int],
    _values: list[float],
    constants: tuple[float, float, float, float, float, int],
    seen: float,
    missed: bool,
) -> tuple[float, float, float, int]:
    """Track the quantile in fixed steps, and add the integrator of all errors."""
    _, tracked, total, t = carry
    p0, top, step_size, gain, saturation, miss = constants
    counts, missed = judge(seen, missed, miss)
    if not counts:
        return carry
    t += 1
    error = (1.0 if missed else 0.0) - p0
    tracked += step_size * error
    total += error
    return top - (tracked + gain * saturate(total, t + 1.0, saturation)), tracked, total, t


@dataclass(frozen=True)
class ConformalPID(RangePolicy):
    r"""Quantile tracking (P) and an error integrator (I), without a forecaster (D).

    With the radius $q_t$, the threshold $\text{top} - q_t$ and the error
    $e_t = \mathbb{1}[\text{miss}] - (1 - \alpha)$,

    $$p_{t+1} = p_t + \eta\, e_t, \qquad
    q_{t+1} = p_{t+1} + K_I \tan\Bigl(\frac{\log(t+1)}{C\,(t+1)} \sum_{i \le t} e_i\Bigr)$$

    with an infinite tangent beyond a right angle. Guarantees that the share of misses tends to 1 - coverage, for
    any sequence of bounded scores. It only needs to know whether a round was a miss. Cost: O(1).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    top
        The highest score there is.
    scale
        The length of the range of scores below it: the first radius.
    step
        The step size of the tracker, eta, as a share of `scale`.
    gain
        The weight of the integrator, K_I, as a share of `scale`.
    saturation
        C: the larger, the later the integrator takes hold.
    miss
        What a miss means: see `shortlist.policies.imputation`.

    Examples
    --------
    >>> policy = ConformalPID(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 3)
    0.091

    References
    ----------
    Angelopoulos, Candès and Tibshirani, Conformal PID Control for Time Series Prediction, NeurIPS 2023.
    """

    key: ClassVar[str] = "pid"
    rule = staticmethod(step)
    step: float = 0.01
    gain: float = 1.0
    saturation: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("step", "gain", "saturation"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), "a number above 0", above=0.0))

    def init(self) -> State:
        """Return a fresh state: everything in the range is shown.

        Returns
        -------
        State
            The state before the first round.
        """
        scale = self.scale
        constants = (
            float(miss_rate(self.coverage)),
            self.top,
            self.step * scale,
            self.gain * scale,
            self.saturation,
            self.miss_code,
        )
        return State((self.top - scale, scale, 0.0, 0), [], constants)
