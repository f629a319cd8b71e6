"""One threshold per group, with one guarantee over all groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from shortlist._validation import Member, check_ids, plain_member
from shortlist.errors import InvalidParameter
from shortlist.listers._base import BaseLister
from shortlist.listers._rounds import shown_fields
from shortlist.policies import AnytimeSPS, Policy
from shortlist.rounds.events import Event, Listed
from shortlist.rounds.progress import Counts, Summary, count, summarize
from shortlist.rounds.settings import OptionsDict, Settings, with_options
from shortlist.rounds.shown import Shown
from shortlist.rounds.stream import Stream

__all__ = ["GroupShown", "GroupedShortlister", "GroupedSummary"]

#: What a group may be called.
Group = int | str


@dataclass(slots=True)
class GroupShown(Shown):
    """A list as it was shown, and its group."""

    group: Group = ""


@dataclass(frozen=True, eq=False)
class GroupedSummary(Counts):
    """A summary of all groups together; ``summary(group)`` has the details of one.

    Attributes
    ----------
    coverage_target, delta
        As set.
    groups
        The number of groups.
    """

    coverage_target: float = 0.0
    delta: float = 0.0
    groups: int = 0


@with_options
class GroupedShortlister(BaseLister[GroupShown]):
    """Shows shortlists, with one threshold per customer, language or kind of question.

    There may be any number of groups, and new ones at any time. The j-th new group gets ``delta / (j (j + 1))``,
    fixed at its first round; these sum to delta, so with probability 1 - delta *no* group's threshold ever
    passes its own optimal one. The group must be known before the list is shown, and must not depend
    on the answer.

    Parameters
    ----------
    coverage
        The share of rounds, in each group, in which the right answer must be in the list.
    delta
        The probability that any group's threshold may ever pass its optimal one.
    score, miss_budget, unanswered, explore_share, patience
        As in `shortlist.Shortlister`, per group, each with its own error budget; ``score="auto"`` learns one score
        from all groups together, and `patience` counts rounds of the group.
    on_drift, at_least, at_most, shadow, keep
        As in `shortlist.Shortlister`, per group; `keep` counts rounds of all groups together.

    Examples
    --------
    >>> lister = GroupedShortlister(coverage=0.9, score="raw")  # thresholds of the scores as they are
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> for i in range(3000):
    ...     language = ("en", "de")[i % 2]
    ...     scores = rng.random(5) * (2 if language == "de" else 1)  # scores differ in scale
    ...     shown = lister.propose(scores, group=language)
    ...     lister.reveal(shown.round_id, 0)
    >>> {group: round(lister.threshold(group), 2) for group in lister.groups}
    {'en': 0.08, 'de': 0.13}
    """

    kind: ClassVar[str] = "grouped shortlister"

    def __init__(self, coverage: float = 0.9, delta: float = 0.01, **options: Unpack[OptionsDict]) -> None:
        super().__init__(Settings.of(AnytimeSPS(coverage, delta), options, ("coverage", "delta")))

    def __repr__(self) -> str:
        policy = self._base_policy
        return (
            f"<GroupedShortlister coverage {policy.coverage}, {len(self._streams)} groups, "
            f"{self._rounds.next_number} rounds>"
        )

    @property
    def _base_policy(self) -> AnytimeSPS:
        policy = self._settings.policy
        assert isinstance(policy, AnytimeSPS)  # noqa: S101 - for the type checker
        return policy

    def _policy(self, key: Group, number: int) -> Policy:  # noqa: ARG002 - all have the same coverage
        return AnytimeSPS(self._base_policy.coverage, self._base_policy.delta / (number * (number + 1)))

    def _apply(self, listed: Listed, event: Event) -> None:
        self._streams[listed.group].fold(event)

    def _seed(self, key: Group) -> str:
        return repr(key)  # 1 and "1" are two groups

    def _stream_of(self, listed: Listed) -> Stream:
        return self._streams[listed.group]

    def _warm_streams(self) -> dict[Any, Stream]:
        raise InvalidParameter("examples have no group; learn a score from them, and pass it as score=")

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups so far, in the order of their first rounds."""
        return tuple(self._streams)

    def threshold(self, group: Group) -> float:
        """Return the threshold in force for the next list of a group.

        Parameters
        ----------
        group
            The group.

        Returns
        -------
        float
            The threshold; -inf for a group not seen yet.
        """
        group = _check_group(group)
        return self._streams[group].threshold if group in self._streams else -math.inf

    def propose(  # type: ignore[override]
        self,
        scores: Any,
        ids: Sequence[Member] | None = None,
        *,
        group: Group,
        truncated_below: float | Mapping[str, float] | None = None,
        allow_empty: bool = False,
    ) -> GroupShown:
        """Open a round for a group and return its shortlist.

        Parameters
        ----------
        scores
            The score of each candidate, or several, as in `Shortlister.propose`.
        ids
            Your own ids of the candidates, strings or integers; by default their positions.
        group
            The group whose threshold applies, a string or an integer: known before the list is shown.
        truncated_below, allow_empty
            As in `Shortlister.propose`.

        Returns
        -------
        GroupShown
            The list.

        Raises
        ------
        InvalidScores, InvalidIds, NoCandidates
            If the scores or ids cannot be used; then nothing has changed.
        """
        group = _check_group(group)
        with self._lock:
            values, names, below, scorers = self._checked(scores, ids, truncated_below, allow_empty)
            # A new group uses its share of delta only if its list can be shown.
            stream = self._streams.get(group) or self._new_stream(group, len(self._streams) + 1)
            listed = stream.decide(self._rounds.next_number, values, names, below, scorers=scorers)._replace(
                group=group
            )
            self._streams[group] = stream
            stream.fold(listed)
            round_id = self._open(listed)
        return GroupShown(**shown_fields(round_id, listed, values), group=group)

    def summary(self, group: Group | None = None) -> GroupedSummary | Summary:
        """Return a summary of all groups together, or of one.

        Parameters
        ----------
        group
            The group; by default all of them together.

        Returns
        -------
        GroupedSummary | Summary
            The summary; a `shortlist.Summary` if `group` is given.

        Raises
        ------
        InvalidParameter
            If the group has had no round yet.
        """
        with self._lock:
            if group is not None:
                group = _check_group(group)
                if group not in self._streams:
                    raise InvalidParameter(f"group {group!r} has had no round yet")
                waiting = sum(listed.group == group for listed in self._rounds.open.values())
                return summarize(self._streams[group], waiting, self._rounds.id_of)
            tallies = [stream.tally for stream in self._streams.values()]
            return GroupedSummary(
                **count(*tallies, open_rounds=len(self._rounds.open)),
                coverage_target=self._base_policy.coverage,
                delta=self._base_policy.delta,
                groups=len(self._streams),
            )


def _check_group(group: Any) -> Group:
    group = plain_member(group)
    if isinstance(group, bool) or not isinstance(group, (int, str)):
        raise InvalidParameter(f"group is {group!r}; it must be a string or an integer")
    return check_ids([group], 1)[0]
