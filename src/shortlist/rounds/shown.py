"""A list as its user sees it. JSON has no infinities: to whoever reads it, a threshold of minus infinity is null."""

import math
from dataclasses import dataclass
from typing import Any

from shortlist._validation import Member

__all__ = ["More", "RoundName", "Shown", "from_null", "to_null"]

#: What a round is called: a lister numbers them, a service has ids.
RoundName = int | str


@dataclass(slots=True)
class Shown:
    """A list as it was shown.

    Attributes
    ----------
    round_id
        The round's name: pass it back with the answer.
    threshold
        The threshold of the list: of the comparable scores that `score=` makes of those passed in.
    members
        The candidates shown, best first, ties in the order given: positions, or your ids.
    scores
        Their scores, as they were passed in; with several scorers a tuple for each, NaN where one has none.
    candidates
        How many candidates were passed in.
    reached
        How many of them reach the threshold: the first `reached` members. All of them, unless `at_least` or
        the error budget shows more. In shadow mode, how many would have been shown.
    truncated
        Whether candidates may be missing that reach the threshold, because of `at_most` or because they
        were cut off before; the guarantee does not cover such a list.
    added
        How many members the error budget added (`miss_budget`); in shadow mode, would have added.
    explored
        Whether everything is shown, in random order, to learn from (`explore_share`): keep that order.
    fallback
        Whether everything is shown because the service was away or slow: the round teaches nothing.
    """

    round_id: RoundName
    threshold: float
    members: tuple[Member, ...]
    scores: tuple[Any, ...]
    candidates: int
    reached: int
    truncated: bool = False
    added: int = 0
    explored: bool = False
    fallback: bool = False

    @property
    def complete(self) -> bool:
        """Whether every candidate that was passed in is shown."""
        return len(self.members) == self.candidates


@dataclass(slots=True)
class More:
    """What is shown when more of a list is asked for.

    Attributes
    ----------
    round_id
        The round's name.
    members
        The next candidates, best first: those after all that were shown before.
    scores
        Their scores, as they were passed in.
    left
        How many candidates are still hidden.
    truncated
        Whether candidates may still be missing that reach the threshold.
    """

    round_id: RoundName
    members: tuple[Member, ...]
    scores: tuple[Any, ...]
    left: int = 0
    truncated: bool = False


def to_null(number: float) -> float | None:
    """Return a number as JSON has it: minus infinity is null."""
    return None if number == -math.inf else number


def from_null(number: float | None) -> float:
    """Return the number that JSON has: null is minus infinity."""
    return -math.inf if number is None else number
