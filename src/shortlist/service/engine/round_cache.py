"""Rounds as they were shown, kept at hand while they are likely to be asked for."""

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from shortlist._validation import UNNAMED, Array, Member, Scorers
from shortlist.rounds.admission import Given, answer_of
from shortlist.rounds.events import All, Answer, Listed
from shortlist.rounds.stream import Stream
from shortlist.scores import Score
from shortlist.scores.comparable import comparable
from shortlist.service.store import LogEntry, Reader, Text

__all__ = ["Key", "Round", "RoundCache", "Seen", "comparing", "scorers_of", "table_of", "with_texts"]

#: A stream and a round of it.
Key = tuple[int, str]
#: How many candidates are kept in memory, over all rounds: about 20 MB.
_CAPACITY: Final = 200_000


@dataclass(frozen=True, slots=True)
class Round:
    """A round: the entry of the log that opened it, the one that closed it, if one has, and those that showed more."""

    shown: LogEntry
    closed: LogEntry | None = None
    more: tuple[LogEntry, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[LogEntry]) -> "dict[str, Round]":
        """Return the rounds of some entries of one stream, by their names: those whose list is among them."""
        rounds: dict[str, Round] = {}
        for entry in sorted(entries, key=lambda entry: entry.number):
            if entry.is_list:
                rounds[entry.round_id] = cls(entry)
            elif entry.round_id in rounds:
                rounds[entry.round_id] = rounds[entry.round_id].after(entry)
        return rounds

    def after(self, entry: LogEntry) -> "Round":
        """Return the round after another entry of it; one that is known already changes nothing."""
        if entry.is_answer:
            return Round(self.shown, entry, self.more)
        is_repeat = entry.is_list or any(each.number >= entry.number for each in self.more)
        return self if is_repeat else Round(self.shown, self.closed, (*self.more, entry))

    @property
    def listed(self) -> Listed:
        """Its list, with all that was shown of it."""
        listed: Listed = self.shown.event  # type: ignore[assignment]
        for entry in self.more:
            listed = listed.expanded(entry.event)  # type: ignore[arg-type]
        return listed

    @property
    def members(self) -> list[Member]:
        """The candidates shown, best first."""
        return self.listed.members

    @property
    def given(self) -> Given | None:
        """The answer that it has."""
        return None if self.closed is None else answer_of(self.closed.event)

    def answer(self) -> dict[str, Any] | None:
        """Return the answer as JSON has it."""
        given = self.given
        if given is None:
            return None
        if isinstance(given, Answer):
            return {given.value: True}
        return {"hit": given.members if isinstance(given, All) else given}


#: A round with its texts, and what computes what was compared with the threshold for each candidate.
Seen = tuple[Round, Text | None, Callable[[], Sequence[float]]]


class RoundCache:
    """Rounds that are likely to be asked for; the last used stay the longest."""

    def __init__(self, capacity: int = _CAPACITY) -> None:
        self._capacity = capacity
        self._size = 0
        self._rounds: OrderedDict[Key, Round] = OrderedDict()

    def get(self, key: Key) -> Round | None:
        """Return a round if it is at hand."""
        if key not in self._rounds:
            return None
        self._rounds.move_to_end(key)
        return self._rounds[key]

    def add(self, entry: LogEntry) -> None:
        """Take an entry of a round: its first, or the one that closes it."""
        key = (entry.stream_id, entry.round_id)
        logged = self._rounds.get(key)
        if logged is not None:
            self._rounds[key] = logged.after(entry)
        if logged is not None or not entry.is_list:
            return
        self._rounds[key] = Round(entry)
        self._size += len(entry.event.scores)  # type: ignore[union-attr]
        while self._size > self._capacity and len(self._rounds) > 1:
            _, oldest = self._rounds.popitem(last=False)
            self._size -= len(oldest.listed.scores)

    def forget(self, stream_id: int) -> None:
        """Drop all rounds of a stream."""
        for key in [key for key in self._rounds if key[0] == stream_id]:
            self._size -= len(self._rounds.pop(key).listed.scores)


def with_texts(reader: Reader, stream_id: int, entries: list[LogEntry]) -> list[tuple[Round, Text | None]]:
    """Return the rounds that lists have opened, with their answers and texts, in the order of the lists."""
    others = reader.rounds(stream_id, [entry.round_id for entry in entries], lists=False)
    rounds = Round.of([*entries, *others])
    texts = reader.texts(stream_id, [entry.number for entry in entries])
    return [(rounds[entry.round_id], texts.get(entry.number)) for entry in entries]


def scorers_of(listed: Listed) -> Scorers:
    """Return the names of the scorers of a list."""
    return UNNAMED if listed.scorers is None else tuple(listed.scorers)


def table_of(listed: Listed) -> Array:
    """Return the scores of a list: a number for each candidate, or a row of them, NaN where there is none."""
    values = np.asarray(listed.scores, dtype=np.float64)
    count = len(scorers_of(listed))
    return values if count == 1 else values.reshape(len(values), count)


def comparing(stream: Stream, shown: Round) -> Callable[[], Sequence[float]]:
    """Return what computes what was compared with the threshold, for each candidate of a list.

    It may be called in any thread: what it needs of the stream is looked up now.
    """
    listed = shown.listed
    return functools.partial(_computed, stream.score_of(scorers_of(listed), listed.fit), listed)


def _computed(score: Score | None, listed: Listed) -> Sequence[float]:
    computed: list[float] = comparable(score, table_of(listed)).tolist()
    return computed
