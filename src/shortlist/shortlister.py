"""One thing to hold: a policy, its state, and the rounds that are still open.

``propose`` shows a list, ``hit``, ``miss``, ``skip`` and ``absent`` take its answer, at once or
later, in any order. Each round remembers the threshold it was shown with, and its answer is judged
against that, never against today's.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.candidates import Member, check_ids, check_scores, check_true_scores
from shortlist.errors import InvalidParameter
from shortlist.learner import Learner, OnDrift, Unanswered
from shortlist.lister import Lister, Shown
from shortlist.parameters import check_count
from shortlist.policies import AnytimeSPS, Policy

__all__ = ["Shortlister", "Shown"]


class Shortlister(Lister):
    """Shows shortlists and learns their threshold from the answers.

    With probability 1 - delta, and for ever, every list is at least as long as the optimal one: the
    one whose threshold keeps the right answer in a share `coverage` of all rounds. The promise needs
    rounds that are independent draws from one unchanging world; it needs nothing of the scores, and
    nothing of when or whether answers come.

    Parameters
    ----------
    coverage
        The share of rounds in which the right answer must be in the list; 0.9 if not given.
    delta
        The probability that the threshold may ever pass the optimal one; 0.05 if not given.
    policy
        Another policy than ``AnytimeSPS(coverage, delta)``.
    unanswered
        What silence means. ``"miss"``: an unanswered round counts as low until its answer comes;
        always safe, for order-statistic policies only, and their default. ``"ignore"``: a round
        counts when it is answered; safe only if neither silence nor delay depends on the score.
    patience
        How many later rounds are shown before an unanswered one is counted as low (it is corrected
        when its answer comes). Silence holds the count back by at most that many rounds; answers
        that take longer cost speed until they come. Any value is safe; choose the number of rounds
        in which nearly all answers arrive. 200, the default, is a few minutes of a busy search box.
    on_drift
        Watch the misses for a change of the world: ``"report"`` an alarm in the summary, or
        ``"restart"`` learning. Restarts share delta between them, the first start included.
    false_alarm_rounds
        The promised mean distance between false alarms.
    at_least
        Always show that many candidates: safe.
    at_most
        Never show more: then ``shown.truncated`` says whether the promise covers the list, and a
        miss of such a list counts as silence.
    shadow
        Show everything and learn all the same; the summary says what would have been hidden, and
        missed. For trying it out before trusting it.
    keep
        For how many later rounds a round is kept. Older ones are closed: what is unanswered then
        stays so.

    Examples
    --------
    >>> lister = Shortlister(coverage=0.9)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(2000):
    ...     scores = rng.random(20)  # what a model thinks of 20 candidates
    ...     right = int(rng.choice(20, p=scores**8 / (scores**8).sum()))  # what the person wants
    ...     shown = lister.propose(scores)
    ...     if right in shown.members:
    ...         lister.hit(shown.round_id, right)
    ...     else:
    ...         lister.miss(shown.round_id)
    >>> len(shown.members), round(lister.threshold, 2)
    (8, 0.75)
    """

    kind: ClassVar[str] = "shortlister"

    def __init__(
        self,
        coverage: float | None = None,
        delta: float | None = None,
        *,
        policy: Policy | None = None,
        unanswered: Unanswered | None = None,
        patience: int = 200,
        on_drift: OnDrift | None = None,
        false_alarm_rounds: int = 1_000_000,
        at_least: int = 0,
        at_most: int | None = None,
        shadow: bool = False,
        keep: int = 10_000,
    ) -> None:
        super().__init__(keep)
        if policy is None:
            policy = AnytimeSPS(0.9 if coverage is None else coverage, 0.05 if delta is None else delta)
        elif not (coverage is None and delta is None):
            raise InvalidParameter("coverage and delta belong to the policy: give them, or a policy, not both")
        self._learner = Learner(
            policy,
            unanswered=unanswered,
            patience=patience,
            on_drift=on_drift,
            false_alarm_rounds=false_alarm_rounds,
        )
        self._at_least = check_count("at_least", at_least, least=0)
        self._at_most = None if at_most is None else check_count("at_most", at_most)
        if self._at_most is not None and (shadow or self._at_least > self._at_most):
            rule = "shadow mode shows everything" if shadow else f"at_least is {at_least}"
            raise InvalidParameter(f"at_most is {at_most}, but {rule}: drop one of the two")
        self._shadow = bool(shadow)
        self._tally = {"candidates": 0, "hidden": 0, "would_have_missed": 0}

    def __repr__(self) -> str:
        return f"<Shortlister {self.policy}, {self._book.next_id} rounds, threshold {self.threshold:.6g}>"

    @property
    def policy(self) -> Policy:
        """The policy that learns."""
        return self._learner.policy

    @property
    def threshold(self) -> float:
        """The threshold in force for the next list."""
        return self._learner.threshold

    def propose(self, scores: ArrayLike, ids: Sequence[Member] | None = None) -> Shown:
        """Open a round and return its shortlist.

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
            threshold = self.threshold
            order, cut, truncated = self._select(values, threshold)
            positions = order.tolist()
            shown = Shown(
                round_id=self._book.next_id,
                threshold=threshold,
                members=tuple(positions if names is None else [names[i] for i in positions]),
                scores=tuple(values[order].tolist()),
                cut=cut,
                truncated=truncated,
            )
            self._tally["candidates"] += values.size
            self._tally["hidden"] += values.size - (cut if self._shadow else len(positions))
            self._open(shown, [self._learner])
            return shown

    def warm_start(self, true_scores: ArrayLike) -> None:
        """Learn from labelled examples before the first list is shown.

        They count as rounds in which everything was shown and answered, so the promise holds from
        the first list on. It needs examples of the same world on which the scorer was not trained,
        with nothing filtered out: a click log without its misses is not one.

        Parameters
        ----------
        true_scores
            The score of the right answer in each example; -inf where it was not among the
            candidates.
        """
        scores = check_true_scores(true_scores)
        with self._lock:
            if self._book.next_id:
                raise InvalidParameter(
                    f"{self._book.next_id} rounds have been shown already; a warm start comes before the first"
                )
            self._learner.warm_start(scores.tolist())

    def summary(self) -> dict[str, Any]:
        """Return what has happened so far.

        ``coverage_seen`` is the share of hits among hits and misses; ``counted`` the rounds that the
        threshold rests on; ``waiting_for`` says in words what is needed next; ``hidden_share`` is the
        share of candidates that were not shown. In shadow mode the last, and ``would_have_missed``,
        say what would have been.
        """
        with self._lock:
            candidates = self._tally["candidates"]
            return (
                {"policy": self.policy.to_dict(), "coverage_target": getattr(self.policy, "coverage", None)}
                | self._summary()
                | self._learner.summary()
                | {
                    "hidden_share": self._tally["hidden"] / candidates if candidates else None,
                    "shadow": self._shadow,
                    "would_have_missed": self._tally["would_have_missed"] if self._shadow else None,
                }
            )

    def _select(self, values: NDArray[np.float64], threshold: float) -> tuple[NDArray[np.intp], int, bool]:
        """Return the positions to show, best first, how many reach the threshold, and if some were cut off."""
        kept = np.flatnonzero(values >= threshold)
        if self._shadow or kept.size < self._at_least:
            order = np.argsort(-values, kind="stable")
            return (order if self._shadow else order[: self._at_least]), kept.size, False
        order = kept[np.argsort(-values[kept], kind="stable")]
        if self._at_most is not None and order.size > self._at_most:
            return order[: self._at_most], self._at_most, True
        return order, order.size, False

    def _hit(self, shown: Shown, round_id: int, score: float) -> None:
        self._tally["would_have_missed"] += score < shown.threshold
        super()._hit(shown, round_id, score)

    def _learners(self, record: Shown) -> Iterable[Learner]:  # noqa: ARG002 - one for all rounds
        return (self._learner,)

    def _content(self) -> dict[str, Any]:
        return {
            "learner": self._learner.to_dict(),
            "at_least": self._at_least,
            "at_most": self._at_most,
            "shadow": self._shadow,
            "tally": self._tally,
        }

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        learner = Learner.from_dict(content["learner"])
        lister = cls(
            policy=learner.policy,
            **{name: content[name] for name in ("at_least", "at_most", "shadow")},
        )
        lister._learner, lister._tally = learner, content["tally"]
        return lister
