"""What can happen to a round.

`Listed` opens a round, `Expanded` shows more of its list; `Hit`, `Miss`, `Skip`, `Absent`, `Expired` and `Withdrawn`
close it, and `Corrected` replaces its answer.
`WarmStarted`, `Configured`, `Restarted` and `Fitted` are about no round. An event says everything that its effect
depends on: the threshold and the epoch of its list, and what the score made of the pick. So a stream is a fold of its
events, and the same events give the same bits on any machine.

The log stores an event as its kind and its fields (`codec`); fields that have their default are left out,
so a kind can gain one without touching what is stored. JSON has no infinities: minus infinity is null.
"""

import enum
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from shortlist._validation import Array, Member
from shortlist.rounds.shown import RoundName
from shortlist.scores import Learned

__all__ = [
    "EVENTS",
    "LISTED",
    "Absent",
    "All",
    "Answer",
    "Answered",
    "Configured",
    "Corrected",
    "Cut",
    "Event",
    "Expanded",
    "Expired",
    "Fitted",
    "Hit",
    "Listed",
    "Miss",
    "Restarted",
    "Seen",
    "Skip",
    "WarmStarted",
    "Withdrawn",
    "counted_as",
    "kind_of",
    "round_of",
]


class Answer(enum.Enum):
    """What closes a round without naming a member. A hit is the member itself."""

    MISS = "miss"
    SKIP = "skip"
    ABSENT = "absent"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class All(NamedTuple):
    """The answer of who needs several candidates: each of them."""

    members: list[Member]


class Cut(NamedTuple):
    """Where one coverage cuts a list that was shown for several; the fields are those of its own list."""

    length: int
    reached: int
    truncated: bool = False
    complete: bool = False
    asked: int | None = None


class Seen(NamedTuple):
    """What people saw in the place of a list that was shown to nobody: another stream's list of the same candidates."""

    stream: str
    #: The positions of those shown, and of those that were shown when more was asked for.
    positions: list[int]
    #: Whether everything was shown, and not because its scores happened to be high.
    complete: bool = False
    #: Whether the search may have left candidates out: what they would have scored here is not known.
    truncated: bool = False


class Listed(NamedTuple):
    """A list was shown."""

    round_id: RoundName
    #: The candidates' ids; None where they are called by their positions.
    ids: list[Member] | None
    #: The scores of each candidate as they came: an array where it was decided, lists where it was read.
    scores: Sequence[Any] | Array
    #: The positions of those shown, best first.
    positions: list[int]
    threshold: float
    epoch: int
    #: How many of them reach the threshold: the first so many. In shadow mode, how many would have been shown.
    reached: int
    #: Whether candidates may be missing that reach it.
    truncated: bool = False
    #: Whether everything was shown, and not because its scores happened to be high.
    complete: bool = False
    #: What the score made of those shown; None if it was read from a log: the scores give it again.
    comparable: list[float] | None = None
    #: The score at or below which the caller's search had left candidates out; with several scorers one for each, None
    #: where one left out nothing, or it is not known.
    truncated_below: float | list[float | None] | None = None
    #: The names of the scorers, where they have names: `scores` then has a row for each candidate, if they are several.
    scorers: list[str] | None = None
    #: Which fit the score is of, where it is learned; 0 before the first.
    fit: int | None = None
    #: How much of the error budget was spent, in its units, where that was enough to make the list longer.
    spent: int | None = None
    #: How many candidates the error budget added.
    added: int = 0
    #: How many candidates would have been shown, where `at_most` left some of them out.
    asked: int | None = None
    #: How many were shown before more of them were; None where no more were. `Expanded` says it, no list does.
    first: int | None = None
    #: Whether everything was shown, in random order, because a coin said so; None where no coin is tossed.
    explored: bool | None = None
    #: What the caller says about the round, by name: for coverage by subgroup.
    tags: dict[str, str] | None = None
    #: The model behind the scores.
    scorer_version: str | None = None
    #: A digest of the texts that go with it: they may be erased, and must still be recognized.
    text_digest: str | None = None
    #: Whose threshold decided, where there is one for each group.
    group: Member | None = None
    #: For each coverage, where there are several: its own list.
    cuts: dict[float, Cut] | None = None
    #: What was shown in its place, where its stream shadows another.
    seen: Seen | None = None
    #: The streams that shadow this one and have the round, too; and a digest of all scores that were sent for them.
    also: list[str] | None = None
    also_digest: str | None = None

    @property
    def members(self) -> list[Member]:
        """The candidates shown, best first."""
        ids = self.ids
        return list(self.positions) if ids is None else [ids[i] for i in self.positions]

    @property
    def believes_absent(self) -> bool:
        """Whether somebody has seen everything there is; where not, `absent` is a miss."""
        shown = self.positions if self.seen is None else self.seen.positions
        return 0 < len(self.scores) == len(shown) and not self.truncated

    @property
    def was_complete(self) -> bool:
        """Whether people were shown everything, and not because its scores happened to be high."""
        return self.complete if self.seen is None else self.seen.complete

    @property
    def as_missed(self) -> tuple[bool, bool, bool, bool]:
        """What a miss says of the list: the fields of `Miss`.

        Where something else was shown in its place, a miss of that is known to be one of this list if people saw all
        that it would have had; otherwise it is like a page that nobody expanded.
        """
        if self.seen is None:
            return self.truncated, self.complete, self.is_everything, self.is_paged
        unknown = not set(self.positions[: self.reached]) <= set(self.seen.positions)
        return self.truncated or unknown, self.seen.complete, self.is_everything, unknown

    @property
    def is_everything(self) -> bool:
        """Whether every candidate was shown; in shadow mode, whether it would have been."""
        return (self.reached if self.complete else len(self.positions)) == len(self.scores)

    @property
    def is_paged(self) -> bool:
        """Whether `at_most` left out some that would have been shown otherwise, and nobody asked for them."""
        return self.asked is not None and len(self.positions) < self.asked

    def has(self, position: int) -> bool:
        """Return whether the list has the member at this position: whether it would have been shown, uncut."""
        if self.complete:
            return position < self.reached  # in shadow mode, all are shown
        ends = (self.asked, self.first, len(self.positions))  # an empty list that was expanded has a first of 0
        return position < next(end for end in ends if end is not None)

    def beside(self, seen: Seen) -> "Listed":
        """Return the list as one in the place of which something else is shown."""
        return self._replace(seen=seen, truncated=self.truncated or seen.truncated)

    def also_expanded(self, positions: list[int]) -> "Expanded":
        """Return what happens to it when more is shown of what is shown in its place."""
        return Expanded(self.round_id, positions, self.reached, self.truncated, again=True)

    def expanded(self, event: "Expanded") -> "Listed":
        """Return the list with more of it shown."""
        if self.seen is not None:
            return self._replace(seen=self.seen._replace(positions=[*self.seen.positions, *event.positions]))
        comparable, more = self.comparable, event.comparable
        comparable = None if comparable is None or more is None else [*comparable, *more]
        return self._replace(
            positions=[*self.positions, *event.positions],
            comparable=comparable,
            reached=event.reached,
            truncated=event.truncated,
            first=len(self.positions) if self.first is None else self.first,
        )

    def own(self, cut: Cut) -> "Listed":
        """Return the list of one coverage: what only a longer list shows is shown after it."""
        return self._replace(
            reached=cut.reached,
            truncated=cut.truncated and (self.truncated_below is not None or len(self.positions) < (cut.asked or 0)),
            complete=cut.complete,
            asked=cut.asked,
            first=None if cut.complete else cut.length,
        )


class Hit(NamedTuple):
    """One of the members was right."""

    round_id: RoundName
    member: Member
    #: What was compared with the threshold.
    score: float
    #: Whether the list had it not: it was shown in shadow mode only, or after more of the list was asked for.
    missed: bool = False
    complete: bool = False
    #: Where it stood among the candidates, if the score is learned from picks.
    position: int | None = None
    #: Whether it was shown only after more of the list was asked for.
    after_more: bool = False
    #: All that were needed, where they were several: `member` is the one that stood lowest.
    members: list[Member] | None = None


class Expanded(NamedTuple):
    """More of a list was shown."""

    round_id: RoundName
    #: The positions of those shown in addition, best first.
    positions: list[int]
    #: How many of all that are shown now reach the threshold, and whether candidates may be missing that do.
    reached: int
    truncated: bool = False
    #: What the score made of those shown in addition; None as for a list.
    comparable: list[float] | None = None
    #: Whether more of it had been shown before.
    again: bool = False


class Miss(NamedTuple):
    """None of the members was right."""

    round_id: RoundName
    truncated: bool = False
    complete: bool = False
    #: Whether every candidate was shown, and whether `at_most` left out some: as the error budget sees the list.
    everything: bool = False
    paged: bool = False


class Skip(NamedTuple):
    """No answer will come."""

    round_id: RoundName


class Absent(NamedTuple):
    """No candidate at all was right, says somebody."""

    round_id: RoundName
    #: Whether they can know: where not, it counts as a miss.
    believed: bool = True
    truncated: bool = False
    complete: bool = False
    everything: bool = False
    paged: bool = False


class Expired(NamedTuple):
    """The answer was waited for too long."""

    round_id: RoundName


class Withdrawn(NamedTuple):
    """The list was taken back: nobody saw it."""

    round_id: RoundName


class Answered(NamedTuple):
    """An answer of any kind: one of its fields is set."""

    hit: Hit | None = None
    miss: Miss | None = None
    skip: Skip | None = None
    absent: Absent | None = None

    @classmethod
    def of(cls, event: "Event") -> "Answered":
        """Return the answer that an event is."""
        return cls(**{kind_of(event): event})  # type: ignore[arg-type]

    @property
    def event(self) -> Hit | Miss | Skip | Absent:
        """The event that it is."""
        event = self.hit or self.miss or self.skip or self.absent
        assert event is not None  # noqa: S101 - one of them is set
        return event


class Corrected(NamedTuple):
    """Another answer takes the place of the one that a round has."""

    round_id: RoundName
    answer: Answered


class WarmStarted(NamedTuple):
    """Labelled examples were learned from, before the first list: what the score made of the right answers."""

    scores: list[float]
    #: A digest of the examples, where they may be sent again.
    digest: str | None = None


class Configured(NamedTuple):
    """Settings were changed."""

    changes: dict[str, Any]


class Restarted(NamedTuple):
    """Learning started over: a new epoch, in which no earlier round counts."""

    epoch: int
    #: Whether the score is learned again, too.
    refit: bool = False


class Fitted(NamedTuple):
    """The score was learned, and is frozen: later rounds are cut with it, and only they count."""

    number: int
    score: Learned


Event = (
    Listed
    | Expanded
    | Hit
    | Miss
    | Skip
    | Absent
    | Expired
    | Withdrawn
    | Corrected
    | WarmStarted
    | Configured
    | Restarted
    | Fitted
)
#: Every event by its kind, as it is stored.
EVENTS: Final[dict[str, Any]] = {
    "listed": Listed,
    "expanded": Expanded,
    "hit": Hit,
    "miss": Miss,
    "skip": Skip,
    "absent": Absent,
    "expired": Expired,
    "withdrawn": Withdrawn,
    "corrected": Corrected,
    "warm-started": WarmStarted,
    "configured": Configured,
    "restarted": Restarted,
    "fitted": Fitted,
}
_KINDS: Final = {event: kind for kind, event in EVENTS.items()}
LISTED: Final = _KINDS[Listed]


def kind_of(event: Event) -> str:
    """Return an event's kind, as it is stored."""
    return _KINDS[type(event)]


def counted_as(event: Event) -> str:
    """Return the kind that an event is counted as: what the list that was shown had not is a miss of it."""
    unbelieved = isinstance(event, Absent) and not event.believed
    return "miss" if unbelieved or (isinstance(event, Hit) and event.after_more) else kind_of(event)


def round_of(event: Event) -> RoundName | None:
    """Return the name of the round that an event is about, if it is about one."""
    return getattr(event, "round_id", None)
