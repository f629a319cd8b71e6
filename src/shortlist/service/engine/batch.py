"""Judging what people sent, and turning it into events. Nothing here waits, and nothing is changed.

A batch is judged against the state before it: every list in it is cut with the thresholds that are
on disk. Those may be a little old when the list's event is folded, which is safe (within an epoch
thresholds only rise), and the event says which they were. Requests of one batch see each other: of
two different answers to a round the first one counts.
"""

import contextlib
import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist._validation import UNNAMED, Array, Member, Scorers, align_table, check_below
from shortlist.errors import (
    ConflictingRound,
    InvalidInput,
    InvalidParameter,
    RoundClosed,
    ScorerChanged,
    ShortlistError,
    UnknownRound,
)
from shortlist.rounds.admission import Given, admit
from shortlist.rounds.events import Answer, Configured, Event, Expired, Fitted, Listed, Restarted, Seen
from shortlist.service.engine.examples import WarmStart, check_warm_start
from shortlist.service.engine.restarting import Restart
from shortlist.service.engine.rounds import Key, Round, scorers_of, table_of
from shortlist.service.engine.settings import Settings
from shortlist.service.engine.shadowing import check_own, check_serves, shadowing
from shortlist.service.engine.stream import LoggedStream
from shortlist.service.store import Entry, Text, text_digest

__all__ = ["Batch", "Close", "Command", "Configure", "Expand", "Propose"]


@dataclass(slots=True)
class Propose:
    """A list to be cut and shown."""

    stream: LoggedStream
    round_id: str
    ids: list[Member]
    #: The checked scores, and the names of their scorers, which need not be all that the stream has.
    values: Array
    scorers: Scorers = UNNAMED
    question: str | None = None
    texts: list[str | None] | None = None
    truncated_below: float | Mapping[str, float] | None = None
    scorer_version: str | None = None
    tags: dict[str, str] | None = None
    #: Whether the id is new for certain, because it was made here.
    fresh: bool = False
    #: The scores of the same candidates for streams that shadow this one, and the names of their scorers.
    also: dict[str, tuple[Array, Scorers]] = field(default_factory=dict)

    def aligned(self, scorers: Scorers) -> tuple[Array, float | list[float | None] | None]:
        """Return the scores, and where the search had cut them off, with a column for each of these scorers."""
        below = None if self.truncated_below is None else check_below(self.truncated_below, scorers)
        return align_table(self.values, self.scorers, scorers), below

    def also_digest(self) -> str | None:
        """Return a digest of what was sent for other streams: these may be deleted, and it must still be recognized."""
        if not self.also:
            return None
        made = hashlib.sha256()
        for name, (values, scorers) in sorted(self.also.items()):
            made.update(json.dumps([name, scorers, values.shape]).encode())
            made.update(values.tobytes())
        return made.hexdigest()

    @property
    def has_texts(self) -> bool:
        """Whether there is something that people read."""
        return self.question is not None or self.texts is not None


@dataclass(slots=True)
class Close:
    """A round's answer, or the end of waiting for one."""

    stream: LoggedStream
    round_id: str
    #: A member for a hit, or several.
    answer: Given


@dataclass(slots=True)
class Expand:
    """More of a list."""

    stream: LoggedStream
    round_id: str
    #: How many more than were seen; all the rest if not given.
    count: int | None = None
    #: How many were seen; all that are shown if not given. So asking twice is asking once.
    seen: int | None = None


@dataclass(slots=True)
class Configure:
    """Settings to be changed."""

    stream: LoggedStream
    changes: dict[str, Any]
    #: It is about no round.
    round_id: str = ""


Command = Propose | Close | Expand | Configure | WarmStart | Restart


@dataclass
class Batch:
    """Entries to be, of requests that share a commit."""

    #: The rounds that the requests are about, as far as there are any.
    rounds: dict[Key, Round]
    at: float
    open_limit: int
    #: Streams that shadow others, by name; None where one cannot be read.
    others: dict[str, LoggedStream | None] = field(default_factory=dict)
    #: What the digests of texts are made with, of rounds that are sent again and whose texts are not erased.
    salts: dict[Key, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    # The rounds that are closed to make room.
    _expired: set[Key] = field(default_factory=set)
    # The scorer version of each stream's last list in it.
    _versions: dict[int, str | None] = field(default_factory=dict)
    # The scorers of each stream's lists in it.
    _scorers: dict[int, Scorers] = field(default_factory=dict)
    # The rounds of each stream that it answers, in order.
    _answered: dict[int, list[str]] = field(default_factory=dict)
    # What streams are set to after it, where that changes.
    _settings: dict[int, Settings] = field(default_factory=dict)
    # The digests of the examples that streams are warm started with, and the epochs that they are in after it.
    _digests: dict[int, str | None] = field(default_factory=dict)
    _epochs: dict[int, int] = field(default_factory=dict)
    # By how much each stream's open rounds will have grown.
    _grown: Counter[int] = field(default_factory=Counter)

    def judge(self, command: Command) -> tuple[Round | None, bool] | ShortlistError:
        """Return the round, if it is about one, and whether this changes it, or the reason why it cannot be."""
        try:
            if isinstance(command, (Propose, Close, Expand)):
                check_serves(command.stream)
            if isinstance(command, Propose):
                return self._propose(command)
            if isinstance(command, Configure):
                return None, self._configure(command)
            if isinstance(command, WarmStart):
                return None, self._warm_start(command)
            if isinstance(command, Restart):
                return None, self._restart(command)
            return self._close(command) if isinstance(command, Close) else self._expand(command)
        except ShortlistError as error:
            return error

    def _propose(self, new: Propose) -> tuple[Round, bool]:
        stream, key = new.stream, (new.stream.id, new.round_id)
        known = None if new.fresh else self.rounds.get(key)
        if known is not None:
            if known.listed.seen is not None or not self._is_same(known.listed, new):
                raise ConflictingRound(
                    f"round {new.round_id} was shown before with other candidates, texts or settings; send the same "
                    "again, or give the new list a round_id of its own"
                )
            return known, False
        self._check_version(stream, new.scorer_version)
        listed = self._decide(stream, new)
        others = self._decide_beside(new, listed)  # whatever is wrong with them, nothing has been added yet
        salt = secrets.token_hex(16) if new.has_texts else None
        listed = listed._replace(
            scorer_version=new.scorer_version,
            text_digest=None if salt is None else text_digest(salt, new.question, new.texts),
            also=[other.name for other, _ in others] or None,
            also_digest=new.also_digest(),
        )
        self._open(stream, listed)
        if salt is not None:
            self.texts.append(Text(stream.id, self.rounds[key].shown.number, new.question, new.texts, salt))
            self.salts[key] = salt
        for other, beside in others:
            self._open(other, beside)
        return self.rounds[key], True

    def _is_same(self, listed: Listed, new: Propose) -> bool:
        """Return whether a list is the one that was shown; of texts that are erased, only that there were some."""
        digest, salt = listed.text_digest, self.salts.get((new.stream.id, new.round_id))
        if digest is None or salt is None:
            return (digest is not None) is new.has_texts and _same_list(listed, new)
        return digest == text_digest(salt, new.question, new.texts) and _same_list(listed, new)

    def _decide(self, stream: LoggedStream, new: Propose) -> Listed:
        """Return what a stream would show, with the scorers that it has."""
        expected = self._scorers.get(stream.id, stream.rounds.scorers)
        scorers = expected or (new.scorers if len(new.values) else UNNAMED)
        values, below = new.aligned(scorers)
        return stream.rounds.decide(new.round_id, values, new.ids, below, scorers=scorers, tags=new.tags)

    def _decide_beside(self, new: Propose, listed: Listed) -> list[tuple[LoggedStream, Listed]]:
        """Return the streams that shadow a list's, and what they would show in its place."""
        seen = Seen(new.stream.name, listed.positions, listed.complete, new.truncated_below is not None)
        decided = []
        for name, (values, scorers) in new.also.items():
            other = shadowing(new.stream, name, self.others)
            if other is None:
                continue
            try:
                beside = self._decide(other, Propose(other, new.round_id, new.ids, values, scorers, tags=new.tags))
            except ShortlistError as error:
                raise type(error)(f"also, for stream {name}: {error}") from None
            decided.append((other, beside.beside(seen)._replace(scorer_version=other.scorer_version)))
        return decided

    def _open(self, stream: LoggedStream, listed: Listed) -> None:
        """Add a list that opens a round."""
        self._versions[stream.id] = listed.scorer_version
        if len(listed.scores):
            self._scorers[stream.id] = scorers_of(listed)
        self._make_room(stream)
        self.rounds[stream.id, str(listed.round_id)] = Round(self._add(stream, listed))
        self._grown[stream.id] += 1

    def _check_version(self, stream: LoggedStream, version: str | None) -> None:
        """Refuse a round of another scorer: all rounds of a stream name the same version, or none does."""
        first = stream.scorer_version is None and stream.rounds.tally.rounds == 0 and stream.id not in self._versions
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
            "model are on another scale: make a new stream for it, and take the answers along (shortlist rescore), or "
            "let it shadow this one first (shadows)"
        )

    def _make_room(self, stream: LoggedStream) -> None:
        """Close the oldest open round, if there are too many to wait for."""
        if len(stream.open) + self._grown[stream.id] < self.open_limit:
            return
        for round_id in stream.open:
            key = (stream.id, round_id)
            if key not in self._expired and self._is_open(key):
                self._expired.add(key)
                self._grown[stream.id] -= 1
                entry = self._add(stream, Expired(round_id))
                if key in self.rounds:
                    self._carry(self.rounds[key].listed, Answer.EXPIRED)
                    self.rounds[key] = self.rounds[key].after(entry)
                return

    def _is_open(self, key: Key) -> bool:
        """Return whether no request of the batch has closed a round."""
        return key not in self.rounds or self.rounds[key].closed is None

    def _close(self, new: Close) -> tuple[Round, bool]:
        stream, key = new.stream, (new.stream.id, new.round_id)
        known = self.rounds.get(key)
        if known is None:
            raise UnknownRound(f"round {new.round_id} of stream {stream.name} was never shown")
        if new.answer is not Answer.EXPIRED:
            check_own(known.listed)
        if not self._answer(stream, known, new.answer):
            return known, False
        self._carry(known.listed, new.answer)
        return self.rounds[key], True

    def _answer(self, stream: LoggedStream, known: Round, answer: Given) -> bool:
        """Add a round's answer, and return whether it changes it."""
        round_id = known.shown.round_id
        held = known.closed is not None and self._is_held(stream, round_id)
        listed = known.listed
        if not isinstance(answer, Answer):
            listed = stream.rounds.completed(listed, table_of(listed))
        event = admit(listed, answer, known.given, held=held)
        if event is None:
            return False
        self.rounds[stream.id, round_id] = known.after(self._add(stream, event))
        if known.closed is None:
            self._grown[stream.id] -= 1
            if answer is not Answer.EXPIRED:  # it waits for nothing, so it makes no other answer final
                self._answered.setdefault(stream.id, []).append(round_id)
        return True

    def _carry(self, listed: Listed, answer: Given) -> None:
        """Answer a round in the streams that have it too; where its answer is final already, it stays."""
        for stream, known in self._beside(listed):
            with contextlib.suppress(ShortlistError):
                self._answer(stream, known, answer)

    def _beside(self, listed: Listed) -> list[tuple[LoggedStream, Round]]:
        """Return the streams that have a round too, each with its round."""
        rounds = []
        for name in listed.also or ():
            other = self.others.get(name)
            known = None if other is None else self.rounds.get((other.id, str(listed.round_id)))
            if other is not None and known is not None and known.listed.seen is not None:
                rounds.append((other, known))
        return rounds

    def _is_held(self, stream: LoggedStream, round_id: str) -> bool:
        """Return whether a round's answer may still be corrected, after all that the batch has answered so far."""
        rounds, answered = stream.rounds, self._answered.get(stream.id, [])
        if round_id in answered:
            return len(answered) - answered.index(round_id) <= rounds.settings.grace
        return rounds.holding.has(round_id, len(answered))

    def _expand(self, new: Expand) -> tuple[Round, bool]:
        stream, key = new.stream, (new.stream.id, new.round_id)
        known = self.rounds.get(key)
        if known is None:
            raise UnknownRound(f"round {new.round_id} of stream {stream.name} was never shown")
        listed = known.listed
        check_own(listed)
        shown = len(listed.positions)
        if new.seen is not None and new.seen > shown:
            raise InvalidParameter(f"shown is {new.seen}, and {shown} candidates of round {new.round_id} are shown")
        count = None if new.count is None else (shown if new.seen is None else new.seen) + new.count - shown
        if count is not None and count <= 0:
            return known, False  # it is shown already
        if known.closed is not None and not self._is_held(stream, new.round_id):
            if len(listed.scores) == shown:
                return known, False
            raise RoundClosed(
                f"round {new.round_id} has its final answer; more of a list can be shown only before that"
            )
        event = stream.rounds.expand(listed, table_of(listed), count)
        if event is None:
            return known, False
        self.rounds[key] = known.after(self._add(stream, event))
        for other, beside in self._beside(listed):
            if beside.closed is None:
                more = self._add(other, beside.listed.also_expanded(event.positions))
                self.rounds[other.id, new.round_id] = beside.after(more)
        return self.rounds[key], True

    def _configure(self, new: Configure) -> bool:
        """Change settings; lists of the same batch are cut as before, as if they had come first."""
        now = self._settings.get(new.stream.id, new.stream.settings)
        changed = now.changed(new.changes)
        if changed == now:
            return False
        self._settings[new.stream.id] = changed
        self._add(new.stream, Configured(new.changes))
        return True

    def _warm_start(self, new: WarmStart) -> bool:
        stream = new.stream
        before = self._digests.get(stream.id, stream.warm_start)
        if before is not None and before == new.digest:
            return False
        check_warm_start(stream, started=stream.id in self._versions, again=before is not None)
        self._digests[stream.id] = new.digest
        for event in new.events:
            if isinstance(event, Fitted):
                self._scorers[stream.id] = event.score.scorers
            self._add(stream, event)
        return True

    def _restart(self, new: Restart) -> bool:
        stream = new.stream
        now = self._epochs.get(stream.id, stream.rounds.tracker.epoch)
        if not new.is_new(now):
            return False
        self._epochs[stream.id] = now + 1
        self._add(stream, Restarted(now + 1, new.refit))
        return True

    def _add(self, stream: LoggedStream, event: Event) -> Entry:
        number = self._numbers.get(stream.id, stream.number) + 1
        self._numbers[stream.id] = number
        entry = Entry(stream.id, number, self.at, event)
        self.entries.append(entry)
        return entry


def _same_list(listed: Listed, new: Propose) -> bool:
    try:
        values, below = new.aligned(scorers_of(listed))
    except InvalidInput:
        return False  # it is of other scorers
    # 1 and "1" are two ids, though 1 == 1.0 are one score.
    return bool(
        listed.ids == new.ids
        and np.array_equal(table_of(listed), values, equal_nan=True)
        and listed.truncated_below == below
        and listed.scorer_version == new.scorer_version
        and listed.tags == new.tags
        and listed.also_digest == new.also_digest()
    )
