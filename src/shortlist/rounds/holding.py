"""Corrections: with `grace`, an answer counts when so many more have come, and may be replaced until then.

Until then it moves nothing: not the threshold, the alarm, the error budget or the fit. So a corrected run ends on the
same bits as one in which the right answer came at once. A round that patience has let in stays low meanwhile.
"""

from collections import deque

from shortlist.rounds.events import Answered, Corrected, Event
from shortlist.rounds.shown import RoundName

__all__ = ["Holding"]


class Holding:
    """The answers that may still be corrected.

    Parameters
    ----------
    grace
        After how many more answers one is final.
    answers
        Those that may still be corrected, oldest first.
    """

    def __init__(self, grace: int, answers: deque[Answered] | None = None) -> None:
        self.grace = grace
        self.answers = deque[Answered]() if answers is None else answers

    def take(self, event: Event) -> Event | None:
        """Take an answer; return the one that has become final by it, if there is one."""
        self.answers.append(Answered.of(event))
        return self.answers.popleft().event if len(self.answers) > self.grace else None

    def correct(self, event: Corrected) -> None:
        """Put another answer in the place of the one that a round has."""
        for index, each in enumerate(self.answers):
            if each.event.round_id == event.round_id:
                self.answers[index] = event.answer
                return

    def has(self, round_id: RoundName, later: int = 0) -> bool:
        """Return whether a round's answer may still be corrected, also when so many `later` ones have come."""
        final = len(self.answers) + later - self.grace  # so many of the oldest are final by then
        return any(each.event.round_id == round_id for i, each in enumerate(self.answers) if i >= final)
