"""Entries of a log, made by hand."""

from shortlist.rounds.events import Hit, Listed, Miss
from shortlist.service.store import LogEntry

__all__ = ["hit", "listed", "miss"]


def listed(row, number, round_id="r", ids=("x",), **more):
    """Return the entry of a list in which everything was shown."""
    names, scores = list(ids), [0.5] * len(ids)
    event = Listed(round_id, names, scores, list(range(len(names))), float("-inf"), 0, len(names), complete=True)
    return LogEntry(row.id, number, 0.0, event._replace(**more))


def hit(row, number, round_id="r", member="x"):
    """Return the entry of an answer."""
    return LogEntry(row.id, number, 1.0, Hit(round_id, member, 0.5, complete=True))


def miss(row, number, round_id="r"):
    """Return the entry of another answer."""
    return LogEntry(row.id, number, 1.0, Miss(round_id, complete=True))
