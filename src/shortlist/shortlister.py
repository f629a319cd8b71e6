"""One thing to hold: a policy, its state, and the rounds that are still open.

``propose`` shows a list, ``hit``, ``miss``, ``skip`` and ``absent`` take its answer, at once or
later, in any order. Each round remembers the threshold it was shown with, and its answer is judged
against that, never against today's.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.candidates import Member, check_ids, check_scores, check_true_scores
from shortlist.chooser import Chooser
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.learner import Learner, OnDrift, Unanswered
from shortlist.lister import Lister, Shown, best_first
from shortlist.parameters import check_count
from shortlist.policies import AnytimeSPS, OrderStatistic, Policy
from shortlist.scores import Margin, Raw, Relative, Score, name_of, score_from_dict, score_to_dict, to_score

__all__ = ["AUTO", "Shortlister", "Shown"]

#: The scores that ``score="auto"`` chooses from.
AUTO: Final = (Raw(), Margin(), Relative(0.3), Relative(0.5), Relative(1.0))


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
    score
        How a list's raw scores become the scores compared with the threshold: ``"raw"`` (the
        default), ``"margin"``, ``"relative"``, ``"rank"``, ``"adaptive"``, an object of
        :mod:`shortlist.scores`, or any function of your own from an array of scores to another.
        ``"auto"`` finds out which of several gives the shortest lists, and shows the union of their
        lists meanwhile; each has its share of delta.
    unanswered
        What silence means. ``"miss"``: an unanswered round counts as low until its answer comes;
        always safe, for order-statistic policies only, and their default. ``"ignore"``: a round
        counts when it is answered; safe only if neither silence nor delay depends on the score.
    patience
        How many later rounds are shown before an unanswered one is counted as low. It is corrected
        when its answer comes, but a miss that comes later than that is not seen by `on_drift`.
        Silence holds the count back by at most that many rounds; answers that take longer cost speed
        until they come. Any value is safe; choose the number of rounds in which nearly all answers
        arrive. 200, the default, is a few minutes of a busy search box.
    on_drift
        Watch for a world in which lists miss more often than they may: ``"report"`` alarms in the
        summary, or ``"restart"`` learning. Restarts share delta between them, the first start
        included, so it learns a little later. Only misses that are answered within `patience` rounds
        are seen, and skipped rounds are not. In the summary, ``level`` is how near the next alarm is
        (1 rings it), and an alarm's ``strength`` the level it rang at; while nothing is done about a
        change, alarms go on.
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
        score: str | Score = "raw",
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
        self._auto = isinstance(score, str) and score == "auto"
        self._scores: tuple[Score, ...] = AUTO if self._auto else (to_score(score),)
        if self._auto and (on_drift == "restart" or not isinstance(policy, OrderStatistic)):
            raise InvalidParameter(
                'score is "auto", which needs an order-statistic policy, and on_drift="report" or None: '
                "a restart would have to choose again"
            )
        # A learner for each score that is still in use.
        self._tracks = {
            index: Learner(
                policy,
                unanswered=unanswered,
                patience=patience,
                on_drift=on_drift,
                false_alarm_rounds=false_alarm_rounds,
                share=1 / len(self._scores),
            )
            for index in range(len(self._scores))
        }
        self._chooser = Chooser(len(self._scores))
        self._decided_at: int | None = None
        self._at_least = check_count("at_least", at_least, least=0)
        self._at_most = None if at_most is None else check_count("at_most", at_most)
        if self._at_most is not None and (shadow or self._at_least > self._at_most):
            rule = "shadow mode shows everything" if shadow else f"at_least is {at_least}"
            raise InvalidParameter(f"at_most is {at_most}, but {rule}: drop one of the two")
        if not isinstance(shadow, bool):
            raise InvalidParameter(f"shadow is {shadow!r}; it must be True or False")
        self._shadow = shadow
        self._tally = {"candidates": 0, "hidden": 0, "would_have_missed": 0}

    def __repr__(self) -> str:
        return f"<Shortlister {self.policy}, {self._book.next_id} rounds, threshold {self.threshold:.6g}>"

    @property
    def policy(self) -> Policy:
        """The policy that learns."""
        return self._learner.policy

    @property
    def score(self) -> str:
        """The score in use: its name, or those of the scores whose lists are shown together."""
        return " | ".join(name_of(self._scores[i]) for i in self._chooser.remaining)

    @property
    def _learner(self) -> Learner:
        """The learner of the score in use; while several are, of the one with the shortest lists."""
        return self._tracks[self._chooser.leader]

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
            made = {i: self._comparable(i, values) for i in self._tracks}
            thresholds = {i: learner.threshold for i, learner in self._tracks.items()}
            reached = {i: made[i] >= threshold for i, threshold in thresholds.items()}
            lengths = self._expected_lengths(made)
            order, cut, truncated = self._select(values, made[self._chooser.leader], reached)
            positions = order.tolist()
            raw = tuple(values[order].tolist())
            shown = Shown(
                round_id=self._book.next_id,
                threshold=self.threshold,
                members=tuple(positions if names is None else [names[i] for i in positions]),
                scores=raw,
                cut=cut,
                truncated=truncated,
                comparable={i: raw if m is values else tuple(m[order].tolist()) for i, m in made.items()},
            )
            self._tally["candidates"] += values.size
            self._tally["hidden"] += values.size - (cut if self._shadow else len(positions))
            self._open(shown, self._tracks.values())
            if lengths is not None:
                self._choose(lengths)
            return shown

    def _comparable(self, index: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a score makes of a list, checked if the score is not one of ours."""
        made = np.asarray(self._scores[index](values), dtype=np.float64)
        if made is values:
            return made
        if made.shape != values.shape or not np.isfinite(made).all():
            raise InvalidScores(
                f"the score {name_of(self._scores[index])} made an array of shape {made.shape} of {values.size} "
                "scores, or one that is not finite; it must return one finite number for each"
            )
        return made

    def _expected_lengths(self, made: dict[int, NDArray[np.float64]]) -> list[int] | None:
        """Return the lengths to compare scores by: of their lists at the thresholds they expect to end at."""
        if self._chooser.decided or min(learner.threshold for learner in self._tracks.values()) == -np.inf:
            return None
        lengths = [0] * len(self._scores)
        for i, learner in self._tracks.items():
            lengths[i] = int(np.count_nonzero(made[i] >= learner.estimate()))
        return lengths

    def _choose(self, lengths: list[int]) -> None:
        """Drop the scores with clearly longer lists, from the next round on."""
        self._chooser.compare(lengths)
        self._tracks = {i: self._tracks[i] for i in self._chooser.remaining}
        if self._chooser.decided:
            self._decided_at = self._book.next_id

    def warm_start(self, true_scores: ArrayLike, candidate_scores: ArrayLike | None = None) -> None:
        """Learn from labelled examples before the first list is shown.

        They count as rounds in which everything was shown and answered, so the promise holds from
        the first list on. It needs examples of the same world on which the scorer was not trained,
        with nothing filtered out: a click log without its misses is not one.

        Parameters
        ----------
        true_scores
            The score of the right answer in each example; -inf where it was not among the
            candidates.
        candidate_scores
            The scores of all candidates, the right one's included, a row for each example: needed
            unless ``score="raw"``.
        """
        scores = check_true_scores(true_scores)
        made = [self._true_comparable(i, scores, candidate_scores) for i in range(len(self._scores))]
        with self._lock:
            if self._book.next_id:
                raise InvalidParameter(
                    f"{self._book.next_id} rounds have been shown already; a warm start comes before the first"
                )
            for index, learner in self._tracks.items():
                learner.warm_start(made[index].tolist())

    def _true_comparable(
        self, index: int, true_scores: NDArray[np.float64], candidate_scores: ArrayLike | None
    ) -> NDArray[np.float64]:
        """Return what a score makes of the right answers of labelled examples."""
        if isinstance(self._scores[index], Raw):
            return true_scores
        if candidate_scores is None:
            raise InvalidParameter(f"candidate_scores are missing; {name_of(self._scores[index])} needs whole lists")
        try:
            rows = np.asarray(candidate_scores, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidScores(f"candidate_scores cannot be read as a table of numbers: {error}") from None
        if rows.ndim != 2 or len(rows) != true_scores.size:
            raise InvalidScores(
                f"candidate_scores have the shape {rows.shape}; there must be a row for each true score"
            )
        found = np.full(true_scores.size, -np.inf)
        for i, (row, true) in enumerate(zip(rows, true_scores, strict=True)):
            places = np.flatnonzero(row == true)
            if places.size:
                found[i] = self._comparable(index, check_scores(row))[places[0]]
            elif true > -np.inf:
                raise InvalidScores(f"true_scores[{i}] is {true}, which is not among its candidates")
        return found

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
                | self._score_summary()
                | {
                    "hidden_share": self._tally["hidden"] / candidates if candidates else None,
                    "shadow": self._shadow,
                    "would_have_missed": self._tally["would_have_missed"] if self._shadow else None,
                }
            )

    def _score_summary(self) -> dict[str, Any]:
        """Say which score is in use, and why."""
        chooser = self._chooser
        if not self._auto:
            why = "as set"
        elif chooser.decided:
            why = f"its lists were the shortest over {chooser.rounds} rounds; decided before round {self._decided_at}"
        elif chooser.rounds:
            why = f"undecided after comparing {chooser.rounds} rounds, so the union of their lists is shown"
        else:
            why = "undecided: the comparison begins when all of them have a threshold"
        thresholds = {name_of(self._scores[i]): self._tracks[i].threshold for i in chooser.remaining}
        return {"score": self.score, "score_why": why, "score_thresholds": thresholds}

    def _select(
        self, values: NDArray[np.float64], made: NDArray[np.float64], lists: dict[int, NDArray[np.bool_]]
    ) -> tuple[NDArray[np.intp], int, bool]:
        """Return the positions to show, best first, how many reach a threshold, and if some were cut off."""
        reached = next(iter(lists.values())) if len(lists) == 1 else np.logical_or.reduce(list(lists.values()))
        kept = np.flatnonzero(reached)
        if self._shadow or kept.size < self._at_least:
            order = best_first(np.arange(values.size), values, made)
            # What reaches a threshold comes first, even if a score of your own does not keep the order.
            order = np.concatenate([order[reached[order]], order[~reached[order]]])
            if self._shadow:
                return order, min(max(kept.size, self._at_least), values.size), False
            return order[: self._at_least], kept.size, False
        order = best_first(kept, values, made)
        if self._at_most is not None and order.size > self._at_most:
            return order[: self._at_most], self._at_most, True
        return order, order.size, False

    def _miss(self, shown: Shown, round_id: int) -> None:
        self._tally["would_have_missed"] += 1
        super()._miss(shown, round_id)

    def _hit(self, shown: Shown, round_id: int, place: int) -> None:
        self._tally["would_have_missed"] += place >= shown.cut
        for i, learner in self._tracks.items():
            learner.answer(round_id, shown.comparable[i][place])

    def _learners(self, record: Shown) -> Iterable[Learner]:  # noqa: ARG002 - all learn from all
        return self._tracks.values()

    def _content(self) -> dict[str, Any]:
        return {
            "scores": [score_to_dict(score) for score in self._scores],
            "auto": self._auto,
            "learners": [[index, learner.to_dict()] for index, learner in self._tracks.items()],
            "chooser": self._chooser.to_dict(),
            "decided_at": self._decided_at,
            "at_least": self._at_least,
            "at_most": self._at_most,
            "shadow": self._shadow,
            "tally": self._tally,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, score: Score | None = None) -> Self:
        """Return the lister that was saved; it goes on with the same bits.

        Parameters
        ----------
        path
            The file.
        score
            The score, if it was one of your own: a function cannot be saved.
        """
        return cls._load(path, score=score)

    @classmethod
    def _from_content(cls, content: dict[str, Any], **extras: Any) -> Self:
        learners = {index: Learner.from_dict(data) for index, data in content["learners"]}
        scores = tuple(score_from_dict(data, extras.get("score")) for data in content["scores"])
        lister = cls(
            policy=next(iter(learners.values())).policy,
            score="auto" if content["auto"] else scores[0],
            **{name: content[name] for name in ("at_least", "at_most", "shadow")},
        )
        lister._scores, lister._tracks = scores, learners
        lister._chooser, lister._decided_at = Chooser.from_dict(content["chooser"]), content["decided_at"]
        lister._tally = content["tally"]
        return lister
