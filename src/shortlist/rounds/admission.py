"""Which answers are taken.

A round's first answer counts. The same answer again changes nothing; a different one corrects it within `grace`, and is
refused after that, and so is a member that was not shown: each with its own error, before anything has changed.
"""

from shortlist._validation import Member
from shortlist.errors import ConflictingAnswer, NotShown, RoundClosed
from shortlist.rounds.events import (
    Absent,
    Answer,
    Answered,
    Corrected,
    Event,
    Expired,
    Hit,
    Listed,
    Miss,
    Skip,
    kind_of,
)
from shortlist.rounds.shown import RoundName

__all__ = ["admit", "answer_of"]


def admit(
    listed: Listed | None,
    answer: Member | Answer,
    given: Member | Answer | None = None,
    *,
    name: RoundName = "",
    held: bool = False,
) -> Event | None:
    """Return the event that an answer is, or None if it changes nothing.

    Parameters
    ----------
    listed
        The round's list; may be None where the round has an answer.
    answer
        The answer: a member for a hit.
    given
        The answer that the round has already, if it has one.
    name
        The round's name, where there is no list.
    held
        Whether the answer that it has may still be corrected; then it has its list, too.

    Raises
    ------
    ConflictingAnswer
        The round has another answer.
    RoundClosed
        Its answer was waited for too long.
    NotShown
        The member was not in the list.
    """
    if given is not None:
        if not held or _is_same(answer, given) or answer is Answer.EXPIRED:
            _check_again(name if listed is None else listed.round_id, answer, given)
            return None
        event = admit(listed, answer)
        assert event is not None  # noqa: S101 - as a first answer it is one
        return Corrected(event.round_id, Answered.of(event))  # type: ignore[union-attr]
    assert listed is not None  # noqa: S101 - a round without an answer has its list
    if type(answer) is not Answer:
        shown = listed.positions if listed.ids is None else listed.members
        if type(answer) not in (int, str) or answer not in shown:
            raise NotShown(
                f"candidate {answer!r} was not in the list of round {listed.round_id}; if the right one was not "
                "shown, the answer is a miss"
            )
        place = shown.index(answer)  # type: ignore[arg-type]
        position = listed.positions[place]
        score = float(listed.scores[position]) if listed.comparable is None else listed.comparable[place]
        known = None if listed.fit is None else position
        after_more = listed.first is not None and place >= listed.first
        missed = not listed.has(place)
        return Hit(listed.round_id, answer, score, missed, listed.complete, known, after_more)  # type: ignore[arg-type]
    list_was = listed.truncated, listed.complete, listed.is_everything, listed.is_paged
    if answer is Answer.MISS:
        return Miss(listed.round_id, *list_was)
    if answer is Answer.ABSENT:
        return Absent(listed.round_id, listed.believes_absent, *list_was)
    return Skip(listed.round_id) if answer is Answer.SKIP else Expired(listed.round_id)


def _check_again(name: RoundName, answer: Member | Answer, given: Member | Answer) -> None:
    """Refuse an answer that differs from the first; one that ends the waiting comes too late, and does not matter."""
    if answer is Answer.EXPIRED or _is_same(answer, given):
        return
    if given is Answer.EXPIRED:
        raise RoundClosed(f"round {name} is closed: its answer was waited for too long")
    raise ConflictingAnswer(
        f"round {name} was answered {_in_words(given)} before; it cannot be answered {_in_words(answer)} now"
    )


def _is_same(answer: Member | Answer, given: Member | Answer) -> bool:
    return type(answer) is type(given) and answer == given


def _in_words(answer: Member | Answer) -> str:
    return answer.value if isinstance(answer, Answer) else f"hit {answer!r}"


def answer_of(event: Event) -> Member | Answer:
    """Return the answer that an event was."""
    if isinstance(event, Corrected):
        event = event.answer.event
    return event.member if isinstance(event, Hit) else Answer(kind_of(event))
