"""What is stored, as the rest of the service sees it."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shortlist._validation import Member
from shortlist.errors import DamagedLog
from shortlist.rounds.events import Event, Expanded, Listed

__all__ = [
    "AnswerAuthor",
    "Correction",
    "ItemRow",
    "Lease",
    "LogEntry",
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


@dataclass(slots=True)
class LogEntry:
    """An event in the log. Those of a stream are numbered from 1, without gaps."""

    stream_id: int
    number: int
    at: float
    event: Event
    #: The round that it is about; empty if it is about none.
    round_id: str = field(init=False)
    #: Whether it opens a round, or closes one.
    is_list: bool = field(init=False)
    is_answer: bool = field(init=False)

    def __post_init__(self) -> None:
        kind = type(self.event)
        self.round_id = str(getattr(self.event, "round_id", ""))
        self.is_list = kind is Listed
        self.is_answer = kind is not Listed and kind is not Expanded and self.round_id != ""


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


class Correction(NamedTuple):
    """A label of a round that a lead has set afterwards, in the training set alone."""

    stream_id: int
    round_id: str
    #: None: no candidate is right.
    label: Member | None
    note: str | None
    #: Who set it, where keys are on; and when.
    reviewer: str | None
    at: float


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

    tails: dict[int, list[LogEntry]] = {}  # noqa: RUF012 - nobody changes them
    gone: set[int] = set()  # noqa: RUF012
    rounds: list[LogEntry] = []  # noqa: RUF012
    damaged: dict[int, DamagedLog] = {}  # noqa: RUF012
    #: Streams that somebody else holds, and those that are too far behind to be brought up to date while others wait:
    #: if there are any, nothing was read, and nothing is locked.
    busy: set[int] = set()  # noqa: RUF012
    far: set[int] = set()  # noqa: RUF012
