"""A threshold per group, with one promise over all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from shortlist._validation import Member, check_ids, check_probability, check_scores, plain_member
from shortlist.errors import InvalidParameter
from shortlist.learner import Learner, OnDrift
from shortlist.lister import Lister, Shown, cut_list
from shortlist.policies import AnytimeSPS

__all__ = ["GroupShown", "GroupedShortlister"]

#: What a group may be called.
Group = int | str


@dataclass(frozen=True, slots=True)
class GroupShown(Shown):
    """A list as it was shown, and the group it was shown to."""

    group: Group = ""


class GroupedShortlister(Lister):
    """Shows shortlists, with a threshold for each customer, language or kind of question.

    Groups may be any number and come at any time. The j-th new one gets ``delta / (j (j + 1))``, fixed
    at its first round; these add up to delta, so with probability 1 - delta *no* group's threshold ever
    passes its own optimal one. The group must be known before the list is shown, and must not depend
    on the answer.

    Parameters
    ----------
    coverage
        The share of rounds, in each group, in which the right answer must be in the list.
    delta
        The probability that any group's threshold may ever pass its optimal one.
    patience, on_drift, false_alarm_rounds
        As in `shortlist.Shortlister`, for each group; patience counts rounds of the group.
    keep
        For how many later rounds, of all groups together, a round is kept.

    Examples
    --------
    >>> lister = GroupedShortlister(coverage=0.9)
    >>> rng = np.random.default_rng(0)
    >>> for i in range(3000):
    ...     language = ("en", "de")[i % 2]
    ...     scores = rng.random(5) * (2 if language == "de" else 1)  # scores differ in scale
    ...     shown = lister.propose(scores, group=language)
    ...     if 0 in shown.members:
    ...         lister.hit(shown.round_id, 0)
    ...     else:
    ...         lister.miss(shown.round_id)
    >>> {group: round(lister.threshold(group), 2) for group in lister.groups}
    {'en': 0.08, 'de': 0.15}
    """

    kind: ClassVar[str] = "grouped shortlister"

    def __init__(
        self,
        coverage: float = 0.9,
        delta: float = 0.05,
        *,
        patience: int = 200,
        on_drift: OnDrift | None = None,
        false_alarm_rounds: int = 1_000_000,
        keep: int = 10_000,
    ) -> None:
        super().__init__(keep)
        self._coverage = check_probability("coverage", coverage, 0.9)
        self._delta = check_probability("delta", delta, 0.05)
        self._settings: dict[str, Any] = {
            "patience": patience,
            "on_drift": on_drift,
            "false_alarm_rounds": false_alarm_rounds,
        }
        self._new_learner(1)  # refuses bad settings now rather than at the first round
        self._groups: dict[Group, Learner] = {}

    def __repr__(self) -> str:
        return (
            f"<GroupedShortlister coverage {self._coverage}, {len(self._groups)} groups, {self._book.next_id} rounds>"
        )

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups so far, in the order they came."""
        return tuple(self._groups)

    def threshold(self, group: Group) -> float:
        """Return the threshold in force for the next list of a `group`; -inf for one not seen yet."""
        group = _check_group(group)
        return self._groups[group].threshold if group in self._groups else -np.inf

    def propose(self, scores: ArrayLike, ids: Sequence[Member] | None = None, *, group: Group) -> GroupShown:
        """Open a round for a group and return its shortlist.

        Parameters
        ----------
        scores
            The score of each candidate, one-dimensional, finite; larger is better.
        ids
            Your own names for the candidates, strings or integers; their positions otherwise.
        group
            Whose threshold decides, a string or an integer: known before the list is shown, whatever its answer.
        """
        values = check_scores(scores)
        names = None if ids is None else check_ids(ids, values.size)
        group = _check_group(group)
        with self._lock:
            learner = self._groups.get(group) or self._new_learner(len(self._groups) + 1)
            self._groups[group] = learner
            threshold = learner.threshold
            members, kept = cut_list(values, names, threshold)
            shown = GroupShown(
                round_id=self._book.next_id,
                threshold=threshold,
                members=members,
                scores=kept,
                candidates=values.size,
                cut=len(members),
                group=group,
            )
            self._open(shown, [learner])
            return shown

    def summary(self, group: Group | None = None) -> dict[str, Any]:
        """Return what has happened so far: in all groups together, or what the threshold of one `group` rests on."""
        with self._lock:
            if group is None:
                return {
                    "coverage_target": self._coverage,
                    "delta": self._delta,
                    "groups": len(self._groups),
                    **self._summary(),
                }
            group = _check_group(group)
            if group not in self._groups:
                raise InvalidParameter(f"group {group!r} has had no round yet")
            learner = self._groups[group]
            return {"group": group, "policy": learner.policy.to_dict()} | learner.summary()

    def _new_learner(self, number: int) -> Learner:
        """Return the learner of the `number`-th group."""
        return Learner(AnytimeSPS(self._coverage, self._delta / (number * (number + 1))), **self._settings)

    def _learners(self, record: GroupShown) -> Iterable[Learner]:
        return (self._groups[record.group],)

    def _encode(self, record: GroupShown) -> Any:
        return [*super()._encode(record), record.group]

    def _decode(self, round_id: int, plain: Any) -> GroupShown:
        *shown, group = plain
        threshold, members, scores, candidates, cut, truncated, _ = shown
        return GroupShown(round_id, threshold, tuple(members), tuple(scores), candidates, cut, truncated, group=group)

    def _content(self) -> dict[str, Any]:
        return {
            "coverage": self._coverage,
            "delta": self._delta,
            "settings": self._settings,
            "groups": [[group, learner.to_dict()] for group, learner in self._groups.items()],
        }

    @classmethod
    def _from_content(cls, content: dict[str, Any], **extras: Any) -> Self:  # noqa: ARG003 - none here
        lister = cls(content["coverage"], content["delta"], **content["settings"])
        lister._groups = {group: Learner.from_dict(data) for group, data in content["groups"]}
        return lister


def _check_group(group: Any) -> Group:
    group = plain_member(group)
    if isinstance(group, bool) or not isinstance(group, (int, str)):
        raise InvalidParameter(f"group is {group!r}; it must be a string or an integer")
    return check_ids([group], 1)[0]
