"""What is in memory: streams as far as they are folded, and the rounds at hand. The log has everything else."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from shortlist.errors import DamagedLog, ServiceUnavailable, StoreUnavailable
from shortlist.service.engine.rounds import RoundCache
from shortlist.service.engine.stream import STATE_VERSION, Stream
from shortlist.service.store import Event, StreamRow

__all__ = ["Memory", "damage", "load"]

_log = logging.getLogger("shortlist.service")


class Memory:
    """The streams in memory. Only the event loop's thread touches it."""

    def __init__(self) -> None:
        self.by_name: dict[str, Stream] = {}
        self.by_id: dict[int, Stream] = {}
        #: The number of each stream's last snapshot.
        self.snapshots: dict[int, int] = {}
        self.cache = RoundCache()
        self._listeners: dict[int, set[asyncio.Event]] = {}
        #: Streams whose log cannot be read, by id: why. They are not read again until they are deleted.
        self.damaged: dict[int, DamagedLog] = {}

    def add(self, stream: Stream, snapshot: int) -> None:
        """Take a stream in."""
        self.by_name[stream.name] = self.by_id[stream.id] = stream
        self.snapshots[stream.id] = snapshot

    def forget(self, stream: Stream, *, deleted: bool = False) -> None:
        """Drop a stream: it is gone, or must be read anew."""
        stream.deleted = stream.deleted or deleted
        if self.by_id.get(stream.id) is stream:
            del self.by_id[stream.id]
            self.snapshots.pop(stream.id, None)
        if self.by_name.get(stream.name) is stream:
            del self.by_name[stream.name]
        self.cache.forget(stream.id)
        self._wake(stream.id)

    def fold(self, events: Iterable[Event]) -> dict[int, ServiceUnavailable]:
        """Apply events that are in the log; return the streams that could not take theirs, and what to tell.

        Such a stream is dropped: it is read from the log when it is next asked for. No other one is touched.
        """
        touched, failed = set(), dict[int, ServiceUnavailable]()
        for event in events:
            if event.stream_id in failed:
                continue
            stream = self.by_id[event.stream_id]
            try:
                stream.apply(event)
            except Exception:  # noqa: BLE001 - whatever it was, the other streams go on
                _log.exception("event %s of stream %s cannot be folded: it is read again", event.number, stream.name)
                failed[event.stream_id] = ServiceUnavailable(
                    f"stream {stream.name!r} is being read again from its log: try again"
                )
                self.forget(stream)
                continue
            self.cache.add(event)
            touched.add(event.stream_id)
        for stream_id in touched:
            self._wake(stream_id)
        return failed

    def listen(self, stream_id: int) -> asyncio.Event:
        """Return an event that is set whenever a stream changes."""
        changed = asyncio.Event()
        self._listeners.setdefault(stream_id, set()).add(changed)
        return changed

    def unlisten(self, stream_id: int, changed: asyncio.Event) -> None:
        """Stop listening."""
        listeners = self._listeners.get(stream_id, set())
        listeners.discard(changed)
        if not listeners:
            self._listeners.pop(stream_id, None)

    def wake_all(self) -> None:
        """Wake everybody who listens."""
        for stream_id in self._listeners:
            self._wake(stream_id)

    def _wake(self, stream_id: int) -> None:
        for changed in self._listeners.get(stream_id, ()):
            changed.set()


def damage(name: str, number: int, error: Exception) -> DamagedLog:
    """Return, and log, that a stream's log cannot be read, or that one of its events cannot be applied."""
    where = str(error) if isinstance(error, DamagedLog) else f"event {number} cannot be applied"
    _log.error("stream %s is damaged: %s", name, where, exc_info=error)
    return DamagedLog(
        f"stream {name!r} is damaged: {where}; `shortlist verify` says more. Other streams are not affected: restore a "
        "backup, or delete this one"
    )


def load(reader: Any, row: StreamRow) -> tuple[Stream, int]:
    """Return a stream as its log gives it, from the last good snapshot on, and that snapshot's number."""
    number = 0
    try:
        stream, kept = _last_snapshot(reader, row)
        number = stream.number
        for event in reader.events(row.id, after=number):
            number = event.number
            stream.apply(event)
    except StoreUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - a log can be damaged in any way
        raise damage(row.name, number, error) from None
    return stream, kept


def _last_snapshot(reader: Any, row: StreamRow) -> tuple[Stream, int]:
    """Return a stream as its newest good snapshot has it, and that snapshot's number; 0 if there is none."""
    stream = Stream(row)
    for snapshot in reader.snapshots(row.id):
        if snapshot.version != STATE_VERSION or snapshot.number > row.last_number:
            continue
        try:
            stream.restore(snapshot)
        except Exception as error:  # noqa: BLE001 - the log has everything
            _log.warning("snapshot %s of stream %s is damaged (%r); the log is used", snapshot.number, row.name, error)
            stream = Stream(row)
            continue
        return stream, snapshot.number
    return stream, 0
