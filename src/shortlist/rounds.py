"""The book of rounds: which are open, which are answered and how, which are too old to be kept.

A round's first answer counts. The same answer again changes nothing; a different one, an unknown
round and a closed round are refused, each with its own error, before anything has changed.
"""

import enum
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar

import numpy as np

from shortlist._validation import Member
from shortlist.errors import ConflictingAnswer, RoundClosed, UnknownRound

__all__ = ["Answer", "RoundBook"]

Record = TypeVar("Record")


class Answer(enum.Enum):
    """The answers that name no member. A hit is remembered as the member itself."""

    MISS = "miss"
    SKIP = "skip"
    ABSENT = "absent"


class _Answers:
    """The answers of rounds in a row, None where there is none yet.

    While members are positions, as they are unless the caller has ids, an answer takes two bytes; the first that is not
    makes this a queue of whatever they are.
    """

    _SHORT: Final = (None, *Answer)  # what the first codes stand for; after them come the positions
    _MOST: Final = 2**15 - 1 - len(_SHORT)

    def __init__(self, answers: Iterable[Member | Answer | None] = ()) -> None:
        self._kept: array[int] | deque[Member | Answer | None] = array("h")
        for answer in answers:
            self.append(answer)

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, place: int) -> Member | Answer | None:
        kept = self._kept
        return self._meaning(kept[place]) if isinstance(kept, array) else kept[place]

    def __setitem__(self, place: int, answer: Member | Answer) -> None:
        code = self._code(answer)
        if isinstance(self._kept, array) and code is not None:
            self._kept[place] = code
        else:
            self._queue()[place] = answer

    def append(self, answer: Member | Answer | None) -> None:
        """Add the answer of the next round."""
        code = self._code(answer)
        if isinstance(self._kept, array) and code is not None:
            self._kept.append(code)
        else:
            self._queue().append(answer)

    def popleft(self) -> Member | Answer | None:
        """Remove the oldest one and return it."""
        kept = self._kept
        return self._meaning(kept.pop(0)) if isinstance(kept, array) else kept.popleft()

    def _queue(self) -> deque[Member | Answer | None]:
        if isinstance(self._kept, array):
            self._kept = deque(map(self._meaning, self._kept))
        return self._kept

    def _code(self, answer: Member | Answer | None) -> int | None:
        if type(answer) is int:
            return answer + len(self._SHORT) if 0 <= answer <= self._MOST else None
        return None if isinstance(answer, str) else self._SHORT.index(answer)

    def _meaning(self, code: int) -> Member | Answer | None:
        return self._SHORT[code] if code < len(self._SHORT) else code - len(self._SHORT)


class RoundBook(Generic[Record]):
    """Numbers rounds from 0 and keeps the last `keep` of them.

    Parameters
    ----------
    keep
        For how many later rounds a round is kept.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.next_id = 0
        #: The rounds without an answer, oldest first.
        self.open: dict[int, Record] = {}
        # The answers of the rounds kept, oldest first; None where the round is open.
        self._answers = _Answers()

    @property
    def oldest(self) -> int:
        """The id of the oldest round that is kept."""
        return self.next_id - len(self._answers)

    def add(self, record: Record) -> None:
        """Open the round `next_id`."""
        self.open[self.next_id] = record
        self._answers.append(None)
        self.next_id += 1

    def given(self, round_id: int | str) -> Member | Answer | None:
        """Return the answer that a round has, or None while it is open."""
        if isinstance(round_id, bool) or not isinstance(round_id, (int, np.integer)):
            raise UnknownRound(f"round id is {round_id!r}; it must be the round_id of a list that was shown")
        if not 0 <= round_id < self.next_id:
            so_far = f"round ids run from 0 to {self.next_id - 1} so far" if self.next_id else "there is none so far"
            raise UnknownRound(f"round {round_id} was never shown; {so_far}")
        if round_id < self.oldest:
            raise RoundClosed(
                f"round {round_id} is closed: it was expired, or is older than the last {self.keep} rounds (keep=); "
                f"answers are taken from round {self.oldest} on"
            )
        return self._answers[int(round_id) - self.oldest]

    def is_new(self, round_id: int | str, answer: Member | Answer) -> bool:
        """Return whether this is the round's first answer; refuse one that differs from the first."""
        given = self.given(round_id)
        if given is None:
            return True
        if given != answer or type(given) is not type(answer):
            raise ConflictingAnswer(
                f"round {round_id} was answered {_words(given)!r} before; it cannot be answered {_words(answer)!r} now"
            )
        return False

    def close(self, round_id: int | str, answer: Member | Answer) -> Record:
        """Record an open round's answer and return what was kept of the round."""
        self._answers[int(round_id) - self.oldest] = answer
        return self.open.pop(int(round_id))

    def expire(self, before: int) -> list[tuple[int, Record]]:
        """Close all rounds before that id for good; return the open ones among them."""
        expired = []
        while len(self._answers) and self.oldest < before:
            oldest = self.oldest
            if self._answers.popleft() is None:
                expired.append((oldest, self.open.pop(oldest)))
        return expired

    def overdue(self) -> int:
        """Return the id before which rounds are too old to be kept."""
        return self.next_id - self.keep

    def to_dict(self, encode: Callable[[Record], Any]) -> dict[str, Any]:
        """Return the book as plain data."""
        return {
            "keep": self.keep,
            "next_id": self.next_id,
            "answers": [_to_plain(self._answers[place]) for place in range(len(self._answers))],
            "open": [[round_id, encode(record)] for round_id, record in self.open.items()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], decode: Callable[[int, Any], Record]) -> "RoundBook[Record]":
        """Return the book that `to_dict` described."""
        book = cls(data["keep"])
        book.next_id = data["next_id"]
        book._answers = _Answers(_from_plain(answer) for answer in data["answers"])
        book.open = {round_id: decode(round_id, record) for round_id, record in data["open"]}
        return book


def _words(answer: Member | Answer) -> str:
    return answer.value if isinstance(answer, Answer) else f"hit {answer!r}"


def _to_plain(answer: Member | Answer | None) -> Any:
    if answer is None:
        return None
    return answer.value if isinstance(answer, Answer) else [answer]


def _from_plain(plain: Any) -> Member | Answer | None:
    if plain is None:
        return None
    if isinstance(plain, list):
        member: Member = plain[0]
        return member
    return Answer(plain)
