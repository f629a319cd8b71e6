"""Threshold tracking: the ACI rule on the threshold itself, with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from shortlist._validation import check_number, miss_rate
from shortlist.policies.base import State
from shortlist.policies.imputation import FullFeedbackPolicy, judge

__all__ = ["ThresholdTracking"]


def step(
    carry: tuple[float], _values: list[float], constants: tuple[float, float, int], seen: float, missed: bool
) -> tuple[float]:
    """Move the threshold up a little after a hit, down a lot after a miss."""
    threshold = carry[0]
    p0, step_size, miss = constants
    counts, missed = judge(seen, missed, miss)
    if not counts:
        return carry
    return (threshold + step_size * (p0 - (1.0 if missed else 0.0)),)


@dataclass(frozen=True)
class ThresholdTracking(FullFeedbackPolicy):
    r"""The threshold follows hits and misses in fixed steps.

    $$\tau_{t+1} = \tau_t + \eta\,((1 - \alpha) - \mathbb{1}[\text{miss}])$$

    Guarantees that the share of misses is within $(R + \eta)/(\eta T)$ of 1 - coverage, for any sequence of
    scores in a range of length R; it needs no scores, only whether a round was a miss. Single
    lists are too short about as often as too long. Cost: O(1).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    step
        eta, in units of the scores.
    start
        The first threshold.
    miss
        What a miss means: see `shortlist.policies.imputation`.

    Examples
    --------
    >>> policy = ThresholdTracking(coverage=0.9, step=0.01)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 617 % 1000) / 1000)
    >>> round(state.threshold, 6)
    0.09

    References
    ----------
    Gibbs and Candès, Adaptive Conformal Inference Under Distribution Shift, NeurIPS 2021; on the threshold
    itself, Gollapudi, Kollias, Munagala and Sinop, Efficient Online Conformal Selection with Limited
    Feedback, arXiv 2605.14953.
    """

    key: ClassVar[str] = "tracking"
    rule = staticmethod(step)
    step: float = 0.01
    start: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "step", check_number("step", self.step, "a number above 0", above=0.0))
        object.__setattr__(self, "start", check_number("start", self.start, "a finite number"))

    def init(self) -> State:
        """Return a fresh state at the first threshold.

        Returns
        -------
        State
            The state before the first round.
        """
        return State((self.start,), [], (float(miss_rate(self.coverage)), self.step, self.miss_code))
