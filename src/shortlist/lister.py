"""What all listers share: the verbs that take answers, files, and several threads at once.

A lister proposes lists, keeps their rounds in a book, and tells one or more learners what the
answers were. Subclasses say how a list is made and which learners an answer is for.
"""

import abc
import copy
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import Member, check_count, plain_member
from shortlist.cutter import best_first
from shortlist.errors import DamagedFile, MissingScore, NotShown, ShortlistError
from shortlist.learner import Learner, RoundName
from shortlist.rounds import Answer, RoundBook

__all__ = ["Lister", "Shown", "cut_list"]

_VERSION: Final = 2
_COUNTERS: Final = {Answer.MISS: "misses", Answer.SKIP: "skipped", Answer.ABSENT: "absent"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A list as it was shown.

    Attributes
    ----------
    round_id
        The round's number: hand it back with the answer.
    threshold
        The threshold of the list: of the comparable scores that `score=` makes of the raw ones.
    members
        The candidates shown, best first, ties in the order given: positions, or your ids.
    scores
        Their scores, as they were handed in.
    candidates
        How many candidates were passed in.
    cut
        How many of them reach the threshold: the first `cut` members. All of them, unless `at_least`
        shows more. In shadow mode, how many would have been shown.
    truncated
        Whether candidates may be missing that reach the threshold, because of `at_most` or because they
        were cut off before; the guarantee does not cover such a list.
    comparable
        For each score in use, its index and what it made of the scores above.
    """

    round_id: RoundName
    threshold: float
    members: tuple[Member, ...]
    scores: tuple[float, ...]
    candidates: int
    cut: int
    truncated: bool = False
    comparable: dict[int, tuple[float, ...]] = field(default_factory=dict, repr=False)

    @property
    def complete(self) -> bool:
        """Whether every candidate that was passed in is shown."""
        return len(self.members) == self.candidates

    @property
    def absent_is_believed(self) -> bool:
        """Whether somebody could have looked through everything there is; where not, `absent` is a miss."""
        return self.candidates > 0 and not self.truncated


def cut_list(
    values: NDArray[np.float64], names: list[Member] | None, threshold: float
) -> tuple[tuple[Member, ...], tuple[float, ...]]:
    """Return the members of the list at a threshold, best first, ties in the order given, and their scores."""
    order = best_first(np.flatnonzero(values >= threshold), values, values)
    positions = order.tolist()
    members = tuple(positions if names is None else [names[i] for i in positions])
    return members, tuple(values[order].tolist())


class Lister(abc.ABC):
    """The verbs. See `shortlist.Shortlister` for what they mean."""

    #: The word that tells its save files from others.
    kind: ClassVar[str]

    def __init__(self, keep: int) -> None:
        self._book: RoundBook[Any] = RoundBook(check_count("keep", keep))
        self._counts = {"hits": 0, "misses": 0, "skipped": 0, "absent": 0, "expired": 0}
        self._lock = threading.RLock()

    @abc.abstractmethod
    def _learners(self, record: Any) -> Iterable[Learner]:
        """Return the learners that a round's answer is for."""

    @abc.abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return settings and learners as plain data, for the save file."""

    @classmethod
    @abc.abstractmethod
    def _from_content(cls, content: dict[str, Any], **extras: Any) -> Self:
        """Return the lister that `_content` described."""

    def _encode(self, record: Any) -> Any:
        """Return an open round as plain data."""
        comparable = [[index, scores] for index, scores in record.comparable.items()]
        plain = [record.threshold, record.members, record.scores, record.candidates, record.cut, record.truncated]
        return [*plain, comparable]

    def _decode(self, round_id: int, plain: Any) -> Any:
        """Return the open round that `_encode` described."""
        threshold, members, scores, candidates, cut, truncated, comparable = plain
        return Shown(
            round_id,
            threshold,
            tuple(members),
            tuple(scores),
            candidates,
            cut,
            truncated,
            {index: tuple(values) for index, values in comparable},
        )

    def hit(self, round_id: RoundName, member: Member) -> None:
        """Take the answer "this one".

        Parameters
        ----------
        round_id
            The list's.
        member
            The candidate that is right, as it stands in ``shown.members``.

        Raises
        ------
        UnknownRound, RoundClosed
            No such round was shown, or it is too old to be kept.
        NotShown
            The member was not in the list: that is a `miss`.
        ConflictingAnswer
            The round has another answer. The same one again changes nothing.
        """
        with self._lock:
            member = plain_member(member)
            if not self._book.is_new(round_id, member):
                return
            shown = self._book.open[int(round_id)]
            known = isinstance(member, (int, str)) and not isinstance(member, bool)
            if not known or member not in shown.members:
                raise NotShown(
                    f"member {member!r} was not in the list of round {round_id}; "
                    "if the right one was not shown, report miss(round_id)"
                )
            self._book.close(round_id, member)
            self._counts["hits"] += 1
            self._hit(shown, int(round_id), shown.members.index(member))

    def _hit(self, shown: Any, round_id: int, place: int) -> None:
        """Tell the learners which of the members it was."""
        for learner in self._learners(shown):
            learner.answer(round_id, shown.scores[place])

    def miss(self, round_id: RoundName) -> None:
        """Take the answer "not in this list", for the list with this `round_id`."""
        self._without_member(round_id, Answer.MISS)

    def skip(self, round_id: RoundName) -> None:
        """Say that no answer will come to `round_id`; this is final.

        Silence may well hide a miss, so the round counts as low; with ``unanswered="ignore"`` it does
        not count at all.
        """
        self._without_member(round_id, Answer.SKIP)

    def absent(self, round_id: RoundName) -> None:
        """Take the answer "I looked through everything: no candidate is right", for the list with this `round_id`.

        The guarantee is over questions that can be answered, so the round leaves the sample, unless it
        has entered it already: then it stays below the threshold. Of a list that says ``truncated`` nobody
        has seen everything, and of an empty search nobody has seen anything, so there it is a miss. Report
        it in every round in which it is so, or never: reported only while lists are complete, it looks
        like a shift once they are cut.
        """
        self._without_member(round_id, Answer.ABSENT)

    def expire(self, before: int) -> int:
        """Close all rounds with an id below `before` for good, and return how many were open.

        What is unanswered then stays so, and counts as silence; later answers are refused.
        """
        before = check_count("before", before, least=0)
        with self._lock:
            return self._expire(min(before, self._book.next_id))

    def _expire(self, before: int) -> int:
        expired = self._book.expire(before)
        for round_id, record in expired:
            self._counts["expired"] += 1
            for learner in self._learners(record):
                learner.silence(round_id)
        return len(expired)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file at `path`; a crash in the middle leaves the old file as it was."""
        with self._lock:
            content = {
                "settings": self._content(),
                "counts": self._counts,
                "book": self._book.to_dict(self._encode),
            }
            from shortlist import savefile  # noqa: PLC0415 - its imports would cost a tenth of `import shortlist`

            savefile.write(path, self.kind, _VERSION, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the lister that was saved at `path`; it goes on with the same bits."""
        return cls._load(path)

    @classmethod
    def _load(cls, path: str | os.PathLike[str], **extras: Any) -> Self:
        from shortlist import savefile  # noqa: PLC0415 - see above

        content = savefile.read(path, cls.kind, _VERSION)
        try:
            lister = cls._from_content(content["settings"], **extras)
            lister._counts = content["counts"]
            lister._book = RoundBook.from_dict(content["book"], lister._decode)
        except MissingScore:
            raise
        except (ShortlistError, KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is damaged: {type(error).__name__}: {error}") from None
        return lister

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return copy.deepcopy({name: value for name, value in vars(self).items() if name != "_lock"})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _summary(self) -> dict[str, Any]:
        answered = self._counts["hits"] + self._counts["misses"]
        return {
            "rounds": self._book.next_id,
            **self._counts,
            "open": len(self._book.open),
            "coverage_seen": self._counts["hits"] / answered if answered else None,
        }

    def _open(self, shown: Any, learners: Iterable[Learner]) -> None:
        """Enter a list into the book, and close what is too old to be kept."""
        self._book.add(shown)
        for learner in learners:
            learner.show(shown.round_id)
        self._close_overdue()

    def _close_overdue(self) -> None:
        if self._book.overdue() > self._book.oldest:
            self._expire(self._book.overdue())

    def _without_member(self, round_id: RoundName, answer: Answer) -> None:
        with self._lock:
            if not self._book.is_new(round_id, answer):
                return
            shown = self._book.close(round_id, answer)
            if answer is Answer.ABSENT and not shown.absent_is_believed:
                answer = Answer.MISS
            self._counts[_COUNTERS[answer]] += 1
            if answer is Answer.MISS:
                self._miss(shown, int(round_id))
                return
            for learner in self._learners(shown):
                if answer is Answer.ABSENT:
                    learner.withdraw(int(round_id))
                else:
                    learner.silence(int(round_id))

    def _miss(self, shown: Any, round_id: int) -> None:
        """Say to the learners that it was none of the members."""
        for learner in self._learners(shown):
            learner.miss(round_id, truncated=shown.truncated)
