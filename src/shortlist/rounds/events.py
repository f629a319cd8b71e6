"""The events of a stream.

`Listed` opens a round, `Expanded` shows more of its list; `Hit`, `Miss`, `Skip`, `Absent`, `Expired` and `Withdrawn`
close it.
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
    "Configured",
    "Event",
    "Expanded",
    "Expired",
    "Fitted",
    "Hit",
    "Listed",
    "Miss",
    "Restarted",
    "Skip",
    "WarmStarted",
    "Withdrawn",
    "counted_as",
    "kind_of",
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
    #: The version of the model behind the scores.
    scorer_version: str | None = None
    #: Whether it has a question, texts or an image: these are kept apart, and may be erased.
    has_text: bool = False
    #: The group whose threshold applied, if there are groups.
    group: Member | None = None
    #: Where it was drawn from items that waited: its position among them, and how many they were.
    drawn: list[int] | None = None
    #: The comparable score of the best candidate that was not shown, for the product limit; None if all were shown.
    edge: float | None = None
    #: Of a long list, the positions of the best candidates, shown or not, that are kept for fits of the score.
    kept: list[int] | None = None
    #: How many candidates the caller asked for: at least, and at most.
    page: list[int] | None = None

    @property
    def members(self) -> list[Member]:
        """The candidates shown, best first."""
        ids = self.ids
        return list(self.positions) if ids is None else [ids[i] for i in self.positions]

    @property
    def kept_count(self) -> int:
        """How many members would be shown without shadow mode: all of them, unless it is on."""
        return self.reached if self.complete else len(self.positions)

    @property
    def believes_absent(self) -> bool:
        """Whether the user saw all candidates; otherwise `absent` is a miss."""
        return 0 < len(self.scores) == len(self.positions) and not self.truncated

    @property
    def as_missed(self) -> tuple[bool, bool, bool, bool]:
        """The fields of a `Miss` of this list."""
        return self.truncated, self.tells_recall, self.is_everything, self.is_paged

    @property
    def tells_recall(self) -> bool:
        """Whether everything was shown, for another reason than the scores: by itself, or by the error budget."""
        return self.complete or (self.added > 0 and self.first is None and len(self.positions) == len(self.scores))

    def is_in_better_half(self, rank: int) -> bool | None:
        """Return whether a member is in the better half of a list that was cut; None if it was not cut."""
        length = len(self.positions) if self.first is None else self.first
        return None if self.edge is None and self.first is None else rank < (length + 1) // 2

    @property
    def is_everything(self) -> bool:
        """Whether every candidate was shown; in shadow mode, whether it would have been."""
        return self.kept_count == len(self.scores)

    @property
    def is_paged(self) -> bool:
        """Whether `at_most` left out candidates that would have been shown otherwise, and nobody asked for them."""
        return self.asked is not None and len(self.positions) < self.asked

    def has(self, position: int) -> bool:
        """Return whether the list has the member at this index: whether it would have been shown without `at_most`."""
        if self.complete:
            return position < self.reached  # in shadow mode, all are shown
        end = self.first if self.asked is None else self.asked  # an empty list that was expanded has a first of 0
        return position < (len(self.positions) if end is None else end)

    def expanded(self, event: "Expanded") -> "Listed":
        """Return the list with more of it shown."""
        comparable, more = self.comparable, event.comparable
        comparable = None if comparable is None or more is None else [*comparable, *more]
        return self._replace(
            positions=[*self.positions, *event.positions],
            comparable=comparable,
            reached=event.reached,
            truncated=event.truncated,
            first=len(self.positions) if self.first is None else self.first,
            edge=event.edge,
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
    #: Its scores as passed, None for a scorer that has none, if the score is learned from picks and the list is so long
    #: that only a part of it is kept for that.
    row: list[float | None] | None = None
    #: Whether it was in the better half of a list that was cut, for the product limit.
    half: bool | None = None
    #: What its score is by the score in use, if that is not the list's and the round is in the window all the same.
    now: float | None = None


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
    #: As for a list.
    edge: float | None = None


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


class WarmStarted(NamedTuple):
    """Labeled examples were learned from before the first list: the comparable scores of their right answers."""

    scores: list[float]
    #: A digest of the examples, to recognize them if they are sent again.
    digest: str | None = None
    #: For the product limit: which of the scores are bounds, that the right answers cannot exceed.
    censored: list[int] | None = None


class Configured(NamedTuple):
    """Settings were changed."""

    changes: dict[str, Any]


class Restarted(NamedTuple):
    """Learning restarted: a new epoch, in which no earlier round counts."""

    epoch: int
    #: Whether the score is learned again too.
    refit: bool = False


class Fitted(NamedTuple):
    """The score was learned: later rounds are cut with it."""

    number: int
    score: Learned
    #: The number of the last event that it was computed from, where others came in between; None if none did.
    seen: int | None = None
    #: For the product limit, by the seed of each stream: the rounds that are kept, scored by it, as the policy keeps
    #: them; streams that are not named have none.
    windows: dict[str, list[float]] | None = None
    #: Which of these have no answer yet: their places in the window, and their names.
    held: dict[str, list[tuple[int, RoundName]]] | None = None


Event = (
    Listed | Expanded | Hit | Miss | Skip | Absent | Expired | Withdrawn | WarmStarted | Configured | Restarted | Fitted
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
