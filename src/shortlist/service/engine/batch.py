"""Checking requests, and turning them into events. Nothing here waits; only the batch itself is changed.

A batch is judged against the state before it: every list in it is cut with the thresholds that are
on disk. Those may be a little old when the list's event is folded, which is safe (within an epoch
thresholds only rise), and the event says which they were. Requests of one batch see each other: of
two different answers to a round the first one counts.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from shortlist._validation import UNNAMED, Scorers
from shortlist.errors import (
    ConflictingRound,
    InvalidInput,
    InvalidParameter,
    LeaseLost,
    RoundClosed,
    ScorerChanged,
    ShortlistError,
    UnknownRound,
)
from shortlist.rounds.admission import Given, admit, is_same_answer
from shortlist.rounds.events import Answer, Configured, Event, Expired, Fitted, Hit, Listed, Restarted
from shortlist.rounds.repeated_fits import RepeatedFits
from shortlist.service.engine.background_fits import CommitFit
from shortlist.service.engine.commands import Close, Command, Configure, Expand, Propose
from shortlist.service.engine.examples import WarmStart, check_warm_start
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.restarting import Restart
from shortlist.service.engine.round_cache import Key, Round, scorers_of, table_of
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import AnswerAuthor, Lease, LogEntry, Text

__all__ = ["Batch"]

_LEASED: Final = "round {} is now leased to somebody else: your lease has ended; request the next one"
_NO_HOLDER: Final = "round {} is leased: send its `holder`, as `next` returned it, or request the next one"


@dataclass
class Batch:
    """Entries to be, of requests that share a commit."""

    #: The rounds that the requests are about, as far as there are any.
    rounds: dict[Key, Round]
    at: float
    open_limit: int
    #: The texts of rounds that are sent again, where they are not erased.
    known_texts: dict[Key, Text] = field(default_factory=dict)
    #: The leases of rounds that somebody answers whom they bind, and who gave the answers that such rounds have.
    leases: dict[Key, Lease] = field(default_factory=dict)
    signers: dict[Key, str] = field(default_factory=dict)
    entries: list[LogEntry] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    authors: list[AnswerAuthor] = field(default_factory=list)
    #: Whether items or leases have changed in the transaction.
    touched: bool = False
    _numbers: dict[int, int] = field(default_factory=dict)
    # The rounds that are closed to make room.
    _expired: set[Key] = field(default_factory=set)
    # The scorer version of each stream's last list in it.
    _versions: dict[int, str | None] = field(default_factory=dict)
    # The scorers of each stream's lists in it.
    _scorers: dict[int, Scorers] = field(default_factory=dict)
    # What streams are set to after it, where that changes.
    _settings: dict[int, StreamSettings] = field(default_factory=dict)
    # The digests of the examples that streams are warm started with, and the epochs that they are in after it.
    _digests: dict[int, str | None] = field(default_factory=dict)
    _epochs: dict[int, int] = field(default_factory=dict)
    # By how much each stream's open rounds will have grown, and how many lists of it are in the batch.
    _grown: Counter[int] = field(default_factory=Counter)
    _shown: Counter[int] = field(default_factory=Counter)

    def judge(self, command: Command) -> tuple[Round | None, bool] | ShortlistError:
        """Return the round, if it is about one, and whether this changes it, or the reason why it cannot be."""
        try:
            if isinstance(command, Propose):
                return self._propose(command)
            if isinstance(command, Configure):
                return None, self._configure(command)
            if isinstance(command, WarmStart):
                return None, self._warm_start(command)
            if isinstance(command, Restart):
                return None, self._restart(command)
            if isinstance(command, CommitFit):
                return None, self._commit_fit(command)
            assert isinstance(command, (Close, Expand))  # noqa: S101 - what is taken is drawn by the writer
            return self._close(command) if isinstance(command, Close) else self._expand(command)
        except ShortlistError as error:
            return error

    def _propose(self, new: Propose) -> tuple[Round, bool]:
        stream, key = new.stream, (new.stream.id, new.round_id)
        logged = None if new.is_fresh else self.rounds.get(key)
        if logged is not None:
            if not self._is_same(logged.listed, new):
                raise ConflictingRound(
                    f"round {new.round_id} was shown before with other candidates, texts or settings; send the same "
                    "again, or give the new list a round_id of its own"
                )
            return logged, False
        self._check_version(stream, new.scorer_version)
        listed = self._decide(stream, new)
        listed = listed._replace(
            scorer_version=new.scorer_version,
            has_text=new.has_texts,
            drawn=new.drawn,
        )
        self._open(stream, listed)
        if new.has_texts:
            text = Text(stream.id, self.rounds[key].shown.number, new.question, new.texts, new.image)
            self.texts.append(text)
            self.known_texts[key] = text
        return self.rounds[key], True

    def _is_same(self, listed: Listed, new: Propose) -> bool:
        """Return whether a list is the one that was shown; of texts that are erased, only that there were some."""
        text = self.known_texts.get((new.stream.id, new.round_id))
        if text is not None and (text.question, text.texts, text.image) != (new.question, new.texts, new.image):
            return False
        return listed.has_text is new.has_texts and _same_list(listed, new)

    def _decide(self, stream: LoggedStream, new: Propose) -> Listed:
        """Return what a stream would show, with the scorers that it has."""
        expected = self._scorers.get(stream.id, stream.stream.scorers)
        scorers = expected or (new.scorers if len(new.values) else UNNAMED)
        values, below = new.aligned(scorers)
        draft = new.draft
        listed = stream.stream.decide(new.round_id, values, new.ids, below, scorers=scorers, page=new.page, again=draft)
        if draft is None:
            return listed
        if listed.positions != draft.positions:
            raise RoundClosed(
                f"round {new.round_id} was shown before the stream's settings changed: nothing was stored"
            )
        return listed._replace(epoch=draft.epoch)

    def _open(self, stream: LoggedStream, listed: Listed) -> None:
        """Add a list that opens a round."""
        self._versions[stream.id] = listed.scorer_version
        if len(listed.scores):
            self._scorers[stream.id] = scorers_of(listed)
        self._make_room(stream)
        self.rounds[stream.id, str(listed.round_id)] = Round(self._add(stream, listed))
        self._grown[stream.id] += 1
        self._shown[stream.id] += 1

    def shown(self, stream: LoggedStream) -> int:
        """Return the number of rounds in a stream after what is judged so far."""
        return stream.stream.tally.rounds + self._shown[stream.id]

    def check(self, new: Propose) -> None:
        """Raise if a list could not be shown; nothing is added."""
        self._check_version(new.stream, new.scorer_version)
        self._decide(new.stream, new)

    def unheld(self, stream: LoggedStream, leases: Iterable[Lease], waiting: int) -> str | None:
        """Return the oldest open round that nobody holds; one that was given back rests while anything else waits."""
        held, resting = {lease.round_id: lease for lease in leases}, None
        for round_id in stream.open:
            if not self.is_open((stream.id, round_id)):
                continue
            lease = held.get(round_id)
            if lease is None or (lease.until <= self.at and lease.rests_until <= self.shown(stream)):
                return round_id
            if lease.until <= self.at and resting is None:
                resting = round_id
        return None if waiting else resting

    def _check_version(self, stream: LoggedStream, version: str | None) -> None:
        """Refuse a round of another scorer: all rounds of a stream name the same version, or none does."""
        first = stream.scorer_version is None and stream.stream.tally.rounds == 0 and stream.id not in self._versions
        expected = self._versions.get(stream.id, stream.scorer_version)
        if first or version == expected:
            return
        if version is None:
            raise ScorerChanged(
                f"scorer_version is missing, and stream {stream.name} is for {expected!r}; scores of another model are "
                f'on another scale: send "scorer_version": {json.dumps(expected)} with every round'
            )
        versions = "rounds without a scorer_version" if expected is None else repr(expected)
        raise ScorerChanged(
            f"scorer_version is {version!r}, and stream {stream.name} has learned from {versions}; scores of another "
            "model are on another scale: create a new stream for it, and carry the answers over with shortlist.rescore"
        )

    def _make_room(self, stream: LoggedStream) -> None:
        """Close the oldest open round, if there are too many to wait for."""
        if len(stream.open) + self._grown[stream.id] < self.open_limit:
            return
        for round_id in stream.open:
            key = (stream.id, round_id)
            if key not in self._expired and self.is_open(key):
                self._expired.add(key)
                self._grown[stream.id] -= 1
                entry = self._add(stream, Expired(round_id))
                if key in self.rounds:
                    self.rounds[key] = self.rounds[key].after(entry)
                return

    def is_closed(self, stream: LoggedStream, round_id: str) -> bool:
        """Return whether a round is answered; one that the batch itself has opened is not in the stream yet."""
        logged = self.rounds.get((stream.id, round_id))
        if (stream.id, round_id) in self._expired:
            return True
        return round_id not in stream.open if logged is None else logged.closed is not None

    def is_open(self, key: Key) -> bool:
        """Return whether no request of the batch has closed a round."""
        return key not in self._expired and (key not in self.rounds or self.rounds[key].closed is None)

    def _close(self, new: Close) -> tuple[Round, bool]:
        stream, key = new.stream, (new.stream.id, new.round_id)
        logged = self.rounds.get(key)
        if logged is None:
            raise UnknownRound(f"round {new.round_id} of stream {stream.name} was never shown")
        self._check_author(key, logged, new)
        if not self._answer(stream, logged, new.answer, new.author.annotator):
            return logged, False
        return self.rounds[key], True

    def _check_author(self, key: Key, logged: Round, new: Close | Expand) -> None:
        """Refuse an answer to a round, or more of one, that is leased to somebody else, or that another has answered.

        An answered round is theirs who held it or signed its answer. To anybody else who can only answer, every answer
        to it gets the same refusal: what was answered cannot be guessed. Programs that show lists are not bound.
        """
        author, given, lease = new.author, logged.given, self.leases.get(key)
        holder = "" if lease is None else lease.holder
        if not author.is_bound or (holder and holder == author.holder):
            return
        if given is None:
            if lease is not None and holder and lease.until > self.at:
                raise LeaseLost(_LEASED.format(key[1]) if author.holder else _NO_HOLDER.format(key[1]))
            return
        signed = author.annotator is not None and self.signers.get(key) == author.annotator
        repeated = isinstance(new, Close) and is_same_answer(new.answer, given)
        if not signed if author.only_answers else not repeated:
            raise LeaseLost(f"round {key[1]} was answered by another annotator")

    def _answer(self, stream: LoggedStream, logged: Round, answer: Given, annotator: str | None = None) -> bool:
        """Add a round's answer, and return whether it changes it."""
        round_id = logged.shown.round_id
        listed = logged.listed
        if not isinstance(answer, Answer):
            listed = stream.stream.completed(listed)
        event = admit(listed, answer, logged.given)
        if event is None:
            return False
        if isinstance(event, Hit):
            event = stream.stream.rescored(event, listed)
        entry = self._add(stream, event)
        self.rounds[stream.id, round_id] = logged.after(entry)
        if annotator is not None and stream.settings.record_annotators:
            self.authors.append(AnswerAuthor(stream.id, entry.number, annotator))
            self.signers[stream.id, round_id] = annotator
        self._grown[stream.id] -= 1
        return True

    def _expand(self, new: Expand) -> tuple[Round, bool]:
        stream, key = new.stream, (new.stream.id, new.round_id)
        logged = self.rounds.get(key)
        if logged is None:
            raise UnknownRound(f"round {new.round_id} of stream {stream.name} was never shown")
        listed = logged.listed
        self._check_author(key, logged, new)
        shown = len(listed.positions)
        if new.seen is not None and new.seen > shown:
            raise InvalidParameter(f"shown is {new.seen}, and {shown} candidates of round {new.round_id} are shown")
        count = None if new.count is None else (shown if new.seen is None else new.seen) + new.count - shown
        if count is not None and count <= 0:
            return logged, False  # it is shown already
        if logged.closed is not None:
            if len(listed.scores) == shown:
                return logged, False
            raise RoundClosed(f"round {new.round_id} has an answer; more of a list can be shown only before that")
        event = stream.stream.expand(listed, table_of(listed), count)
        if event is None:
            return logged, False
        self.rounds[key] = logged.after(self._add(stream, event))
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
        now = self._epochs.get(stream.id, stream.stream.tracker.epoch)
        if not new.is_new(now):
            return False
        self._epochs[stream.id] = now + 1
        self._add(stream, Restarted(now + 1, new.refit))
        return True

    def _commit_fit(self, new: CommitFit) -> bool:
        """Add a fit that was computed in the meantime, unless a restart or another fit has overtaken it."""
        learning = new.stream.stream.learning
        if learning is None or not learning.is_due or new.stream.id in self._epochs:
            return False
        if new.event.number != learning.number + 1 or new.stamp != learning.stamp:
            return False
        event = new.event
        if isinstance(learning, RepeatedFits):
            before = [entry.event for entry in self.entries if entry.stream_id == new.stream.id]
            event = learning.amended(event, [each for each in before if isinstance(each, Hit)])
        self._add(new.stream, event)
        return True

    def _add(self, stream: LoggedStream, event: Event) -> LogEntry:
        number = self._numbers.get(stream.id, stream.number) + 1
        self._numbers[stream.id] = number
        entry = LogEntry(stream.id, number, self.at, event)
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
    )
