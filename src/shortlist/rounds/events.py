"""The events of a stream.

`Listed` opens a round, `Expanded` shows more of its list; `Hit`, `Miss`, `Skip`, `Absent`, `Expired` and `Withdrawn`
close it, and `Corrected` replaces its answer.
`WarmStarted`, `Configured`, `Restarted` and `Fitted` belong to no round. An event holds everything that its effect
depends on: the threshold and the epoch of its list, and the comparable score of the pick. So a stream is a fold of its
events, and the same events give the same bits on any machine.

The log stores an event as its kind and its fields (`codec`); fields with their default value are left out,
so a kind can gain a field without changing what is stored. JSON has no infinities: minus infinity is null.
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
    """An answer that names no member. A hit is the member itself."""

    MISS = "miss"
    SKIP = "skip"
    ABSENT = "absent"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class All(NamedTuple):
    """The answer "all of these are needed"."""

    members: list[Member]


class Cut(NamedTuple):
    """Where one coverage cuts a list that was shown for several coverages; the fields are those of its own list."""

    length: int
    reached: int
    truncated: bool = False
    complete: bool = False
    asked: int | None = None


class Seen(NamedTuple):
    """What users saw instead of a list that was shown to nobody: another stream's list of the same candidates."""

    stream: str
    #: The positions of those shown, including those shown on request for more.
    positions: list[int]
    #: Whether everything was shown, and not because its scores happened to be high.
    complete: bool = False
    #: Whether the search may have left candidates out: their scores here are unknown.
    truncated: bool = False


class Listed(NamedTuple):
    """A list was shown."""

    round_id: RoundName
    #: The candidates' ids; None if they are identified by their positions.
    ids: list[Member] | None
    #: The scores of each candidate as passed: an array when decided, lists when read from a log.
    scores: Sequence[Any] | Array
    #: The positions of those shown, best first.
    positions: list[int]
    threshold: float
    epoch: int
    #: How many of them reach the threshold: the first `reached`. In shadow mode, how many would have been shown.
    reached: int
    #: Whether candidates that reach it may be missing.
    truncated: bool = False
    #: Whether everything was shown, and not because its scores happened to be high.
    complete: bool = False
    #: The comparable scores of those shown; None if read from a log, where they are computed again from the scores.
    comparable: list[float] | None = None
    #: The score at or below which the caller's search left candidates out; with several scorers one each, None
    #: for one that left out nothing, or if unknown.
    truncated_below: float | list[float | None] | None = None
    #: The names of the scorers, if they have names; with several, `scores` has one row per candidate.
    scorers: list[str] | None = None
    #: The number of the fit behind the score, if it is learned; 0 before the first.
    fit: int | None = None
    #: How much of the error budget was spent, in its units, if that was enough to lengthen the list.
    spent: int | None = None
    #: How many candidates the error budget added.
    added: int = 0
    #: How many candidates would have been shown, if `at_most` left some of them out.
    asked: int | None = None
    #: How many were shown before `more`; None without it. Set by `Expanded`, never by `decide`.
    first: int | None = None
    #: Whether everything was shown, in random order, by a random draw; None if there is no draw.
    explored: bool | None = None
    #: The caller's tags of the round: for coverage by subgroup.
    tags: dict[str, str] | None = None
    #: The version of the model behind the scores.
    scorer_version: str | None = None
    #: A digest of the texts of the round: they may be erased, and must still be recognized.
    text_digest: str | None = None
    #: The group whose threshold applied, if there are groups.
    group: Member | None = None
    #: The own list of each coverage, if there are several.
    cuts: dict[float, Cut] | None = None
    #: What was shown instead, if its stream shadows another.
    seen: Seen | None = None
    #: The streams that shadow this one and have the round too; and a digest of all scores sent for them.
    also: list[str] | None = None
    also_digest: str | None = None
    #: Where it was drawn from items that waited: its position among them, and how many they were.
    drawn: list[int] | None = None

    @property
    def members(self) -> list[Member]:
        """The candidates shown, best first."""
        ids = self.ids
        return list(self.positions) if ids is None else [ids[i] for i in self.positions]

    @property
    def believes_absent(self) -> bool:
        """Whether the user saw all candidates; otherwise `absent` is a miss."""
        shown = self.positions if self.seen is None else self.seen.positions
        return 0 < len(self.scores) == len(shown) and not self.truncated

    @property
    def was_complete(self) -> bool:
        """Whether users were shown everything, and not because its scores happened to be high."""
        return self.complete if self.seen is None else self.seen.complete

    @property
    def as_missed(self) -> tuple[bool, bool, bool, bool]:
        """The fields of a `Miss` of this list.

        If another list was shown instead, a miss of that is a miss of this list if users saw everything in this list;
        otherwise it is treated like a page that nobody expanded.
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
        """Whether `at_most` left out candidates that would have been shown otherwise, and nobody asked for them."""
        return self.asked is not None and len(self.positions) < self.asked

    def has(self, position: int) -> bool:
        """Return whether the list has the member at this index: whether it would have been shown without `at_most`."""
        if self.complete:
            return position < self.reached  # in shadow mode, all are shown
        ends = (self.asked, self.first, len(self.positions))  # an empty list that was expanded has a first of 0
        return position < next(end for end in ends if end is not None)

    def beside(self, seen: Seen) -> "Listed":
        """Return the list as one that is replaced by another when shown."""
        return self._replace(seen=seen, truncated=self.truncated or seen.truncated)

    def also_expanded(self, positions: list[int]) -> "Expanded":
        """Return the event for this list when more is shown of the list that replaced it."""
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
        """Return the list of one coverage: what only a longer list shows counts as shown after it."""
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
    #: Whether the list did not have it: it was shown only in shadow mode, or after `more`.
    missed: bool = False
    complete: bool = False
    #: Its position among the candidates, if the score is learned from picks.
    position: int | None = None
    #: Whether it was shown only after `more`.
    after_more: bool = False
    #: All that were needed, if several: `member` is the one with the lowest score.
    members: list[Member] | None = None


class Expanded(NamedTuple):
    """More of a list was shown."""

    round_id: RoundName
    #: The positions of the additional ones, best first.
    positions: list[int]
    #: How many of all that are now shown reach the threshold, and whether candidates that do may be missing.
    reached: int
    truncated: bool = False
    #: The comparable scores of the additional ones; None as for a list.
    comparable: list[float] | None = None
    #: Whether more of it had already been shown.
    again: bool = False


class Miss(NamedTuple):
    """None of the members was right."""

    round_id: RoundName
    truncated: bool = False
    complete: bool = False
    #: Whether every candidate was shown, and whether `at_most` left some out, for the error budget.
    everything: bool = False
    paged: bool = False


class Skip(NamedTuple):
    """No answer will come."""

    round_id: RoundName


class Absent(NamedTuple):
    """The user says that no candidate was right."""

    round_id: RoundName
    #: Whether the user saw all candidates; if not, it counts as a miss.
    believed: bool = True
    truncated: bool = False
    complete: bool = False
    everything: bool = False
    paged: bool = False


class Expired(NamedTuple):
    """The round was closed without an answer."""

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
        """Return an event as an answer."""
        return cls(**{kind_of(event): event})  # type: ignore[arg-type]

    @property
    def event(self) -> Hit | Miss | Skip | Absent:
        """The event."""
        event = self.hit or self.miss or self.skip or self.absent
        assert event is not None  # noqa: S101 - one of them is set
        return event


class Corrected(NamedTuple):
    """A round's answer was replaced by another."""

    round_id: RoundName
    answer: Answered


class WarmStarted(NamedTuple):
    """Labeled examples were learned from before the first list: the comparable scores of their right answers."""

    scores: list[float]
    #: A digest of the examples, to recognize them if they are sent again.
    digest: str | None = None


class Configured(NamedTuple):
    """Settings were changed."""

    changes: dict[str, Any]


class Restarted(NamedTuple):
    """Learning restarted: a new epoch, in which no earlier round counts."""

    epoch: int
    #: Whether the score is learned again too.
    refit: bool = False


class Fitted(NamedTuple):
    """The score was learned and frozen: later rounds are cut with it, and only they count."""

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
    """Return the kind that an event counts as: a pick that was not in the list shown is a miss."""
    unbelieved = isinstance(event, Absent) and not event.believed
    return "miss" if unbelieved or (isinstance(event, Hit) and event.after_more) else kind_of(event)


def round_of(event: Event) -> RoundName | None:
    """Return the name of an event's round, if it has one."""
    return getattr(event, "round_id", None)
