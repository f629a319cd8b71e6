"""One threshold per group, with one guarantee over all groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from shortlist._validation import Member, check_ids, plain_member
from shortlist.errors import InvalidParameter
from shortlist.listers._rounds import shown_values
from shortlist.listers.shortlister import Shortlister
from shortlist.policies import AnytimeSPS, Policy, ProductLimit
from shortlist.rounds.progress import count
from shortlist.rounds.settings import Settings, default_policy, with_settings
from shortlist.rounds.shown import Shown
from shortlist.rounds.summary import GroupedSummary, Summary

__all__ = ["GroupShown", "GroupedShortlister", "GroupedSummary"]

#: What a group may be called.
Group = int | str


@dataclass(slots=True)
class GroupShown(Shown):
    """A list as it was shown, and its group."""

    group: Group = ""


@with_settings
class GroupedShortlister(Shortlister):
    """Shows shortlists, with one threshold per customer, language or kind of question.

    There may be any number of groups, and new ones at any time. Each has an error budget of its own. With `delta` the
    j-th new group gets ``delta / (j (j + 1))``, fixed at its first round; these sum to delta, so with probability
    1 - delta *no* group's threshold ever passes its own optimal one. The group must be known before the list is shown,
    and must not depend on the answer.

    Parameters
    ----------
    coverage
        The share of rounds, in each group, in which the right answer must be in the list.
    delta
        The probability that any group's threshold may ever pass its optimal one; by default None, as in
        `shortlist.Shortlister`.
    score, miss_budget, unanswered, explore_share, patience
        As in `shortlist.Shortlister`, per group, each with its own error budget; ``score="auto"`` learns one score
        from all groups together, and `patience` counts rounds of the group.
    on_drift, at_least, at_most, shadow, keep
        As in `shortlist.Shortlister`, per group; `keep` counts rounds of all groups together.

    Examples
    --------
    >>> lister = GroupedShortlister(coverage=0.9, delta=0.01, score="raw")  # thresholds of the scores as they are
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

    def __init__(self, coverage: float = 0.9, delta: float | None = None, **settings: Any) -> None:
        policy = default_policy(coverage, delta, settings)
        self._start(Settings.of(policy, settings, ("coverage", "delta")))

    def __repr__(self) -> str:
        policy = self._base_policy
        return (
            f"<GroupedShortlister coverage {policy.coverage}, {len(self._streams)} groups, "
            f"{self._rounds.next_number} rounds>"
        )

    @property
    def _base_policy(self) -> AnytimeSPS | ProductLimit:
        policy = self._settings.policy
        assert isinstance(policy, (AnytimeSPS, ProductLimit))  # noqa: S101 - for the type checker
        return policy

    def _policy(self, policy: Policy, number: int) -> Policy:
        if not isinstance(policy, AnytimeSPS):
            return policy
        return AnytimeSPS(policy.coverage, policy.delta / (number * (number + 1)))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups so far, in the order of their first rounds."""
        return tuple(self._streams)

    def threshold(self, group: Group) -> float:  # type: ignore[override]
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
        round_id, listed, values = self._propose(group, scores, ids, truncated_below, allow_empty)
        shown = GroupShown(*shown_values(round_id, listed, values))
        shown.group = group
        return shown

    def preview(self, scores: Any, *, group: Group) -> tuple[int, ...]:  # type: ignore[override]
        """Return the list that would be shown to a group for these scores; nothing is shown or learned.

        Parameters
        ----------
        scores
            As for `propose`.
        group
            The group.

        Returns
        -------
        tuple[int, ...]
            The positions of the candidates, best first.
        """
        return self._preview(_check_group(group), scores)

    def warm_start(self, lists: Any, right: ArrayLike | None = None) -> None:  # noqa: ARG002
        """Refuse: examples have no group.

        Parameters
        ----------
        lists, right
            As for `Shortlister.warm_start`.

        Raises
        ------
        InvalidParameter
            Always.
        """
        raise InvalidParameter("examples have no group; learn a score from them, and pass it as score=")

    def summary(  # type: ignore[override]
        self, group: Group | None = None
    ) -> GroupedSummary | Summary:
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
                return self._summarize(self._streams[group], waiting)
            tallies = [stream.tally for stream in self._streams.values()]
            return GroupedSummary(
                **count(*tallies, open_rounds=len(self._rounds.open), settings=self._settings),
                coverage_target=self._base_policy.coverage,
                delta=getattr(self._base_policy, "delta", None),
                groups=len(self._streams),
            )


def _check_group(group: Any) -> Group:
    group = plain_member(group)
    if isinstance(group, bool) or not isinstance(group, (int, str)):
        raise InvalidParameter(f"group is {group!r}; it must be a string or an integer")
    return check_ids([group], 1)[0]
