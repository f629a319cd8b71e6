"""Ways of making lists, compared on the same rounds: thresholds on several scores, and what is common today.

With prompt answers, the thresholds of a stream are a replay of the comparable scores of its right answers, so whole
runs are arrays here. They equal what `shortlist.Shortlister` shows round by round.
"""

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._validation import UNNAMED
from shortlist.lab.budgets import MISS_BUDGET, Bases, spend, thresholds_of
from shortlist.policies import SPS, AnytimeSPS, Policy
from shortlist.rounds.learning import PATIENCE, Learning
from shortlist.rounds.settings import Settings
from shortlist.scores import Learned, Raw, Relative, Score, name_of
from shortlist.scores.learned import Example, fit

__all__ = [
    "VARIANTS",
    "Lists",
    "ReciprocalRankFusion",
    "Way",
    "compare",
    "follow",
    "follow_budget",
    "label_of_variant",
    "learned",
    "lengths_at",
    "score_lists",
    "smallest_k",
]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Sizes = NDArray[np.int64]

#: Every way of making lists, in the order of tables. Those with "all" or "rrf" need several scorers. "auto-budget" is
#: what a lister does as shipped: with all scorers that there are.
VARIANTS: Final = (
    "sps",
    "raw",
    "relative",
    "rrf",
    "auto",
    "auto-all",
    "auto-budget",
    "top-k",
    "top-k-rrf",
    "autocut",
)

#: With one scorer, and with several: the name of the first goes into the braces.
_LABELS: Final = {
    "sps": ("raw score, SPS (the paper)", "raw {}, SPS (the paper)"),
    "raw": ("raw score", "raw {}"),
    "relative": ("relative score", "relative {}"),
    "rrf": ("", "RRF of all scorers"),
    "auto": ("auto", "auto, {} alone"),
    "auto-all": ("", "auto, all scorers"),
    "auto-budget": (f"auto, error budget {MISS_BUDGET}", f"auto, all, error budget {MISS_BUDGET}"),
    "top-k": ("fixed top-k", "fixed top-k by {}"),
    "top-k-rrf": ("", "fixed top-k by RRF"),
    "autocut": ("autocut", "autocut by {}"),
}
#: How many numbers are looked at in one go.
_BLOCK: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of candidates with their right answers.

    Parameters
    ----------
    values
        float[n, m, d]: the score of each candidate in each list by each scorer, NaN where it has none. A candidate
        without any score is not in the list.
    right
        int[n]: the position of the right candidate; -1 where it is not among them.
    scorers
        The names of the scorers.
    """

    values: Array
    right: NDArray[np.intp]
    scorers: tuple[str, ...] = UNNAMED

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Which candidates are in each list."""
        return np.asarray((~np.isnan(self.values)).any(axis=2))

    @cached_property
    def counts(self) -> Sizes:
        """How many candidates each list has."""
        counts: Sizes = self.there.sum(axis=1, dtype=np.int64)
        return counts

    @cached_property
    def first(self) -> "Lists":
        """The lists of the first scorer alone, without candidates that it has no score for."""
        if len(self.scorers) == 1:
            return self
        values = np.ascontiguousarray(self.values[:, :, :1])
        scored = ~np.isnan(values[np.arange(len(values)), self.right, 0])
        return Lists(values, np.where((self.right >= 0) & scored, self.right, -1), UNNAMED)

    def example(self, row: int) -> Example:
        """Return one list as the fit of a score takes it: only the candidates that are in it."""
        there = self.there[row]
        table = self.values[row][there]
        return Example(table[:, 0] if len(self.scorers) == 1 else table, int(there[: self.right[row]].sum()))


@dataclass(frozen=True)
class ReciprocalRankFusion:
    """What hybrid search does today: the sum of ``1 / (60 + rank)`` over all scorers; ties share a rank.

    >>> ReciprocalRankFusion()(np.array([[0.9, 3.0], [0.5, 7.0], [0.1, np.nan]])).round(4).tolist()
    [0.0325, 0.0325, 0.0159]
    """

    constant: int = 60

    def __call__(self, values: Array) -> Array:
        """Return the fused scores of a table of candidates x scorers, or of several."""
        total = np.zeros(values.shape[:-1])
        for column in np.moveaxis(values, -1, 0):
            filled = np.where(np.isnan(column), -np.inf, column)
            better = _better(filled.reshape(-1, filled.shape[-1])).reshape(filled.shape)
            total += np.where(np.isnan(column), 0.0, 1.0 / (self.constant + 1 + better))
        return total


def _better(table: Array) -> Sizes:
    """Return how many candidates of the same row have a larger score."""
    ordered = np.sort(table, axis=1)
    at_most = np.stack([np.searchsorted(a, b, side="right") for a, b in zip(ordered, table, strict=True)])
    better: Sizes = table.shape[1] - at_most.astype(np.int64)
    return better


@dataclass(frozen=True, eq=False)
class Scored:
    """Lists with one comparable score: of the right answers (minus infinity where absent), and of all candidates."""

    lists: Lists
    true: Array
    scores: Array

    @cached_property
    def places(self) -> tuple[Sizes, Sizes]:
        """How many candidates score above the right one, and how many tie with it, itself included; 0 if absent."""
        missing = self.true == -np.inf
        better, equal = (self.scores > self.true[:, None]).sum(axis=1), (self.scores == self.true[:, None]).sum(axis=1)
        return np.where(missing, 0, better), np.where(missing, 0, equal)

    @cached_property
    def before(self) -> Sizes:
        """How many candidates come before the right one, best first; all of them if it is absent.

        Sorted by score, then by raw score if there is one scorer, then in the order given.
        """
        lists, right = self.lists, self.lists.right[:, None]
        earlier = np.arange(self.scores.shape[1]) < right
        if len(lists.scorers) == 1:
            raw = np.where(lists.there, lists.values[:, :, 0], -np.inf)
            own = np.take_along_axis(raw, np.maximum(right, 0), axis=1)
            earlier = (raw > own) | ((raw == own) & earlier)
        true = self.true[:, None]
        before: Sizes = ((self.scores > true) | ((self.scores == true) & earlier)).sum(axis=1, dtype=np.int64)
        return np.where(lists.right < 0, lists.counts, before)

    def bases(self, rows: Rows, thresholds: Array) -> Bases:
        """Return the base lists of some rounds at their thresholds."""
        return Bases(lengths_at(self, rows, thresholds), self.before[rows], self.lists.counts[rows])


def score_lists(lists: Lists, score: Score) -> Scored:
    """Return all lists with a comparable score; lists of the same length are computed together."""
    values: Array = lists.values[:, :, 0] if len(lists.scorers) == 1 else lists.values
    scores = np.full(lists.there.shape, -np.inf)
    for rows in _alike(lists):
        there = lists.there[rows]
        part = values[rows][there].reshape(len(rows), -1, *values.shape[2:])
        block = scores[rows]
        block[there] = np.asarray(score(part)).ravel()
        scores[rows] = block
    true = np.where(lists.right < 0, -np.inf, scores[np.arange(len(scores)), lists.right])
    return Scored(lists, true, scores)


def _alike(lists: Lists) -> Iterator[Rows]:
    """Yield rows whose lists have the same length, not too many at once."""
    counts, width = lists.counts, max(1, lists.values[0].size)
    for count in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == count)
        yield from np.array_split(rows, max(1, math.ceil(len(rows) * width / _BLOCK)))


#: Fixed scores are the same in every run.
scored_once = functools.lru_cache(maxsize=4)(score_lists)


@dataclass(frozen=True, eq=False)
class Way:
    """What one way of making lists did in each round of a run.

    Parameters
    ----------
    score
        The score that lists were cut by, in a few words.
    sizes
        The length of each list.
    covered
        Whether the right answer was in it, or with which probability (if ties are in random order).
    past
        The number of rounds in which the threshold was past the optimum of the score; None without a threshold.
    """

    score: str
    sizes: Sizes
    covered: Array
    past: int | None = None

    @property
    def coverage(self) -> float:
        """The share of lists with the right answer in them."""
        return float(self.covered.mean())

    def last(self, rounds: int) -> "Way":
        """Return the last rounds only."""
        return Way(self.score, self.sizes[-rounds:], self.covered[-rounds:], self.past)


def follow(scored: Scored, rows: Rows, policy: Policy, coverage: float, begin: int = 0, score: str = "") -> Way:
    """Return what a policy does on some rounds of scored lists, with everything shown before round `begin`."""
    true = scored.true[rows]
    thresholds = thresholds_of(policy, true, begin)
    return Way(
        score,
        lengths_at(scored, rows, thresholds),
        ((true >= thresholds) & (true > -np.inf)).astype(np.float64),
        int(metrics.undercoverage_count(thresholds, scored.true, coverage)[-1]),
    )


def follow_budget(scored: Scored, rows: Rows, policy: Policy, coverage: float, begin: int, way: Way) -> Way:
    """Return the same with an error budget: the same thresholds, and longer lists as it is spent."""
    bases = scored.bases(rows, thresholds_of(policy, scored.true[rows], begin))
    spent = spend(bases, MISS_BUDGET, coverage)
    return Way(way.score, spent.lengths, spent.covered.astype(np.float64), way.past)


def lengths_at(scored: Scored, rows: Rows, thresholds: Array) -> Sizes:
    """Return how many candidates reach the threshold, round by round."""
    cuts = np.maximum(thresholds, -np.finfo(np.float64).max)  # what is not there is -inf, and reaches none
    parts = max(1, math.ceil(rows.size * scored.scores.shape[1] / _BLOCK))
    pairs = zip(np.array_split(rows, parts), np.array_split(cuts, parts), strict=True)
    return np.concatenate([(scored.scores[some] >= cut[:, None]).sum(axis=1, dtype=np.int64) for some, cut in pairs])


def learned(lists: Lists, rows: Rows, policy: Policy, fit_rounds: int | None = None) -> tuple[Learned, int]:
    """Return the score that ``"auto"`` learns from some rounds, and how many rounds that takes."""
    learning = Learning(Settings(policy=policy, score="auto", fit_rounds=fit_rounds))
    needed = learning.fit_rounds_of(lists.scorers)
    hits = np.flatnonzero(lists.right[rows] >= 0)
    begin = min(int(hits[needed - 1]) + 1 if hits.size >= needed else rows.size, PATIENCE * needed)
    return fit([lists.example(int(row)) for row in rows[hits[hits < begin]]], lists.scorers, learning.coverage), begin


def _auto(lists: Lists, rows: Rows, policy: Policy, coverage: float) -> tuple[Way, Way]:
    """Return what the learned score does, without and with an error budget."""
    score, begin = learned(lists, rows, policy)
    scored = score_lists(lists, score)
    way = follow(scored, rows, policy, coverage, begin, _in_words(score))
    return way, follow_budget(scored, rows, policy, coverage, begin, way)


def _in_words(score: Learned) -> str:
    """Return the form of a learned score, and the share of each scorer."""
    shares = ", ".join(f"{name} {share:.2f}" for name, share in zip(score.scorers, score.influence, strict=True))
    return f"learned {score.form}" if len(score.scorers) == 1 else f"learned {score.form} ({shares})"


def smallest_k(scored: Scored, rows: Rows, coverage: float) -> tuple[int, Array]:
    """Return the smallest k whose recall on some rounds reaches a coverage, and the probability that each is covered.

    Ties are in random order.
    """
    candidates = scored.scores.shape[1]
    for k in range(1, candidates + 1):
        covered = covered_by(scored, rows, k)
        if covered.mean() >= coverage - 1e-12:
            break
    return k, covered


def covered_by(scored: Scored, rows: Rows, k: int) -> Array:
    """Return the probability that the right answer of each round is among the k best, ties in random order."""
    better, equal = (each[rows] for each in scored.places)
    covered: Array = np.clip((k - better) / np.maximum(equal, 1), 0.0, 1.0) * (equal > 0)
    return covered


def _top_k(scored: Scored, rows: Rows, ours: Way, what: str) -> Way:
    """Show the k best: the smallest k that covers as much as ours does in the last tenth, when ours cuts its lists."""
    last = rows[-max(1, rows.size // 10) :]
    k, _ = smallest_k(scored, last, ours.last(last.size).coverage)
    return Way(f"top {k}{what}", np.minimum(scored.lists.counts[rows], k), covered_by(scored, rows, k))


def _autocut(scored: Scored, rows: Rows) -> Way:
    """Cut each list at the largest gap between neighbors; nothing is cut where all are equal."""
    used, which = np.unique(rows, return_inverse=True)
    counts = scored.lists.counts[used]
    ordered = -np.sort(-scored.scores[used], axis=1)
    padded = np.where(np.isfinite(ordered), ordered, np.nan)
    gaps = np.nan_to_num(padded[:, :-1] - padded[:, 1:], nan=0.0)
    if gaps.shape[1] == 0:
        gaps = np.zeros((len(used), 1))
    sizes = np.where(gaps.max(axis=1) > 0, gaps.argmax(axis=1) + 1, counts)
    better, equal = (each[used] for each in scored.places)
    covered = (equal > 0) & (better < sizes)
    return Way("largest gap", sizes[which], covered[which].astype(np.float64))


def compare(
    lists: Lists, rows: Rows, coverage: float, delta: float, *, variants: Sequence[str] = VARIANTS
) -> dict[str, Way]:
    """Return what each way of making lists does on some rounds, given as rows of `lists` in their order.

    A fixed top-k is the smallest that reaches the coverage of the learned score in the last tenth of the same rounds:
    before, the learned score has complete lists.
    """
    first, several = lists.first, len(lists.scorers) > 1
    policy = AnytimeSPS(coverage, delta)
    by, of_rrf = (f" by {lists.scorers[0]}", " by RRF") if several else ("", "")
    ways: dict[str, Way] = {}

    def fixed(variant: str, of: Lists, score: Any, rule: Policy) -> None:
        if variant in variants:
            name = "RRF" if isinstance(score, ReciprocalRankFusion) else name_of(score)
            ways[variant] = follow(scored_once(of, score), rows, rule, coverage, score=name)

    fixed("sps", first, Raw(), SPS(coverage, max(2, rows.size)))
    fixed("raw", first, Raw(), policy)
    fixed("relative", first, Relative(), policy)
    ways["auto"], ways["auto-budget"] = _auto(first, rows, policy, coverage)
    ways["top-k"] = _top_k(scored_once(first, Raw()), rows, ways["auto"], by)
    ways["autocut"] = _autocut(scored_once(first, Raw()), rows)
    if several:
        fixed("rrf", lists, ReciprocalRankFusion(), policy)
        ways["auto-all"], ways["auto-budget"] = _auto(lists, rows, policy, coverage)
        ways["top-k-rrf"] = _top_k(scored_once(lists, ReciprocalRankFusion()), rows, ways["auto-all"], of_rrf)
    return {variant: ways[variant] for variant in VARIANTS if variant in ways and variant in variants}


def label_of_variant(variant: str, scorers: Sequence[str] = UNNAMED) -> str:
    """Return what a way of making lists is called in tables and figures.

    >>> label_of_variant("auto"), label_of_variant("auto", ["dense", "bm25"])
    ('auto', 'auto, dense alone')
    """
    return _LABELS[variant][len(scorers) > 1].format(scorers[0])
