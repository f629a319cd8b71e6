"""Corrections: with `grace`, an answer counts after that many more answers, and may be replaced until then.

Until then it affects nothing: not the threshold, the alarm, the error budget or the fit. So a corrected run ends on the
same bits as one in which the right answer came at once. A round that entered the sample unanswered (`patience`) counts
as below the threshold meanwhile.
"""

from collections.abc import Iterable
from itertools import islice

from shortlist.rounds.events import Answered, Corrected, Event
from shortlist.rounds.shown import RoundName

__all__ = ["Holding"]


class Holding:
    """The answers that may still be corrected.

    Parameters
    ----------
    grace
        The number of further answers after which one is final.
    answers
        The answers that may still be corrected, oldest first.
    """

    def __init__(self, grace: int, answers: Iterable[Answered] = ()) -> None:
        self.grace = grace
        #: By round, oldest first.
        self.answers: dict[RoundName, Answered] = {each.event.round_id: each for each in answers}

    def effect(self, event: Event) -> Event | None:
        """Return the answer that becomes final when another one arrives, if any; change nothing."""
        if len(self.answers) < self.grace:
            return None
        return next(iter(self.answers.values())).event if self.answers else event

    def take(self, event: Event) -> Event | None:
        """Take an answer; return the one that becomes final, if any."""
        final = self.effect(event)
        self.answers[event.round_id] = Answered.of(event)  # type: ignore[union-attr]
        if final is not None:
            del self.answers[final.round_id]  # type: ignore[union-attr]
        return final

    def correct(self, event: Corrected) -> None:
        """Replace a round's answer."""
        if event.round_id in self.answers:
            self.answers[event.round_id] = event.answer

    def has(self, round_id: RoundName, later: int = 0) -> bool:
        """Return whether a round's answer may still be corrected, even after `later` more answers."""
        final = len(self.answers) + later - self.grace  # so many of the oldest are final by then
        return round_id in self.answers and round_id not in islice(self.answers, max(0, final))
