"""Where a list is cut, and what is learnt from its answer: the scores in use, with a learner each.

Deciding and learning are two steps. `Cutter.cut` looks at a list and changes nothing; `Cutter.show`
and the verbs after it change the state, and depend on nothing but what they are handed. So a lister
in memory can do both at once, and a service can write the decision down in between.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import check_count, check_scores
from shortlist.chooser import Chooser
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.learner import Learner, OnDrift, RoundName, Unanswered
from shortlist.policies import OrderStatistic, Policy
from shortlist.scores import Margin, Raw, Relative, Score, name_of, score_from_dict, score_to_dict, to_score

__all__ = ["AUTO", "Cut", "Cutter", "best_first"]

#: The scores that ``score="auto"`` chooses from.
AUTO: Final = (Raw(), Margin(), Relative(0.3), Relative(0.5), Relative(1.0))

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cut:
    """What would be shown of a list. Scores in use are told apart by their index.

    Attributes
    ----------
    positions
        The candidates to show, best first.
    reached
        How many of them reach a threshold.
    truncated
        Whether candidates are missing that may reach it.
    threshold
        The threshold of the score in use; while several are, of the one with the shortest lists.
    leader
        The score whose threshold that is.
    epoch
        How often learning has started over.
    thresholds
        The threshold of each score.
    comparable
        What each score makes of all candidates.
    """

    positions: NDArray[np.intp]
    reached: int
    truncated: bool
    threshold: float
    leader: int
    epoch: int
    thresholds: Mapping[int, float]
    comparable: Mapping[int, Array]


def best_first(positions: NDArray[np.intp], values: Array, made: Array) -> NDArray[np.intp]:
    """Return positions by comparable score, then by raw score, then in the order given."""
    if made is values:
        return positions[(-values[positions]).argsort(kind="stable")]
    return positions[np.lexsort((-values[positions], -made[positions]))]


class Cutter:
    """The scores in use and their learners. The parameters are those of `shortlist.Shortlister`."""

    def __init__(
        self,
        policy: Policy,
        *,
        score: str | Score = "raw",
        unanswered: Unanswered | None = None,
        patience: int = 200,
        on_drift: OnDrift | None = None,
        false_alarm_rounds: int = 1_000_000,
        at_least: int = 0,
        at_most: int | None = None,
        shadow: bool = False,
    ) -> None:
        self.auto = isinstance(score, str) and score == "auto"
        self.scores: tuple[Score, ...] = AUTO if self.auto else (to_score(score),)
        if self.auto and (on_drift == "restart" or not isinstance(policy, OrderStatistic)):
            raise InvalidParameter(
                'score is "auto", which needs an order-statistic policy, and on_drift="report" or None: '
                "a restart would have to choose again"
            )
        #: A learner for each score that is still in use.
        self.tracks = {
            index: Learner(
                policy,
                unanswered=unanswered,
                patience=patience,
                on_drift=on_drift,
                false_alarm_rounds=false_alarm_rounds,
                share=1 / len(self.scores),
            )
            for index in range(len(self.scores))
        }
        self.chooser = Chooser(len(self.scores))
        self.at_least = check_count("at_least", at_least, least=0)
        self.at_most = None if at_most is None else check_count("at_most", at_most)
        if self.at_most is not None and (shadow or self.at_least > self.at_most):
            rule = "shadow mode shows everything" if shadow else f"at_least is {at_least}"
            raise InvalidParameter(f"at_most is {at_most}, but {rule}: drop one of the two")
        if not isinstance(shadow, bool):
            raise InvalidParameter(f"shadow is {shadow!r}; it must be True or False")
        self.shadow = shadow
        self.rounds = 0
        self._decided_at: int | None = None
        self._tally = dict.fromkeys(("candidates", "hidden", "truncated", "would_have_missed"), 0)
        # Of this epoch's complete lists: how often the right answer was among the candidates, and how often not.
        self._recall = {"epoch": 0, "hits": 0, "misses": 0}

    @property
    def leader(self) -> Learner:
        """The learner of the score in use; while several are, of the one with the shortest lists."""
        return self.tracks[self.chooser.leader]

    @property
    def score(self) -> str:
        """The score in use: its name, or those of the scores whose lists are shown together."""
        return " | ".join(name_of(self.scores[i]) for i in self.chooser.remaining)

    def cut(self, values: Array, truncated_below: float = -math.inf) -> Cut:
        """Return what to show of a list, and change nothing.

        Parameters
        ----------
        values
            Its checked scores.
        truncated_below
            The score at or below which candidates may have been cut off before they came here.
        """
        made = {i: self._comparable(i, values) for i in self.tracks}
        thresholds = {i: learner.threshold for i, learner in self.tracks.items()}
        reached = [made[i] >= threshold for i, threshold in thresholds.items()]
        leader = self.chooser.leader
        order, count, truncated = self._select(values, made[leader], reached)
        if truncated_below > -math.inf and not truncated:
            # What the search left out may equal the last score that it returned.
            truncated = any(
                threshold <= self._comparable_of(i, truncated_below, values, made[i])
                for i, threshold in thresholds.items()
            )
        return Cut(
            positions=order,
            reached=count,
            truncated=truncated,
            threshold=thresholds[leader],
            leader=leader,
            epoch=self.tracks[leader].epoch,
            thresholds=thresholds,
            comparable=made,
        )

    def _select(
        self, values: Array, made: Array, lists: Sequence[NDArray[np.bool_]]
    ) -> tuple[NDArray[np.intp], int, bool]:
        """Return the positions to show, best first, how many reach a threshold, and if some were cut off."""
        reached = lists[0] if len(lists) == 1 else np.logical_or.reduce(lists)
        kept = reached.nonzero()[0]
        if self.shadow or kept.size < self.at_least:
            order = best_first(np.arange(values.size), values, made)
            # What reaches a threshold comes first, even if a score of your own does not keep the order.
            order = np.concatenate([order[reached[order]], order[~reached[order]]])
            if self.shadow:
                return order, min(max(kept.size, self.at_least), values.size), False
            return order[: self.at_least], kept.size, False
        order = best_first(kept, values, made)
        if self.at_most is not None and order.size > self.at_most:
            return order[: self.at_most], self.at_most, True
        return order, order.size, False

    def _comparable_of(self, index: int, score: float, values: Array, made: Array) -> float:
        """Return the most that a candidate which is missing can have: with it in the list, or as its equal there."""
        added = self._comparable(index, np.append(values, score))[-1]
        return float(np.maximum.reduce(made[values == score], initial=added))

    def _comparable(self, index: int, values: Array) -> Array:
        """Return what a score makes of a list, checked if the score is not one of ours."""
        if not values.size:
            return values
        made = np.asarray(self.scores[index](values), dtype=np.float64)
        if made is values:
            return made
        if made.shape != values.shape or not np.isfinite(made).all():
            raise InvalidScores(
                f"the score {name_of(self.scores[index])} made an array of shape {made.shape} of {values.size} "
                "scores, or one that is not finite; it must return one finite number for each"
            )
        return made

    def show(self, name: RoundName, cut: Cut) -> None:
        """Open a round whose list was cut like that, now or a little earlier."""
        count = next(iter(cut.comparable.values())).size
        lengths = self._expected_lengths(cut.comparable)
        self.rounds += 1
        self._tally["candidates"] += count
        self._tally["truncated"] += cut.truncated
        self._tally["hidden"] += count - (cut.reached if self.shadow else cut.positions.size)
        for i, learner in self.tracks.items():
            learner.show(name, threshold=cut.thresholds[i], epoch=cut.epoch)
        if lengths is not None:
            self._choose(lengths)

    def _expected_lengths(self, made: Mapping[int, Array]) -> list[int] | None:
        """Return the lengths to compare scores by: of their lists at the thresholds they expect to end at."""
        if self.chooser.decided or min(learner.threshold for learner in self.tracks.values()) == -np.inf:
            return None
        lengths = [0] * len(self.scores)
        for i, learner in self.tracks.items():
            lengths[i] = int(np.count_nonzero(made[i] >= learner.estimate()))
        return lengths

    def _choose(self, lengths: list[int]) -> None:
        """Drop the scores with clearly longer lists, from the next round on."""
        self.chooser.compare(lengths)
        self.tracks = {i: self.tracks[i] for i in self.chooser.remaining}
        if self.chooser.decided:
            self._decided_at = self.rounds

    def hit(
        self, name: RoundName, scores: Mapping[int, float], *, beyond: bool = False, complete: bool = False
    ) -> None:
        """Take a pick: what each score made of it, whether it is below the cut, and whether its list was complete."""
        self._tally["would_have_missed"] += beyond
        self._remember("hits", complete)
        for i, learner in self.tracks.items():
            learner.answer(name, scores[i])

    def miss(self, name: RoundName, *, truncated: bool = False, complete: bool = False) -> None:
        """Take a miss; of a truncated list it is low, but says nothing of how often the threshold misses."""
        self._tally["would_have_missed"] += 1
        self._remember("misses", complete)
        for learner in self.tracks.values():
            learner.miss(name, truncated=truncated)

    def silence(self, name: RoundName) -> None:
        """Say that a round will never be answered."""
        for learner in self.tracks.values():
            learner.silence(name)

    def _remember(self, answer: str, complete: bool) -> None:
        """Count the answer of a complete list, in the epoch in which it comes."""
        if self._recall["epoch"] != self.leader.epoch:
            self._recall = {"epoch": self.leader.epoch, "hits": 0, "misses": 0}
        self._recall[answer] += complete

    def withdraw(self, name: RoundName) -> None:
        """Take a round out of the sample, because no candidate was right."""
        for learner in self.tracks.values():
            learner.withdraw(name)

    def warm_start(self, true_scores: Array, candidate_scores: ArrayLike | None) -> None:
        """Take labelled examples as rounds in which everything was shown and answered."""
        made = [self._true_comparable(i, true_scores, candidate_scores) for i in range(len(self.scores))]
        for index, learner in self.tracks.items():
            learner.warm_start(made[index].tolist())

    def _true_comparable(self, index: int, true_scores: Array, candidate_scores: ArrayLike | None) -> Array:
        """Return what a score makes of the right answers of labelled examples."""
        if isinstance(self.scores[index], Raw):
            return true_scores
        if candidate_scores is None:
            raise InvalidParameter(f"candidate_scores are missing; {name_of(self.scores[index])} needs whole lists")
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

    def learners(self) -> Iterable[Learner]:
        """Return the learners of the scores in use."""
        return self.tracks.values()

    def figures(self) -> dict[str, Any]:
        """Return the figures of the score in use, and what was hidden."""
        candidates = self._tally["candidates"]
        complete = self._recall["hits"] + self._recall["misses"]
        return {
            **self.leader.figures(),
            "hidden_share": self._tally["hidden"] / candidates if candidates else None,
            "truncated_share": self._tally["truncated"] / self.rounds if self.rounds else None,
            "candidate_recall": self._recall["hits"] / complete if complete else None,
            "would_have_missed": self._tally["would_have_missed"] if self.shadow else None,
        }

    def summary(self) -> dict[str, Any]:
        """Return the figures, what is waited for, and which score is in use and why."""
        return {
            **self.figures(),
            "waiting_for": self._poor_search() or self.leader.waiting_for() + self._recall_so_far(),
            "rounds_needed": self.leader.rounds_needed(),
            "shadow": self.shadow,
            **self._score_summary(),
        }

    def _poor_search(self) -> str | None:
        """Say that the threshold cannot move because the candidates lack the right answer too often, if that is so."""
        hits, misses = self._recall["hits"], self._recall["misses"]
        if not (self.leader.too_many_low() and self.leader.is_too_many(misses, hits + misses)):
            return None
        return (
            f"better candidates: everything was shown in {hits + misses:,} answered rounds, and the right answer was "
            f"among the candidates in {hits:,} of them ({hits / (hits + misses):.1%}), less than the coverage of "
            f"{self.leader.coverage:.1%}; while that is so the threshold cannot move: pass more "
            "candidates (raise fetch_k, top_k or similarity_top_k), improve the search, or ask for less coverage"
        )

    def _recall_so_far(self) -> str:
        """Say that the candidates seem to lack the right answer too often, before that is certain."""
        hits, misses = self._recall["hits"], self._recall["misses"]
        if hits + misses < 20 or not self.leader.is_too_many(misses, hits + misses, errors=2, more=0):
            return ""
        return (
            f"; so far the right answer was among the candidates in {hits / (hits + misses):.1%} of the rounds in "
            f"which everything was shown, and coverage is {self.leader.coverage:.1%}"
        )

    def _score_summary(self) -> dict[str, Any]:
        """Say which score is in use, and why."""
        chooser = self.chooser
        if not self.auto:
            why = "as set"
        elif chooser.decided:
            why = f"its lists were the shortest over {chooser.rounds} rounds; decided before round {self._decided_at}"
        elif chooser.rounds:
            why = f"undecided after comparing {chooser.rounds} rounds, so the union of their lists is shown"
        else:
            why = "undecided: the comparison begins when all of them have a threshold"
        thresholds = {name_of(self.scores[i]): self.tracks[i].threshold for i in chooser.remaining}
        return {"score": self.score, "score_why": why, "score_thresholds": thresholds}

    def to_dict(self) -> dict[str, Any]:
        """Return settings and state as plain data."""
        return {
            "scores": [score_to_dict(score) for score in self.scores],
            "auto": self.auto,
            "learners": [[index, learner.to_dict()] for index, learner in self.tracks.items()],
            "chooser": self.chooser.to_dict(),
            "decided_at": self._decided_at,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "shadow": self.shadow,
            "rounds": self.rounds,
            "tally": self._tally,
            "recall": self._recall,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], score: Any = None) -> Self:
        """Return the cutter that `to_dict` described; a score that is not ours must be handed in."""
        learners = {index: Learner.from_dict(plain) for index, plain in data["learners"]}
        scores = tuple(score_from_dict(plain, score) for plain in data["scores"])
        cutter = cls(
            next(iter(learners.values())).policy,
            score="auto" if data["auto"] else scores[0],
            **{name: data[name] for name in ("at_least", "at_most", "shadow")},
        )
        cutter.scores, cutter.tracks = scores, learners
        cutter.chooser, cutter._decided_at = Chooser.from_dict(data["chooser"]), data["decided_at"]
        cutter.rounds, cutter._tally, cutter._recall = data["rounds"], data["tally"], data["recall"]
        return cutter
