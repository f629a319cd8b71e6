"""The log on disk: streams, their events, snapshots and texts, on SQLite or PostgreSQL. No statistics."""

from shortlist.service.store.reader import Reader
from shortlist.service.store.rows import (
    AnswerAuthor,
    Correction,
    ItemRow,
    Lease,
    LogEntry,
    QueueCounts,
    Snapshot,
    StreamRow,
    Text,
    View,
)
from shortlist.service.store.store import MOST_TAIL, Store

__all__ = [
    "MOST_TAIL",
    "AnswerAuthor",
    "Correction",
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
