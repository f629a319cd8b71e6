"""What is stored, as the rest of the service sees it."""

from typing import Any, Final, NamedTuple

from shortlist.errors import DamagedLog

__all__ = ["SHOWN", "Event", "Snapshot", "StreamRow", "Text", "View"]

#: The kind of event that opens a round; every other kind closes one.
SHOWN: Final = "shown"


class StreamRow(NamedTuple):
    """A stream as it is stored."""

    id: int
    name: str
    settings: dict[str, Any]
    created: float
    last_number: int


class Event(NamedTuple):
    """Something that happened to a round. Events of a stream are numbered from 1, without gaps."""

    stream_id: int
    number: int
    kind: str
    round_id: str
    at: float
    body: dict[str, Any]


class Text(NamedTuple):
    """What people read in a round: kept apart from the log, and erased before it."""

    stream_id: int
    number: int
    question: str | None
    texts: list[str | None] | None


class Snapshot(NamedTuple):
    """A stream's state after an event, as text."""

    number: int
    version: int
    state: str


class View(NamedTuple):
    """What `begin` found: new events, streams that are gone, rounds that were asked for, streams that are damaged."""

    tails: dict[int, list[Event]]
    gone: set[int]
    rounds: list[Event]
    damaged: dict[int, DamagedLog]
