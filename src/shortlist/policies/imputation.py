"""What a miss means to a rule that needs a score.

Most published methods assume full feedback: the score of the right answer is revealed in every round. Under click
feedback a miss has no score, and something has to stand in for it. Three choices are common, and every policy that
needs one takes it as ``miss``:

- ``"dropped"``: the round is left out, as in a log that only holds clicks;
- ``"threshold"``: the right answer is taken to have scored exactly the threshold;
- ``"beyond"``: it is taken to be further away than any score can be. The default, and the only one of the
  three that counts a miss as a miss. Rules that need a number for it (DtACI, SAOCP) use the far end of
  the given range of scores, so the range must be right.
"""

from dataclasses import dataclass, field
from typing import Final

from shortlist._validation import check_number, check_probability
from shortlist.errors import InvalidParameter
from shortlist.policies.base import MISS, Policy

__all__ = ["BEYOND", "DROPPED", "THRESHOLD", "FullFeedbackPolicy", "RangePolicy", "judge"]

DROPPED, THRESHOLD, BEYOND = 0, 1, 2
_CODES: Final = {"dropped": DROPPED, "threshold": THRESHOLD, "beyond": BEYOND}


def judge(seen: float, missed: bool, miss: int) -> tuple[bool, bool]:
    """Return whether a round counts, and whether as a miss, to a rule that needs no score."""
    if seen != MISS:
        return True, missed
    return miss != DROPPED, miss == BEYOND


@dataclass(frozen=True)
class FullFeedbackPolicy(Policy):
    """The base class of policies that assume full feedback, and so need to know what a miss means without it."""

    coverage: float
    miss: str = field(default="beyond", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        if self.miss not in _CODES:
            raise InvalidParameter(f'miss is {self.miss!r}; it must be "dropped", "threshold" or "beyond"')

    @property
    def miss_code(self) -> int:
        """The number that stands for the word in steps."""
        return _CODES[self.miss]


@dataclass(frozen=True)
class RangePolicy(FullFeedbackPolicy):
    """The base class of policies that need the range of scores: its top and its length."""

    top: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "top", check_number("top", self.top, "the highest score there is"))
        object.__setattr__(self, "scale", check_number("scale", self.scale, "above 0", above=0.0))
