"""Several coverages on one stream: the longest list is shown, with the shorter ones marked in it."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Unpack

import numpy as np

from shortlist._validation import Member, check_probability
from shortlist.errors import InvalidParameter
from shortlist.listers._base import BaseLister
from shortlist.listers._rounds import shown_fields
from shortlist.policies import AnytimeSPS, Policy
from shortlist.rounds.admission import admit, answer_of
from shortlist.rounds.events import (
    Absent,
    Answered,
    Corrected,
    Cut,
    Event,
    Expanded,
    Expired,
    Listed,
    Withdrawn,
    counted_as,
    round_of,
)
from shortlist.rounds.progress import Counts, Summary, count, summarize
from shortlist.rounds.settings import OptionsDict, Settings, with_options
from shortlist.rounds.shown import Shown
from shortlist.rounds.stream import Stream, Tally
from shortlist.rounds.subgroups import Tags, check_tags

__all__ = ["NestedShortlister", "NestedShown", "NestedSummary"]

_COUNTED: Final = {
    "hit": "hits",
    "miss": "misses",
    "skip": "skipped",
    "absent": "absent",
    "expired": "expired",
    "withdrawn": "withdrawn",
}


@dataclass(slots=True)
class NestedShown(Shown):
    """A list as it was shown, with the shorter ones inside it.

    Attributes
    ----------
    cuts
        The length of each coverage's own list: the first `cuts[coverage]` members.
    """

    cuts: dict[float, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class NestedSummary(Counts):
    """A summary of all rounds so far.

    Attributes
    ----------
    thresholds
        The threshold of each coverage.
    guarantee
        The guarantee, in words.
    coverages
        The details of each coverage.
    waiting_for
        What is needed before the list that is shown, that of the highest coverage, can become shorter, in words.
    """

    thresholds: Mapping[float, float] = field(default_factory=dict)
    guarantee: str = ""
    coverages: Mapping[float, Summary] = field(default_factory=dict)
    waiting_for: str = ""


@with_options
class NestedShortlister(BaseLister[NestedShown]):
    """Shows one list that contains a shorter one for each lower coverage.

    The lowest threshold decides what is shown, so every threshold learns from every answer, exactly
    as in a run of its own. The list of a higher coverage contains that of a lower one: if the
    threshold of a higher coverage would exceed that of a lower one, it is lowered to it, which is safe.

    Parameters
    ----------
    coverages
        The coverages, in any order.
    delta
        The probability that each guarantee may fail.
    jointly
        False: each guarantee holds with probability 1 - delta, on its own. True: all of them hold
        simultaneously with probability 1 - delta; each then gets its share of delta.
    score, fit_rounds, miss_budget, unanswered, explore_share, patience, grace
        As in `shortlist.Shortlister`, per coverage, each with its own error budget; a learned score is the
        same for all.
    on_drift, false_alarm_rounds, at_least, at_most, shadow, keep
        As in `shortlist.Shortlister`, per coverage.

    Examples
    --------
    >>> lister = NestedShortlister(coverages=(0.8, 0.95))
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(3000):
    ...     scores = rng.random(50)
    ...     right = int(rng.choice(50, p=scores**8 / (scores**8).sum()))
    ...     shown = lister.propose(scores)
    ...     lister.reveal(shown.round_id, right)
    >>> shown.cuts
    {0.8: 9, 0.95: 15}
    """

    kind: ClassVar[str] = "nested shortlister"

    def __init__(
        self,
        coverages: Sequence[float] = (0.8, 0.9, 0.95),
        delta: float = 0.01,
        *,
        jointly: bool = False,
        **options: Unpack[OptionsDict],
    ) -> None:
        if not isinstance(coverages, (Sequence, np.ndarray)) or isinstance(coverages, str):
            raise InvalidParameter(f"coverages is {coverages!r}; it must be a list, for example (0.8, 0.95)")
        if not isinstance(jointly, bool):
            raise InvalidParameter(f"jointly is {jointly!r}; it must be True or False")
        chosen = sorted(check_probability("coverage", coverage, 0.9) for coverage in coverages)
        if not chosen or len(set(chosen)) < len(chosen):
            raise InvalidParameter(f"coverages are {coverages}; give one or more, all different")
        delta = check_probability("delta", delta, 0.01)
        # The probability that each coverage's guarantee may fail.
        share = delta / len(chosen) if jointly else delta
        super().__init__(
            Settings.of(AnytimeSPS(chosen[0], share), options, self.kind, ("coverages", "delta", "jointly")),
            share=share,
            highest=chosen[-1],
            shown={},  # counts of answers to the lists shown
            held=[],  # answers that may still be corrected: round and answer
        )
        for coverage in chosen:
            self._stream(coverage)

    def __repr__(self) -> str:
        return f"<NestedShortlister coverages {self.coverages}, {self._rounds.next_id} rounds>"

    def _policy(self, key: float, number: int) -> Policy:  # noqa: ARG002 - whichever it is
        return AnytimeSPS(key, self._own["share"])

    def _fit_settings(self) -> Settings:
        # The list of the highest coverage is the one that is shown.
        return dataclasses.replace(self._settings, policy=AnytimeSPS(self._own["highest"], self._own["share"]))

    def _teaches(self, key: float) -> bool:
        return bool(key == self._own["highest"])

    def _apply(self, listed: Listed, event: Event) -> None:
        assert listed.cuts is not None  # noqa: S101 - `propose` has put them there
        self._tally(event)
        for coverage, stream in self._streams.items():
            stream.fold(_own_event(listed.own(listed.cuts[coverage]), event))

    def _tally(self, event: Event) -> None:
        """Count an answer to the list that was shown, whatever its coverage, once it is final."""
        held, shown = self._own["held"], self._own["shown"]
        if isinstance(event, Expanded):
            return
        if isinstance(event, Corrected):
            name = _COUNTED[counted_as(event.answer.event)]
            held[:] = [[one, name if one == event.round_id else other] for one, other in held]
            return
        name = _COUNTED[counted_as(event)]
        if self._settings.grace and not isinstance(event, (Expired, Withdrawn)):
            held.append([round_of(event), name])
            if len(held) <= self._settings.grace:
                return
            _, name = held.pop(0)
        shown[name] = shown.get(name, 0) + 1

    @property
    def coverages(self) -> tuple[float, ...]:
        """The coverages, lowest first."""
        return tuple(self._streams)

    @property
    def thresholds(self) -> dict[float, float]:
        """The threshold of each coverage, lowest coverage and highest threshold first.

        A higher coverage never has the higher threshold: it is lowered to that of the lower coverage.
        """
        lowest, thresholds = math.inf, {}
        for coverage, stream in self._streams.items():
            lowest = min(lowest, stream.threshold)
            thresholds[coverage] = lowest
        return thresholds

    def propose(
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
        tags: Tags = None,
    ) -> NestedShown:
        """Open a round and return its longest list, with the others marked in it.

        Parameters
        ----------
        scores
            The score of each candidate, or several, as in `Shortlister.propose`.
        ids
            Your own ids of the candidates, strings or integers; by default their positions.
        truncated_below, allow_empty, tags
            As in `Shortlister.propose`.

        Returns
        -------
        NestedShown
            The list of the highest coverage, and the length of each other one in `cuts`.

        Raises
        ------
        InvalidScores, InvalidIds, NoCandidates
            If the scores or ids cannot be used; then nothing has changed.
        """
        with self._lock:
            values, names, below, scorers = self._checked(scores, ids, truncated_below, allow_empty)
            tagged = check_tags(tags)
            lists = {
                coverage: stream.decide(self._rounds.next_id, values, names, below, scorers=scorers, tags=tagged)
                for coverage, stream in self._streams.items()
            }
            if any(listed.explored for listed in lists.values()):  # then everything is shown, for all coverages
                lists = {coverage: _uncut(listed) for coverage, listed in lists.items()}
            cuts, lengths, most = {}, {}, 0
            for coverage, listed in lists.items():
                length = listed.reached if self._settings.shadow else len(listed.positions)
                cuts[coverage] = Cut(length, listed.reached, listed.truncated, listed.complete, listed.asked)
                lengths[coverage] = most = max(most, length)
                self._streams[coverage].fold(listed)
            longest = _longest(list(lists.values()))._replace(cuts=cuts)
            self._open(longest)
        return NestedShown(**shown_fields(longest, values), cuts=lengths)

    def _tagged_streams(self) -> Iterable[Stream]:
        return [self._streams[self._own["highest"]]]  # its list is the one that is shown

    def summary(self) -> NestedSummary:
        """Return a summary of all rounds so far, with the guarantee and the details of each coverage.

        Returns
        -------
        NestedSummary
            The summary.
        """
        with self._lock:
            waiting, each = len(self._rounds.open), self._own["share"]
            return NestedSummary(
                **count(
                    Tally(self._rounds.next_id, **self._own["shown"]), open_rounds=waiting, held=len(self._own["held"])
                ),
                thresholds=self.thresholds,
                guarantee=(
                    f"with probability {1 - each:.6g} a given threshold never passes its optimum; with probability "
                    f"{max(0.0, 1 - each * len(self._streams)):.6g} none of them ever does"
                ),
                coverages=(coverages := {c: summarize(stream, waiting) for c, stream in self._streams.items()}),
                waiting_for=coverages[self.coverages[-1]].waiting_for,
            )


def _uncut(listed: Listed) -> Listed:
    """Return the complete list, in any order; whether it counts is unchanged."""
    if listed.explored:
        return listed
    count = len(listed.scores)
    return listed._replace(positions=list(range(count)), reached=count, complete=True, added=0, asked=None)


def _longest(lists: list[Listed]) -> Listed:
    """Return the list at the lowest threshold, extended by what another one's error budget adds."""
    explored = next((one for one in lists if one.explored), None)
    if explored is not None:
        return explored
    lowest, most = min(lists, key=lambda one: one.threshold), max(lists, key=lambda one: len(one.positions))
    extra = len(most.positions) - len(lowest.positions)
    if not extra:
        return lowest
    return lowest._replace(positions=most.positions, comparable=most.comparable, added=lowest.added + extra)


def _own_event(own: Listed, event: Event) -> Event:
    """Return an event as it counts for one coverage's list: a pick that is only in a longer list is a miss."""
    if isinstance(event, Expanded):
        return event
    if isinstance(event, Corrected):
        return Corrected(event.round_id, Answered.of(_own_event(own, event.answer.event)))
    mine = admit(own, answer_of(event))
    assert mine is not None  # noqa: S101 - it is its first answer
    return mine._replace(believed=event.believed) if isinstance(event, Absent) and isinstance(mine, Absent) else mine
