"""What is in memory: streams as far as they are folded, and the rounds at hand. The log has everything else."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from shortlist.service.engine.rounds import RoundCache
from shortlist.service.engine.stream import STATE_VERSION, Stream
from shortlist.service.store import Event, StreamRow

__all__ = ["Memory", "load"]

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

    def fold(self, events: Iterable[Event]) -> None:
        """Apply events that are in the log."""
        touched = set()
        for event in events:
            self.by_id[event.stream_id].apply(event)
            self.cache.add(event)
            touched.add(event.stream_id)
        for stream_id in touched:
            self._wake(stream_id)

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


def load(reader: Any, name: str) -> tuple[Stream, int] | None:
    """Return a stream as its log gives it, from the last good snapshot on, and that snapshot's number."""
    row: StreamRow | None = reader.stream(name)
    if row is None:
        return None
    stream, kept = Stream(row), 0
    for snapshot in reader.snapshots(row.id):
        if snapshot.version != STATE_VERSION or snapshot.number > row.last_number:
            continue
        try:
            stream.restore(snapshot)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            _log.warning("snapshot %s of stream %s is damaged (%r); the log is used", snapshot.number, name, error)
            stream = Stream(row)
            continue
        kept = snapshot.number
        break
    for event in reader.events(row.id, after=stream.number):
        stream.apply(event)
    return stream, kept
