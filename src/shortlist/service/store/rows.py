"""What is stored, as the rest of the service sees it."""

from typing import Any, NamedTuple

from shortlist.errors import DamagedLog
from shortlist.rounds.events import Corrected, Event, Expanded, Listed, round_of

__all__ = ["Entry", "Snapshot", "StreamRow", "Text", "View"]


class StreamRow(NamedTuple):
    """A stream as it is stored."""

    id: int
    name: str
    settings: dict[str, Any]
    created: float
    last_number: int


class Entry(NamedTuple):
    """An event in the log. Those of a stream are numbered from 1, without gaps."""

    stream_id: int
    number: int
    at: float
    event: Event

    @property
    def round_id(self) -> str:
        """The round that it is about; empty if it is about none."""
        name = round_of(self.event)
        return "" if name is None else str(name)

    @property
    def is_list(self) -> bool:
        """Whether it opens a round."""
        return type(self.event) is Listed

    @property
    def is_answer(self) -> bool:
        """Whether it closes a round; a correction is none, for its round is closed."""
        return bool(self.round_id) and type(self.event) not in (Listed, Expanded, Corrected)


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
    """What `begin` read: new events, streams that are gone, rounds that were asked for, streams that are damaged."""

    tails: dict[int, list[Entry]]
    gone: set[int]
    rounds: list[Entry]
    damaged: dict[int, DamagedLog]
