"""Judging what people sent, and turning it into events. Nothing here waits, and nothing is changed.

A batch is judged against the state before it: every list in it is cut with the thresholds that are
on disk. Those may be a little old when the list's event is folded, which is safe (within an epoch
thresholds only rise), and the event says which they were. Requests of one batch see each other: of
two different answers to a round the first one counts.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import Member
from shortlist.errors import (
    ConflictingAnswer,
    ConflictingRound,
    NotShown,
    RoundClosed,
    ScorerChanged,
    ShortlistError,
    UnknownRound,
)
from shortlist.service.engine.rounds import Round, RoundCache
from shortlist.service.engine.stream import Stream, cut_to_body
from shortlist.service.store import Event, Text

__all__ = ["Batch", "Close", "Command", "Propose"]


@dataclass(slots=True)
class Propose:
    """A list to be cut and shown."""

    stream: Stream
    round_id: str
    ids: list[Member]
    values: NDArray[np.float64]
    question: str | None = None
    texts: list[str | None] | None = None
    truncated_below: float | None = None
    scorer_version: str | None = None
    #: Whether the id is new for certain, because it was made here.
    fresh: bool = False

    def words(self) -> str | None:
        """Return a digest of what people read: it may be erased, and must still be known again."""
        if self.question is None and self.texts is None:
            return None
        return hashlib.sha256(json.dumps([self.question, self.texts]).encode()).hexdigest()


@dataclass(slots=True)
class Close:
    """A round's answer, or the end of waiting for one."""

    stream: Stream
    round_id: str
    #: hit, miss, skip, absent, expired
    kind: str
    member: Member | None = None


Command = Propose | Close


@dataclass
class Batch:
    """Events to be, of requests that share a commit."""

    cache: RoundCache
    at: float
    open_limit: int
    events: list[Event] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    # Rounds that this batch opens or closes.
    _rounds: dict[tuple[int, str], Round] = field(default_factory=dict)
    _expired: set[tuple[int, str]] = field(default_factory=set)
    _numbers: dict[int, int] = field(default_factory=dict)
    # The scorer version of each stream's last list in it.
    _versions: dict[int, str | None] = field(default_factory=dict)
    # By how much each stream's open rounds will have grown.
    _grown: Counter[int] = field(default_factory=Counter)

    def judge(self, command: Command) -> tuple[Round, bool] | ShortlistError:
        """Return the round and whether this changes it, or the reason why it cannot be."""
        try:
            return self._propose(command) if isinstance(command, Propose) else self._close(command)
        except ShortlistError as error:
            return error

    def _find(self, stream: Stream, round_id: str) -> Round | None:
        key = (stream.id, round_id)
        return self._rounds.get(key) or self.cache.get(key)

    def _propose(self, new: Propose) -> tuple[Round, bool]:
        stream = new.stream
        known = None if new.fresh else self._find(stream, new.round_id)
        if known is not None:
            if not _same_list(known.shown.body, new):
                raise ConflictingRound(
                    f"round {new.round_id} was shown before with other candidates, texts or settings; send the same "
                    "again, or give the new list a round_id of its own"
                )
            return known, False
        self._check_version(stream, new.scorer_version)
        cut = stream.cutter.cut(new.values, -np.inf if new.truncated_below is None else new.truncated_below)
        body = cut_to_body(cut, new.ids, new.values) | {"shadow": stream.settings.shadow}
        for name in ("truncated_below", "scorer_version"):
            if getattr(new, name) is not None:
                body[name] = getattr(new, name)
        words = new.words()
        if words is not None:
            body["words"] = words
        self._versions[stream.id] = new.scorer_version
        self._make_room(stream)
        shown = self._add(stream, "shown", new.round_id, body)
        if words is not None:
            self.texts.append(Text(stream.id, shown.number, new.question, new.texts))
        self._grown[stream.id] += 1
        self._rounds[stream.id, new.round_id] = Round(shown)
        return self._rounds[stream.id, new.round_id], True

    def _check_version(self, stream: Stream, version: str | None) -> None:
        """Refuse a round of another scorer: all rounds of a stream name the same version, or none does."""
        first = stream.scorer_version is None and stream.number == 0 and stream.id not in self._versions
        expected = self._versions.get(stream.id, stream.scorer_version)
        if first or version == expected:
            return
        if version is None:
            raise ScorerChanged(
                f"scorer_version is missing, and stream {stream.name} is for {expected!r}; scores of another model are "
                f'on another scale: send "scorer_version": {json.dumps(expected)} with every round'
            )
        known = "rounds without a scorer_version" if expected is None else repr(expected)
        raise ScorerChanged(
            f"scorer_version is {version!r}, and stream {stream.name} has learned from {known}; scores of another "
            "model are on another scale: make a new stream for it"
        )

    def _make_room(self, stream: Stream) -> None:
        """Close the oldest open round, if there are too many to wait for."""
        if len(stream.open) + self._grown[stream.id] < self.open_limit:
            return
        for round_id in stream.open:
            key = (stream.id, round_id)
            if key not in self._expired and key not in self._rounds:
                self._expired.add(key)
                self._grown[stream.id] -= 1
                self._add(stream, "expired", round_id, {})
                return

    def _close(self, new: Close) -> tuple[Round, bool]:
        stream = new.stream
        known = self._find(stream, new.round_id)
        if known is None:
            raise UnknownRound(f"round {new.round_id} of stream {stream.name} was never shown")
        given = known.closed
        if (stream.id, new.round_id) in self._expired or (given is not None and given.kind == "expired"):
            if new.kind == "expired":
                return known, False
            raise RoundClosed(f"round {new.round_id} is closed: its answer was waited for too long")
        if given is not None:
            if new.kind == "expired":
                return known, False
            if (new.kind, new.member) != (given.kind, given.body.get("member")) or _types_differ(new, given):
                wanted = {"hit": new.member} if new.kind == "hit" else {new.kind: True}
                raise ConflictingAnswer(
                    f"round {new.round_id} was answered {json.dumps(known.answer())} before; it cannot be answered "
                    f"{json.dumps(wanted)} now"
                )
            return known, False
        return self._end(stream, new, known), True

    def _end(self, stream: Stream, new: Close, known: Round) -> Round:
        """Add the event that closes a round."""
        body: dict[str, Any] = {}
        shown = known.shown.body
        if new.kind == "hit":
            place = _place(known, new.member)
            position = shown["positions"][place]
            made = {i: shown["made"].get(i, shown["scores"])[position] for i in shown["thresholds"]}
            body = {
                "member": new.member,
                "made": made,
                "beyond": place >= shown["reached"],
                "complete": known.complete,
            }
        elif new.kind in ("miss", "absent"):
            body = {"truncated": shown["truncated"], "complete": known.complete}
            if new.kind == "absent":
                body["believed"] = known.absent_is_believed
        closed = self._add(stream, new.kind, new.round_id, body)
        self._grown[stream.id] -= 1
        self._rounds[stream.id, new.round_id] = Round(known.shown, closed)
        return self._rounds[stream.id, new.round_id]

    def _add(self, stream: Stream, kind: str, round_id: str, body: dict[str, Any]) -> Event:
        number = self._numbers.get(stream.id, stream.number) + 1
        self._numbers[stream.id] = number
        event = Event(stream.id, number, kind, round_id, self.at, body)
        self.events.append(event)
        return event


def _place(known: Round, member: Member | None) -> int:
    """Return the place of a member in its list."""
    for place, shown in enumerate(known.members):
        if shown == member and type(shown) is type(member):
            return place
    raise NotShown(
        f"candidate {member!r} was not in the list of round {known.shown.round_id}; if the right one was not shown, "
        'answer {"miss": true}'
    )


def _types_differ(new: Close, given: Event) -> bool:
    return type(new.member) is not type(given.body.get("member"))


def _same_list(body: dict[str, Any], new: Propose) -> bool:
    # 1 and "1" are two ids, though 1 == 1.0 are one score.
    return bool(
        body["ids"] == new.ids
        and body["scores"] == new.values.tolist()
        and body.get("truncated_below") == new.truncated_below
        and body.get("scorer_version") == new.scorer_version
        and body.get("words") == new.words()
    )
