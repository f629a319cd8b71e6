"""What is stored, as the rest of the service sees it."""

from typing import Any, NamedTuple

from shortlist.errors import DamagedLog
from shortlist.rounds.events import Event, Expanded, Listed, round_of

__all__ = [
    "AnswerAuthor",
    "Entry",
    "ItemRow",
    "Lease",
    "QueueCounts",
    "Snapshot",
    "StreamRow",
    "Text",
    "View",
]


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
        """Whether it closes a round."""
        return bool(self.round_id) and type(self.event) not in (Listed, Expanded)


class Text(NamedTuple):
    """Question, texts and image of a round: kept apart from the log, and erased before it."""

    stream_id: int
    number: int
    question: str | None
    texts: list[str | None] | None
    #: The address of a picture.
    image: str | None


class AnswerAuthor(NamedTuple):
    """Who gave an answer; the number is that of the answer's event."""

    stream_id: int
    number: int
    annotator: str


class ItemRow(NamedTuple):
    """What waits to become a round, as it is stored."""

    stream_id: int
    item_id: str
    body: str


class Lease(NamedTuple):
    """Who is answering a round."""

    stream_id: int
    round_id: str
    #: A secret of theirs; empty where the round was given back.
    holder: str
    #: Until when nobody else is given it.
    until: float
    #: How many rounds the stream must have before a round that was given back is offered again.
    rests_until: int = 0


class QueueCounts(NamedTuple):
    """How many items wait, how many were refused when they were drawn (and why the last were), and who holds rounds."""

    waiting: int
    refused: int
    problems: list[tuple[str, str]]
    leases: list[Lease]


class Snapshot(NamedTuple):
    """A stream's state after an event, as text."""

    number: int
    version: int
    state: str


class View(NamedTuple):
    """What `begin` read: new events, streams that are gone, rounds that were asked for, streams that are damaged."""

    tails: dict[int, list[Entry]] = {}  # noqa: RUF012 - nobody changes them
    gone: set[int] = set()  # noqa: RUF012
    rounds: list[Entry] = []  # noqa: RUF012
    damaged: dict[int, DamagedLog] = {}  # noqa: RUF012
    #: Streams that somebody else holds, and those that are too far behind to be brought up to date while others wait:
    #: if there are any, nothing was read, and nothing is locked.
    busy: set[int] = set()  # noqa: RUF012
    far: set[int] = set()  # noqa: RUF012
