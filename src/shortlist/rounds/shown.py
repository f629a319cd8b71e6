"""A list as its user sees it."""

from dataclasses import dataclass

from shortlist._validation import Member
from shortlist.rounds.events import RoundName

__all__ = ["Shown"]


@dataclass(slots=True)
class Shown:
    """A list as it was shown.

    Attributes
    ----------
    round_id
        The round's name: pass it back with the answer.
    threshold
        The threshold of the list: of the comparable scores that `score=` makes of the raw ones.
    members
        The candidates shown, best first, ties in the order given: positions, or your ids.
    scores
        Their scores, as they were passed in.
    candidates
        How many candidates were passed in.
    reached
        How many of them reach the threshold: the first `reached` members. All of them, unless `at_least`
        shows more. In shadow mode, how many would have been shown.
    truncated
        Whether candidates may be missing that reach the threshold, because of `at_most` or because they
        were cut off before; the guarantee does not cover such a list.
    """

    round_id: RoundName
    threshold: float
    members: tuple[Member, ...]
    scores: tuple[float, ...]
    candidates: int
    reached: int
    truncated: bool = False

    @property
    def complete(self) -> bool:
        """Whether every candidate that was passed in is shown."""
        return len(self.members) == self.candidates
