"""The rounds that a lister keeps."""

import os
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from shortlist._validation import Array, Member
from shortlist.errors import InvalidIds, RoundClosed, UnknownRound
from shortlist.rounds.events import All, Answer, Listed
from shortlist.rounds.shown import RoundName, Shown

__all__ = ["Rounds", "check_right", "scores_of", "shown_values"]

_ID: Final = re.compile(r"[0-9a-f]{10}-(0|[1-9][0-9]{0,17})")

#: No round's number has so many digits.
_DIGITS: Final = 19
#: For how many rounds before the oldest that is kept ids are still known: an answer to one comes too late.
_OLD: Final = 1_000


@dataclass(slots=True)
class Rounds:
    """The latest rounds, numbered from 0: the open ones, and the answers to the others.

    A round's id is a random part and its number. The random part is drawn for every lister and process, also for a
    copy, after a fork, and when a file is loaded: no two of them ever give the same id, so an answer that reaches the
    wrong one is refused instead of taken for another round.
    """

    next_number: int = 0
    #: The lists of the rounds without an answer, oldest first.
    open: dict[int, Listed] = field(default_factory=dict)
    #: The answers to the rounds kept, oldest first; None for an open round.
    answers: deque[Member | All | Answer | None] = field(default_factory=deque)
    #: The random parts of ids, and the number from which each applies, oldest first.
    parts: list[tuple[int, str]] = field(default_factory=list)

    @property
    def oldest(self) -> int:
        """The number of the oldest round that is kept."""
        return self.next_number - len(self.answers)

    def draw_part(self) -> None:
        """Draw a random part for the ids of all further rounds."""
        used = [part for part in self.parts if part[0] < self.next_number]
        while len(used) > 1 and used[1][0] <= self.oldest - _OLD:
            del used[0]
        self.parts = [*used, (self.next_number, os.urandom(5).hex())]

    def id_of(self, number: RoundName) -> str:
        """Return the id of a round."""
        assert isinstance(number, int)  # noqa: S101 - for the type checker
        part = self.parts[-1]
        if part[0] > number:
            part = next((part for part in reversed(self.parts) if part[0] <= number), self.parts[0])
        return f"{part[1]}-{number}"

    def number_of(self, round_id: str, keep: int) -> int:
        """Return the number of a round that is kept, or raise."""
        if type(round_id) is str:  # of the latest part, as nearly all are
            part, _, digits = round_id.rpartition("-")
            begin, latest = self.parts[-1]
            if part == latest and digits.isascii() and digits.isdigit() and len(digits) < _DIGITS:
                number = int(digits)
                if max(begin, self.oldest) <= number < self.next_number and str(number) == digits:
                    return number
        return self._number_of(round_id, keep)

    def _number_of(self, round_id: str, keep: int) -> int:
        """Return the number of a round that is kept, of any part, or raise."""
        if isinstance(round_id, Shown):
            raise UnknownRound("round id is a list that was shown; pass its round_id: shown.round_id")
        match = _ID.fullmatch(round_id) if isinstance(round_id, str) else None
        if match is None:
            raise UnknownRound(f"round id is {round_id!r}; it must be the round_id of a list that was shown")
        number, oldest = int(match[1]), self.next_number - len(self.answers)
        if number < oldest and any(round_id.startswith(part) for _, part in self.parts):
            raise RoundClosed(
                f"round {round_id} is closed: it expired, or is older than the last {keep} rounds (keep=); "
                f"answers are taken from {f'round {self.id_of(oldest)}' if self.answers else 'the next round'} on"
            )
        if not oldest <= number < self.next_number or self.id_of(number) != round_id:
            raise UnknownRound(
                f"round {round_id} was never shown by this lister: an answer must reach the lister, in the process, "
                "that showed its list; if several processes show lists, let them share a service (shortlist.Client)"
            )
        return number


def shown_values(round_id: str, listed: Listed, values: Array) -> tuple[Any, ...]:
    """Return the values of `Shown` for a list, in its order."""
    positions = listed.positions
    return (
        round_id,
        listed.threshold,
        tuple(positions if listed.ids is None else listed.members),
        scores_of(values, positions),
        len(values),
        listed.reached,
        listed.truncated,
        listed.added,
        bool(listed.explored),
        False,
        None if listed.comparable is None else tuple(listed.comparable),
        listed.kept_count,
    )


def scores_of(values: Array, positions: list[int]) -> tuple[Any, ...]:
    """Return the scores of some candidates as they were passed: numbers, or one tuple per candidate."""
    rows = values[positions].tolist()
    return tuple(rows) if values.ndim == 1 else tuple(map(tuple, rows))


def check_right(listed: Listed, right: Any) -> None:
    """Refuse a right answer that cannot have been a candidate, rather than count it as a miss."""
    if right is None:
        return
    if listed.ids is None:
        if type(right) is not int or not 0 <= right < len(listed.scores):
            raise InvalidIds(
                f"right is {right!r}, and the list has the positions 0 to {len(listed.scores) - 1}; pass one of them, "
                "or None if no candidate is right"
            )
    elif listed.ids and all(type(right) is not type(name) for name in listed.ids):
        raise InvalidIds(
            f"right is {right!r}, a {type(right).__name__}, and the list's ids are like {listed.ids[0]!r}; pass an id "
            "of that type, or None if no candidate is right"
        )
