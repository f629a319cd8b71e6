"""A stream of the service: the fold of its entries in the log.

`apply` is the only way in which a stream changes, and it looks at nothing but the entry. What is only shown
on charts (`series`) is folded separately: if that fails, the charts start again and the stream goes on.
"""

import json
import logging
import math
from dataclasses import dataclass, field
from typing import Any, Final

from shortlist.policies import State
from shortlist.rounds.codec import decode, encode, to_json
from shortlist.rounds.events import Configured, Hit, Listed, WarmStarted, counted_as
from shortlist.rounds.learning import LearningState
from shortlist.rounds.progress import summarize
from shortlist.rounds.repeated_fits import make_learning
from shortlist.rounds.stream import Stream, StreamState
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.engine.series import Series
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import LogEntry, Snapshot, StreamRow

__all__ = ["STATE_VERSION", "LoggedStream"]

_log = logging.getLogger("shortlist.service")

#: Raised when the state changes its form: older snapshots are then not used, and the log is.
STATE_VERSION: Final = 12


@dataclass
class StreamSnapshot:
    """What a snapshot holds."""

    stream: StreamState
    learning: LearningState | None
    open: dict[str, int]
    scorer_version: str | None
    last_at: float | None
    #: The settings that were changed since it was made.
    changes: dict[str, Any] = field(default_factory=dict)
    warm_start: str | None = None
    series: Series = field(default_factory=Series)
    charts_dropped: int = 0


class LoggedStream:
    """The state of one stream after its last folded entry."""

    def __init__(self, row: StreamRow) -> None:
        self.id, self.name, self.created = row.id, row.name, row.created
        #: As they are now; `changes` are those of them that were changed since it was made.
        self.settings = StreamSettings.of(**row.settings)
        self.changes: dict[str, Any] = {}
        #: The number of the last entry in it.
        self.number = 0
        self.stream = self._made(None, None)
        #: The rounds without an answer, oldest first, each with the number of its list.
        self.open: dict[str, int] = {}
        self.series = Series()
        #: How often the charts had to start again, because an event could not be drawn.
        self.charts_dropped = 0
        #: The version of the scorer: as set, or that of the first round. All rounds name the same one, or none does.
        self.scorer_version = self.settings.scorer_version
        #: Whether it was deleted while somebody still holds it.
        self.deleted = False
        #: The digest of the labeled examples that it has learned from; None if there were none.
        self.warm_start: str | None = None
        #: When something last happened.
        self.last_at: float | None = None

    def _made(self, state: StreamState | None, learning: LearningState | None) -> Stream:
        """Return the rounds with what they, and the score that they may learn, remember."""
        settings = self.settings.rounds
        return Stream(settings, state=state, learning=make_learning(settings, learning), seed=self.name)

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self.stream.threshold

    def apply(self, entry: LogEntry) -> None:
        """Take the next entry."""
        if entry.number != self.number + 1:
            raise ValueError(f"event {entry.number} of stream {self.name} does not follow {self.number}")
        event = entry.event
        counts = isinstance(event, Hit) and self.stream.tracker.is_open(event.round_id)
        if isinstance(event, Listed):
            self.open[entry.round_id] = entry.number
            self.scorer_version = event.scorer_version if self.stream.tally.rounds == 0 else self.scorer_version
        elif entry.is_answer:
            del self.open[entry.round_id]
        elif isinstance(event, Configured):
            self.changes |= event.changes
            before, self.settings = self.settings, self.settings.changed(event.changes)
            if self.settings.rounds.explore_share is not None:
                self.changes.pop("miss_budget", None)  # it ended when exploration began
            event = Configured(self.settings.round_changes(before))
        elif isinstance(event, WarmStarted):
            self.warm_start = event.digest or ""
        self.stream.apply(event)
        self.number, self.last_at = entry.number, entry.at
        try:
            self._chart(entry, counts=counts)
        except Exception:  # noqa: BLE001 - a picture must not be able to destroy what it is a picture of
            _log.exception("the charts of stream %s start again: event %s cannot be drawn", self.name, entry.number)
            self.series = Series()
            self.charts_dropped += 1

    def _chart(self, entry: LogEntry, *, counts: bool) -> None:
        """Take the entry into the stream's history; `counts`: it is a pick that the threshold learns from."""
        event, tracker = entry.event, self.stream.tracker
        if isinstance(event, Listed):
            length = event.reached if self.stream.settings.shadow else len(event.positions)
            self.series.show(length, len(event.scores))
        elif entry.is_answer:
            self.series.answer(counted_as(event))
            if counts and isinstance(event, Hit):  # what was picked while the score was learned is on another scale
                self.series.pick(0 if self.stream.learning is None else self.stream.learning.number, event.score)
        detector = tracker.detector
        level = -math.inf if detector is None else detector.level(tracker.state.drift)
        self.series.mark(entry.at, tracker.threshold, level)

    def snapshot(self) -> Snapshot:
        """Return the state as text, the same bits for the same events."""
        learning = self.stream.learning
        state = StreamSnapshot(
            self.stream.state,
            None if learning is None else learning.state,
            self.open,
            self.scorer_version,
            self.last_at,
            self.changes,
            self.warm_start,
            self.series,
            self.charts_dropped,
        )
        return Snapshot(self.number, STATE_VERSION, to_json(state))

    def restore(self, snapshot: Snapshot) -> None:
        """Go to the state of a snapshot."""
        plain = json.loads(snapshot.state)
        self.changes = plain.get("changes", {})
        self.settings = self.settings.changed(self.changes)  # they may include the policy
        policy = self.settings.rounds.policy
        state: StreamSnapshot = decode(StreamSnapshot, plain, {State: policy.state_type})
        self.stream = self._made(state.stream, state.learning)
        self.open, self.scorer_version, self.last_at = state.open, state.scorer_version, state.last_at
        self.warm_start = state.warm_start
        self.series, self.charts_dropped = state.series, state.charts_dropped
        self.number = snapshot.number

    def summary(self) -> StreamSummary:
        """Return the summary: settings, figures, and what is waited for. Nothing takes long."""
        learning = self.stream.learning
        return StreamSummary(
            **summarize(self.stream, len(self.open), measure=False),
            **self.series.recent(),
            name=self.name,
            created=self.created,
            settings=self.settings.to_dict(),
            scorer_version=self.scorer_version,
            events=self.number,
            last_event=self.last_at,
            learned=None if learning is None else encode(learning.state.score),
            spark=self.series.spark(),
            charts_dropped=self.charts_dropped,
        )
