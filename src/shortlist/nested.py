"""Several coverages on one stream: the longest list is shown, the shorter ones are marked in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from shortlist._validation import Member, check_ids, check_probability, check_scores
from shortlist.errors import InvalidParameter
from shortlist.learner import Learner
from shortlist.lister import Lister, Shown, cut_list
from shortlist.policies import AnytimeSPS

__all__ = ["NestedShortlister", "NestedShown"]


@dataclass(frozen=True, slots=True)
class NestedShown(Shown):
    """A list as it was shown, with the shorter ones inside it.

    Attributes
    ----------
    cuts
        For each coverage, how many members its own list has: the first `cuts[coverage]` of them.
    """

    cuts: dict[float, int] = field(default_factory=dict)


class NestedShortlister(Lister):
    """Shows one list that holds several: sure, surer, surest.

    The lowest threshold decides what is shown, so every answer teaches every threshold, each exactly
    as in a run of its own. The list of a higher coverage contains that of a lower one: where a lower
    coverage's threshold is below a higher one's, the higher one gives way, which is safe.

    Parameters
    ----------
    coverages
        The coverages, in any order.
    delta
        What each promise may fail with.
    jointly
        False: each promise holds with probability 1 - delta, on its own. True: all of them hold at
        once with probability 1 - delta; each learner then gets its share of delta.
    patience
        As in `shortlist.Shortlister`.
    keep
        For how many later rounds a round is kept.

    Examples
    --------
    >>> lister = NestedShortlister(coverages=(0.8, 0.95))
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(3000):
    ...     shown = lister.propose(rng.random(50))
    ...     if 0 in shown.members:
    ...         lister.hit(shown.round_id, 0)
    ...     else:
    ...         lister.miss(shown.round_id)
    >>> shown.cuts
    {0.8: 38, 0.95: 48}
    """

    kind: ClassVar[str] = "nested shortlister"

    def __init__(
        self,
        coverages: Sequence[float] = (0.8, 0.9, 0.95),
        delta: float = 0.05,
        *,
        jointly: bool = False,
        patience: int = 200,
        keep: int = 10_000,
    ) -> None:
        super().__init__(keep)
        if not isinstance(coverages, (Sequence, np.ndarray)) or isinstance(coverages, str):
            raise InvalidParameter(f"coverages is {coverages!r}; it must be a list, for example (0.8, 0.95)")
        if not isinstance(jointly, bool):
            raise InvalidParameter(f"jointly is {jointly!r}; it must be True or False")
        chosen = sorted(check_probability("coverage", coverage, 0.9) for coverage in coverages)
        if not chosen or len(set(chosen)) < len(chosen):
            raise InvalidParameter(f"coverages are {coverages}; they must be one or more, and different")
        self._delta = check_probability("delta", delta, 0.05)
        self._jointly = jointly
        share = self._delta / len(chosen) if jointly else self._delta
        self._tracks = {coverage: Learner(AnytimeSPS(coverage, share), patience=patience) for coverage in chosen}

    def __repr__(self) -> str:
        return f"<NestedShortlister coverages {self.coverages}, {self._book.next_id} rounds>"

    @property
    def coverages(self) -> tuple[float, ...]:
        """The coverages, lowest first."""
        return tuple(self._tracks)

    @property
    def thresholds(self) -> dict[float, float]:
        """The threshold of each coverage, lowest coverage and highest threshold first.

        A higher coverage never has the higher threshold: it gives way to the lower one's.
        """
        lowest, found = np.inf, {}
        for coverage, learner in self._tracks.items():
            lowest = min(lowest, learner.threshold)
            found[coverage] = float(lowest)
        return found

    def propose(self, scores: ArrayLike, ids: Sequence[Member] | None = None) -> NestedShown:
        """Open a round and return the longest of its lists, with the others marked in it.

        Parameters
        ----------
        scores
            The score of each candidate, one-dimensional, finite; larger is better.
        ids
            Your own names for the candidates, strings or integers; their positions otherwise.
        """
        values = check_scores(scores)
        names = None if ids is None else check_ids(ids, values.size)
        with self._lock:
            thresholds = self.thresholds
            lowest = min(thresholds.values())
            members, kept = cut_list(values, names, lowest)
            shown = NestedShown(
                round_id=self._book.next_id,
                threshold=lowest,
                members=members,
                scores=kept,
                candidates=values.size,
                cut=len(members),
                cuts={coverage: sum(score >= tau for score in kept) for coverage, tau in thresholds.items()},
            )
            self._open(shown, self._tracks.values())
            return shown

    def summary(self) -> dict[str, Any]:
        """Return what has happened so far, which promise holds for what, and each coverage's learner."""
        with self._lock:
            each = self._delta / len(self._tracks) if self._jointly else self._delta
            return self._summary() | {
                "thresholds": self.thresholds,
                "promise": (
                    f"each threshold alone never passes its optimum with probability {1 - each:.6g}; all of them at "
                    f"once with probability {max(0.0, 1 - each * len(self._tracks)):.6g}"
                ),
                "coverages": {coverage: learner.summary() for coverage, learner in self._tracks.items()},
            }

    def _learners(self, record: NestedShown) -> Iterable[Learner]:  # noqa: ARG002 - all learn from all
        return self._tracks.values()

    def _encode(self, record: NestedShown) -> Any:
        return [*super()._encode(record), [[coverage, cut] for coverage, cut in record.cuts.items()]]

    def _decode(self, round_id: int, plain: Any) -> NestedShown:
        *shown, cuts = plain
        threshold, members, scores, candidates, cut, truncated, _ = shown
        return NestedShown(
            round_id, threshold, tuple(members), tuple(scores), candidates, cut, truncated, cuts=dict(cuts)
        )

    def _content(self) -> dict[str, Any]:
        return {
            "delta": self._delta,
            "jointly": self._jointly,
            "tracks": [[coverage, learner.to_dict()] for coverage, learner in self._tracks.items()],
        }

    @classmethod
    def _from_content(cls, content: dict[str, Any], **extras: Any) -> Self:  # noqa: ARG003 - none here
        tracks = {coverage: Learner.from_dict(data) for coverage, data in content["tracks"]}
        lister = cls(tuple(tracks), content["delta"], jointly=content["jointly"])
        lister._tracks = tracks
        return lister
