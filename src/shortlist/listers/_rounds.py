"""The rounds that a lister keeps."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist._validation import Array, Member
from shortlist.errors import InvalidIds, RoundClosed, UnknownRound
from shortlist.rounds.events import All, Answer, Listed
from shortlist.rounds.shown import RoundName, Shown

__all__ = ["Rounds", "check_right", "scores_of", "shown_fields"]


@dataclass(slots=True)
class Rounds:
    """Rounds numbered from 0, the latest of which are kept: the open ones, and the answers to the others."""

    next_id: int = 0
    #: The lists of the rounds without an answer, oldest first.
    open: dict[int, Listed] = field(default_factory=dict)
    #: The answers to the rounds kept, oldest first; None for an open round.
    answers: deque[Member | All | Answer | None] = field(default_factory=deque)

    @property
    def oldest(self) -> int:
        """The id of the oldest round that is kept."""
        return self.next_id - len(self.answers)

    def listed(self, number: int) -> Listed | None:
        """Return a round's list, if it has no answer yet."""
        return self.open.get(number)

    def index(self, round_id: RoundName, keep: int) -> int:
        """Return the index of a round's answer, or raise if it is not kept."""
        if isinstance(round_id, Shown):
            raise UnknownRound("round id is a list that was shown; pass its round_id: shown.round_id")
        if isinstance(round_id, bool) or not isinstance(round_id, (int, np.integer)):
            raise UnknownRound(f"round id is {round_id!r}; it must be the round_id of a list that was shown")
        if not 0 <= round_id < self.next_id:
            so_far = f"round ids run from 0 to {self.next_id - 1} so far" if self.next_id else "there are none so far"
            raise UnknownRound(f"round {round_id} was never shown; {so_far}")
        index = int(round_id) - self.next_id + len(self.answers)
        if index < 0:
            raise RoundClosed(
                f"round {round_id} is closed: it expired, or is older than the last {keep} rounds (keep=); "
                f"answers are taken from round {self.oldest} on"
            )
        return index


def shown_fields(listed: Listed, values: Array) -> dict[str, Any]:
    """Return the fields of `Shown` for a list."""
    positions = listed.positions
    return {
        "round_id": listed.round_id,
        "threshold": listed.threshold,
        "members": tuple(positions if listed.ids is None else listed.members),
        "scores": scores_of(values, positions),
        "candidates": len(values),
        "reached": listed.reached,
        "truncated": listed.truncated,
        "added": listed.added,
        "explored": bool(listed.explored),
    }


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
