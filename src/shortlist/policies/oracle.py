"""Oracle: a threshold that is known in advance."""

import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

from shortlist.errors import InvalidParameter
from shortlist.policies.base import Policy, State

__all__ = ["Oracle"]


def step(
    carry: tuple[float], _values: list[float], _constants: tuple[Any, ...], _seen: float, _missed: bool
) -> tuple[float]:
    """Learn nothing."""
    return carry


@dataclass(frozen=True)
class Oracle(Policy):
    """A fixed threshold: the optimal one as a yardstick, or -inf to show everything in every round.

    Guarantees what the threshold guarantees. Cost: none.

    Parameters
    ----------
    threshold
        The threshold; -inf and +inf are allowed.

    Examples
    --------
    >>> policy = Oracle(threshold=0.25)
    >>> state = policy.init()
    >>> policy.update(state, score=None)
    >>> state.threshold
    0.25
    """

    key: ClassVar[str] = "oracle"
    rule = staticmethod(step)
    threshold: float

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, numbers.Real):
            raise InvalidParameter(f"threshold is {self.threshold!r}; it must be a number")
        if math.isnan(self.threshold):
            raise InvalidParameter("threshold is nan; it must be a number, -inf or inf")
        object.__setattr__(self, "threshold", float(self.threshold))

    def init(self) -> State:
        """Return a state that never changes.

        Returns
        -------
        State
            The state before the first round.
        """
        return State((self.threshold,), [], ())
