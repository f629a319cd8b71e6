"""What can be asked of a stream, as the writer takes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from shortlist._validation import UNNAMED, Array, Member, Scorers, align_table, check_below
from shortlist.rounds.admission import Given
from shortlist.rounds.events import Listed
from shortlist.service.engine.background_fits import CommitFit
from shortlist.service.engine.examples import WarmStart
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.restarting import Restart

__all__ = ["UNBOUND", "Author", "Close", "Command", "Configure", "Expand", "Propose", "Take"]


@dataclass(slots=True)
class Propose:
    """A list to be cut and shown."""

    stream: LoggedStream
    round_id: str
    ids: list[Member]
    #: The checked scores, and the names of their scorers, which need not be all that the stream has.
    values: Array
    scorers: Scorers = UNNAMED
    question: str | None = None
    texts: list[str | None] | None = None
    image: str | None = None
    truncated_below: float | Mapping[str, float] | None = None
    scorer_version: str | None = None
    #: Its position among the items that it was drawn from, and how many these were.
    drawn: list[int] | None = None
    #: How many candidates the caller asks for: at least, and at most.
    page: list[int] | None = None
    #: The list itself, where it was shown before it became a round.
    draft: Listed | None = None
    #: Whether the id is new for certain, because it was made here.
    is_fresh: bool = False
    #: Whether it has a question, a text or an image.
    has_texts: bool = field(init=False)

    def __post_init__(self) -> None:
        self.has_texts = self.question is not None or self.texts is not None or self.image is not None

    def aligned(self, scorers: Scorers) -> tuple[Array, float | list[float | None] | None]:
        """Return the scores, and where the search had cut them off, with a column for each of these scorers."""
        below = None if self.truncated_below is None else check_below(self.truncated_below, scorers)
        return align_table(self.values, self.scorers, scorers), below


class Author(NamedTuple):
    """The author of an answer, or of a request for more of a list."""

    #: A name, to be recorded with the answer.
    annotator: str | None = None
    #: The secret of their lease, as `next` gave it: this is their first answer.
    holder: str | None = None
    #: Whether their key can only answer: what is leased to others is not theirs.
    only_answers: bool = False

    @property
    def is_bound(self) -> bool:
        """Whether leases bind them."""
        return self.only_answers or self.holder is not None


#: Somebody whom no lease binds: a program that shows lists itself.
UNBOUND: Final = Author()


@dataclass(slots=True)
class Close:
    """A round's answer, or the end of waiting for one."""

    stream: LoggedStream
    round_id: str
    #: A member for a hit, or several.
    answer: Given
    author: Author = UNBOUND


@dataclass(slots=True)
class Expand:
    """More of a list."""

    stream: LoggedStream
    round_id: str
    #: How many more than were seen; all the rest if not given.
    count: int | None = None
    #: How many were seen; all that are shown if not given. So asking twice is asking once.
    seen: int | None = None
    author: Author = UNBOUND


@dataclass(slots=True)
class Configure:
    """Settings to be changed."""

    stream: LoggedStream
    changes: dict[str, Any]
    #: It is about no round.
    round_id: str = ""


@dataclass(slots=True)
class Take:
    """Something to answer: a round that nobody holds, or the next item, drawn at random."""

    stream: LoggedStream
    #: A secret of the caller, and the seconds for which no other caller is given the round.
    holder: str
    seconds: float
    #: How the holders of the same key begin, and how many leases it may have at a time; None for any number.
    same_key: str = ""
    most: int | None = None
    #: What was given: its round, and until when. There is none before, nor where nothing waits.
    round_id: str = ""
    until: float = 0.0


Command = Propose | Close | Expand | Configure | WarmStart | Restart | Take | CommitFit
