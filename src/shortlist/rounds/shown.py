"""A list as the caller sees it. JSON has no infinities, so there a threshold of minus infinity is null."""

import math
from dataclasses import dataclass
from typing import Any

from shortlist._validation import Member

__all__ = ["MinusInfinityIsNull", "More", "RoundName", "Shown", "from_null", "to_null"]

#: The name of a round within a stream: a lister numbers them, the service has ids.
RoundName = int | str


@dataclass(slots=True)
class Shown:
    """A list as it was shown.

    Attributes
    ----------
    round_id
        The round's id: pass it back with the answer.
    threshold
        The threshold of the list, on the scale of the comparable scores (`score=`).
    members
        The candidates shown, best first, ties in the order given: positions, or your ids.
    scores
        Their scores, as passed; with several scorers one tuple per candidate, NaN where one has none.
    candidates
        How many candidates were passed.
    reached
        How many members reach the threshold: the first `reached`. All of them, unless `at_least` or
        the error budget shows more. In shadow mode, how many would have been shown.
    truncated
        Whether the list may lack candidates that reach the threshold, because of `at_most` or because the
        search left them out; the guarantee does not cover such a list.
    added
        How many members the error budget added (`miss_budget`); in shadow mode, would have added.
    explored
        Whether everything is shown, in random order, for exploration (`explore_share`): keep that order.
    fallback
        Whether everything is shown because the service was unavailable or slow: nothing is learned from the round.
    comparable
        What is compared with the threshold: the comparable score of each member; None with `fallback`.
    kept
        How many members, from the first, would be shown without shadow mode: all of them, unless it is on.
    """

    round_id: str
    threshold: float
    members: tuple[Member, ...]
    scores: tuple[Any, ...]
    candidates: int
    reached: int
    truncated: bool = False
    added: int = 0
    explored: bool = False
    fallback: bool = False
    comparable: tuple[float, ...] | None = None
    kept: int | None = None

    @property
    def complete(self) -> bool:
        """Whether all candidates are shown."""
        return len(self.members) == self.candidates


@dataclass(slots=True)
class More:
    """The next candidates of a list, shown on request.

    Attributes
    ----------
    round_id
        The round's id.
    members
        The next candidates, best first, after those already shown.
    scores
        Their scores, as passed.
    left
        How many candidates are still hidden.
    truncated
        Whether candidates that reach the threshold may still be missing.
    """

    round_id: str
    members: tuple[Member, ...]
    scores: tuple[Any, ...]
    left: int = 0
    truncated: bool = False


class MinusInfinityIsNull:
    """Marks a float that is null in JSON where it is minus infinity, in the service's OpenAPI document."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {"type": "nullable", "schema": handler(source)}


def to_null(number: float) -> float | None:
    """Return a number for JSON: minus infinity becomes null."""
    return None if number == -math.inf else number


def from_null(number: float | None) -> float:
    """Return a number from JSON: null becomes minus infinity."""
    return -math.inf if number is None else number
