"""Which answers are accepted.

A round's first answer counts and is final. The same answer again changes nothing; a different one is
refused. So is a member that was not shown. Each has its own error, raised before anything has changed.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist._validation import Member, check_ids, plain_members
from shortlist.errors import ConflictingAnswer, InvalidIds, NotShown, RoundClosed
from shortlist.rounds.events import (
    Absent,
    All,
    Answer,
    Event,
    Expired,
    Hit,
    Listed,
    Miss,
    Skip,
    Withdrawn,
    kind_of,
)
from shortlist.rounds.shown import RoundName
from shortlist.scores.kept_lists import MOST_KEPT

__all__ = ["Given", "admit", "answer_of", "is_same_answer", "needed"]


#: An answer: a member for a hit, several if all of them are needed, or an answer that names no member.
Given = Member | All | Answer


def admit(
    listed: Listed | None,
    answer: Given,
    given: Given | None = None,
    *,
    name: RoundName = "",
) -> Event | None:
    """Return the event of an answer, or None if it changes nothing.

    Parameters
    ----------
    listed
        The round's list; may be None if the round has an answer.
    answer
        The answer: a member for a hit.
    given
        The answer that the round already has, if any.
    name
        The round's name in messages; by default as in the list.

    Raises
    ------
    ConflictingAnswer
        If the round has a different answer.
    RoundClosed
        If the round has expired, or its list was taken back.
    NotShown
        If the member was not in the list.
    """
    if name == "" and listed is not None:
        name = listed.round_id
    if given is not None:
        _check_again(name, answer, given)
        return None
    assert listed is not None  # noqa: S101 - a round without an answer has its list
    if type(answer) is not Answer:
        return _hit(listed, answer, name)  # type: ignore[arg-type]
    if answer is Answer.MISS:
        return Miss(listed.round_id, *listed.as_missed)
    if answer is Answer.ABSENT:
        return Absent(listed.round_id, listed.believes_absent, *listed.as_missed)
    if answer is Answer.WITHDRAWN:
        return Withdrawn(listed.round_id)
    return Skip(listed.round_id) if answer is Answer.SKIP else Expired(listed.round_id)


def needed(member: Any) -> Member | All:
    """Return the right member, or all that are needed, as plain data."""
    plain = plain_members(member)
    if not isinstance(plain, list):
        return plain  # type: ignore[no-any-return]
    if not plain:
        raise InvalidIds("the list of needed candidates is empty; if no candidate is right, the answer is a miss")
    members = check_ids(plain, len(plain))
    return members[0] if len(members) == 1 else All(members)


def _hit(listed: Listed, answer: Member | All, name: RoundName) -> Hit:
    """Return the event of a pick; if several are needed, that of the one with the lowest score."""
    shown = listed.positions if listed.ids is None else listed.members
    if isinstance(answer, All):
        ranks = [_rank(listed, name, shown, one) for one in answer.members]
        rank, last, several = min(ranks, key=lambda one: (_score(listed, one), -one)), max(ranks), answer.members
    else:
        rank = last = _rank(listed, name, shown, answer)
        several = None
    position = None if listed.fit is None else listed.positions[rank]
    score, missed = _score(listed, rank), not listed.has(last)
    after_more = listed.first is not None and last >= listed.first
    row = None if position is None or len(listed.scores) <= MOST_KEPT else _row(listed.scores[position])
    half = listed.is_in_better_half(last)
    recall = listed.tells_recall
    return Hit(listed.round_id, shown[rank], score, missed, recall, position, after_more, several, row, half)


def _row(scores: Any) -> list[float | None]:
    """Return the scores of a candidate as plain data."""
    if isinstance(scores, float):  # one scorer has no gaps
        return [float(scores)]
    row = np.atleast_1d(np.asarray(scores, dtype=np.float64)).tolist()
    return [None if math.isnan(score) else score for score in row]


def _score(listed: Listed, rank: int) -> float:
    """Return what was compared with the threshold."""
    return float(listed.scores[listed.positions[rank]]) if listed.comparable is None else listed.comparable[rank]


def _rank(listed: Listed, name: RoundName, shown: Sequence[Member], member: Any) -> int:
    """Return the index of a member in a list, or raise."""
    if type(member) not in (int, str) or member not in shown:
        count = len(listed.scores)
        remedy = "if the right one was not shown, the answer is a miss, or ask for `more` first"
        if listed.ids is None and not (type(member) is int and 0 <= member < count):
            remedy = f"its candidates are the positions 0 to {count - 1}: pass one as it is in the list's members"
        raise NotShown(f"candidate {member!r} was not in the list of round {name}; {remedy}")
    return shown.index(member)


def _check_again(name: RoundName, answer: Given, given: Given) -> None:
    """Refuse an answer that differs from the first; an expiry after an answer does not matter."""
    if answer is Answer.EXPIRED or is_same_answer(answer, given):
        return
    if given is Answer.EXPIRED:
        raise RoundClosed(f"round {name} is closed: it expired before its answer arrived")
    if given is Answer.WITHDRAWN:
        raise RoundClosed(f"round {name} is closed: its list was taken back, because nobody saw it")
    if answer is Answer.WITHDRAWN:
        raise ConflictingAnswer(f"round {name} was already answered {_in_words(given)}: somebody saw it, so it stays")
    raise ConflictingAnswer(
        f"round {name} was already answered {_in_words(given)}; it cannot be answered {_in_words(answer)} now: "
        "the first answer is final"
    )


def is_same_answer(answer: Given, given: Given) -> bool:
    """Return whether an answer is the one that was given."""
    if isinstance(answer, All) and isinstance(given, All):
        return sorted(map(repr, answer.members)) == sorted(map(repr, given.members))  # 1 is not "1"
    return type(answer) is type(given) and answer == given


def _in_words(answer: Given) -> str:
    if isinstance(answer, Answer):
        return answer.value
    return f"hit {list(answer.members) if isinstance(answer, All) else answer!r}"


def answer_of(event: Event) -> Given:
    """Return the answer behind an event."""
    if isinstance(event, Hit):
        return event.member if event.members is None else All(event.members)
    return Answer(kind_of(event))
