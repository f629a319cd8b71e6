"""What is in memory: streams as far as they are folded, and the rounds at hand. The log has everything else."""

import asyncio
import itertools
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable

from shortlist.errors import DamagedLog, ServiceUnavailable
from shortlist.rounds.events import Event
from shortlist.rounds.news import Mark, mark, tell
from shortlist.service.engine.logged_stream import STATE_VERSION, LoggedStream
from shortlist.service.engine.round_cache import RoundCache
from shortlist.service.store import LogEntry, Reader, StreamRow

__all__ = ["Memory", "damage", "load"]

_log = logging.getLogger("shortlist.service")


class Memory:
    """The streams in memory. Only the event loop's thread touches it.

    Parameters
    ----------
    limit
        How many streams there should be at the most; those that somebody listens to do not leave.
    """

    def __init__(self, limit: int = 1_000) -> None:
        self.limit = limit
        #: Those that were used last are at the end.
        self.by_name: OrderedDict[str, LoggedStream] = OrderedDict()
        self.by_id: dict[int, LoggedStream] = {}
        #: The number of each stream's last snapshot.
        self.snapshots: dict[int, int] = {}
        self.cache = RoundCache()
        self._listeners: dict[int, set[asyncio.Event]] = {}
        #: Streams whose log cannot be read, by id: why. They are not read again until they are deleted.
        self.damaged: dict[int, DamagedLog] = {}

    def find(self, name: str) -> LoggedStream | None:
        """Return a stream that is in memory: it is in use."""
        stream = self.by_name.get(name)
        if stream is not None:
            self.by_name.move_to_end(name)
        return stream

    def superfluous(self) -> list[LoggedStream]:
        """Return the streams that should leave, those first that were not used for the longest time."""
        more = len(self.by_name) - self.limit
        idle = (stream for stream in self.by_name.values() if stream.id not in self._listeners)
        return list(itertools.islice(idle, more)) if more > 0 else []

    def add(self, stream: LoggedStream, snapshot: int) -> None:
        """Take a stream in."""
        self.by_name[stream.name] = self.by_id[stream.id] = stream
        self.snapshots[stream.id] = snapshot

    def forget(self, stream: LoggedStream, *, deleted: bool = False) -> None:
        """Drop a stream: it is gone, or must be read again."""
        stream.deleted = stream.deleted or deleted
        if self.by_id.get(stream.id) is stream:
            del self.by_id[stream.id]
            self.snapshots.pop(stream.id, None)
        if self.by_name.get(stream.name) is stream:
            del self.by_name[stream.name]
        self.cache.forget(stream.id)
        self._wake(stream.id)

    def fold(self, entries: Iterable[LogEntry]) -> dict[int, ServiceUnavailable]:
        """Apply entries of the log; return the streams that could not take theirs, and the error for each.

        Such a stream is dropped: it is read from the log when it is next asked for. No other one is touched.
        """
        failed, marks = dict[int, ServiceUnavailable](), dict[int, Mark]()
        touched = defaultdict[int, list[Event]](list)
        for entry in entries:
            if entry.stream_id in failed:
                continue
            stream = self.by_id[entry.stream_id]
            if entry.stream_id not in marks:
                marks[entry.stream_id] = mark(stream.stream)
            try:
                stream.apply(entry)
            except Exception:  # noqa: BLE001 - whatever it was, the other streams go on
                _log.exception("event %s of stream %s cannot be folded: it is read again", entry.number, stream.name)
                failed[entry.stream_id] = ServiceUnavailable(
                    f"stream {stream.name!r} is being read again from its log: try again"
                )
                self.forget(stream)
                continue
            self.cache.add(entry)
            touched[entry.stream_id].append(entry.event)
        for stream_id, events in touched.items():
            if (changed := self.by_id.get(stream_id)) is not None:
                tell(changed.stream, marks[stream_id], events, changed.name)
            if self._listeners:
                self._wake(stream_id)
        return failed

    def mark_damaged(self, stream_id: int, name: str, error: DamagedLog) -> DamagedLog:
        """Remember that a stream's log cannot be read, and return the error."""
        stream = self.by_id.get(stream_id)
        if stream is not None:
            self.forget(stream)
        if stream_id not in self.damaged:
            self.damaged[stream_id] = damage(name, error)
        return self.damaged[stream_id]

    def listen(self, stream_id: int) -> asyncio.Event:
        """Return an event that is set whenever a stream changes."""
        changed = asyncio.Event()
        self._listeners.setdefault(stream_id, set()).add(changed)
        return changed

    def unlisten(self, stream_id: int, changed: asyncio.Event) -> bool:
        """Stop listening; return whether nobody listens any more."""
        listeners = self._listeners.get(stream_id, set())
        listeners.discard(changed)
        if not listeners:
            self._listeners.pop(stream_id, None)
        return not listeners

    @property
    def listeners(self) -> int:
        """How many listen."""
        return sum(map(len, self._listeners.values()))

    def wake_all(self) -> None:
        """Wake everybody who listens."""
        for stream_id in self._listeners:
            self._wake(stream_id)

    def _wake(self, stream_id: int) -> None:
        for changed in self._listeners.get(stream_id, ()):
            changed.set()


def damage(name: str, error: Exception) -> DamagedLog:
    """Return, and log, that a stream's settings or its log cannot be read, or an event of it cannot be applied."""
    where = str(error) if isinstance(error, DamagedLog) else f"its settings cannot be read ({error})"
    _log.error("stream %s is damaged: %s", name, where, exc_info=error)
    return DamagedLog(
        f"stream {name!r} is damaged: {where}; `shortlist verify` says more. Other streams are not affected: restore a "
        "backup, or delete this one"
    )


def load(reader: Reader, row: StreamRow, stopping: Callable[[], bool] = bool) -> tuple[LoggedStream, int]:
    """Return a stream as its log gives it, from the last good snapshot on, and that snapshot's number.

    What the database itself cannot do now is not damage: it is raised as it is. So is ServiceUnavailable, as soon as
    `stopping` says that nobody waits any more.
    """
    try:
        stream = LoggedStream(row)
    except Exception as error:  # noqa: BLE001 - settings can be damaged in any way
        raise damage(row.name, error) from None
    stream, kept = _last_snapshot(reader, row, stream)
    try:
        for entry in reader.events(row.id, after=stream.number):
            if stopping():
                raise ServiceUnavailable(f"stream {row.name!r} was not read to its end: try again")
            _apply(stream, entry)
    except DamagedLog as error:
        raise damage(row.name, error) from None
    return stream, kept


def _apply(stream: LoggedStream, entry: LogEntry) -> None:
    try:
        stream.apply(entry)
    except MemoryError:
        raise
    except Exception as error:
        what = f"event {entry.number} cannot be applied ({type(error).__name__}: {error})"
        raise DamagedLog(what) from error


def _last_snapshot(reader: Reader, row: StreamRow, fresh: LoggedStream) -> tuple[LoggedStream, int]:
    """Return a stream as its newest good snapshot has it, and that snapshot's number; as new, and 0, if none is."""
    for snapshot in reader.snapshots(row.id):
        if snapshot.version != STATE_VERSION or snapshot.number > row.last_number:
            continue
        stream = LoggedStream(row)
        try:
            stream.restore(snapshot)
        except Exception as error:  # noqa: BLE001 - the log has everything
            _log.warning("snapshot %s of stream %s is damaged (%r); the log is used", snapshot.number, row.name, error)
            continue
        return stream, snapshot.number
    return fresh, 0
