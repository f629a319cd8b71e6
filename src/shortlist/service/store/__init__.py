"""The log on disk: streams, their events, snapshots and texts, on SQLite or PostgreSQL. No statistics."""

from shortlist.service.store.log import Store
from shortlist.service.store.rows import Event, Snapshot, StreamRow, Text, View

__all__ = ["Event", "Snapshot", "Store", "StreamRow", "Text", "View"]
