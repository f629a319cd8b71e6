"""The log on disk: streams, their events, snapshots and texts, on SQLite or PostgreSQL. No statistics."""

from shortlist.service.store.log import MOST_TAIL, Store
from shortlist.service.store.reading import Reader
from shortlist.service.store.rows import (
    AnswerAuthor,
    ItemRow,
    Lease,
    LogEntry,
    QueueCounts,
    Snapshot,
    StreamRow,
    Text,
    View,
)

__all__ = [
    "MOST_TAIL",
    "AnswerAuthor",
    "ItemRow",
    "Lease",
    "LogEntry",
    "QueueCounts",
    "Reader",
    "Snapshot",
    "Store",
    "StreamRow",
    "Text",
    "View",
]
