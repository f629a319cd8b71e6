"""DLR: online gradient descent on the threshold itself, with a decaying learning rate."""

from dataclasses import dataclass
from typing import ClassVar

from shortlist._validation import check_number, check_probability, miss_rate
from shortlist.policies.base import Policy, State

__all__ = ["DLR"]


def step(
    carry: tuple[float, int], _values: list[float], constants: tuple[float, float], _seen: float, missed: bool
) -> tuple[float, int]:
    """Move the threshold up after a hit, down after a miss, in decreasing steps."""
    threshold, t = carry
    p0, exponent = constants
    t += 1
    return threshold + t**-exponent * (p0 - (1.0 if missed else 0.0)), t


@dataclass(frozen=True)
class DLR(Policy):
    r"""Decaying Learning Rate: a threshold that follows hits and misses, and needs no scores.

    $$\tau_{t+1} = \tau_t + t^{-q}\,((1 - \alpha) - \mathbb{1}[\text{miss}])$$

    Guarantees that the long-run share of misses tends to 1 - coverage, and under i.i.d. scores that
    the threshold tends to the optimal one; but its steps are of order 1, whatever the scale of the
    scores: on bids in the hundreds it hardly moves, on cosines its first steps leave the range.
    Cost: O(1).

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer should be in the list.
    start
        The first threshold.
    exponent
        q; the paper uses 1/2 + 0.1.

    Examples
    --------
    >>> policy = DLR(coverage=0.9)
    >>> state = policy.init()
    >>> for i in range(1000):
    ...     policy.update(state, score=(i * 7 % 1000) / 1000)
    >>> round(state.threshold, 6)
    0.31234

    References
    ----------
    Angelopoulos, Barber and Bates, Online Conformal Prediction with Decaying Step Sizes, ICML 2024,
    as used in Ge, Bastani and Bastani, ICML 2025, Section 5.1.
    """

    key: ClassVar[str] = "dlr"
    rule = staticmethod(step)
    coverage: float
    start: float = 0.0
    exponent: float = 0.6

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        object.__setattr__(self, "start", check_number("start", self.start, "a finite number"))
        object.__setattr__(self, "exponent", check_number("exponent", self.exponent, "a number above 0", above=0.0))

    def init(self) -> State:
        """Return a fresh state at the first threshold.

        Returns
        -------
        State
            The state before the first round.
        """
        return State((self.start, 0), [], (float(miss_rate(self.coverage)), self.exponent))
