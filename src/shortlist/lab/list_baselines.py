"""Ways of making lists, compared on the same rounds: thresholds on several scores, and what is common today.

A policy on a fixed score is a replay of the comparable scores of the right answers; what learns its score is run round
by round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from shortlist import metrics
from shortlist._replay import replay
from shortlist._validation import UNNAMED
from shortlist.lab.lister_replay import run_lister
from shortlist.lab.scored_lists import Array, Lists, Rows, Scored, Sizes, lengths_at, score_lists, scored_once
from shortlist.policies import SPS, AnytimeSPS, Policy, ProductLimit
from shortlist.rounds.settings import Settings
from shortlist.scores import Learned, Raw, Relative, name_of

__all__ = [
    "VARIANTS",
    "ReciprocalRankFusion",
    "Way",
    "auto",
    "compare",
    "cut",
    "default",
    "label_of_variant",
    "smallest_k",
]

#: Every way of making lists, in the order of tables. Those with "all" or "rrf" need several scorers. "default" is a
#: lister as shipped, with all scorers that there are; "sps" to "auto-all" have a guarantee about every list.
VARIANTS: Final = (
    "sps",
    "raw",
    "relative",
    "rrf",
    "auto",
    "auto-all",
    "default",
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
    "default": ("shortlist", "shortlist, all scorers"),
    "top-k": ("fixed top-k", "fixed top-k by {}"),
    "top-k-rrf": ("", "fixed top-k by RRF"),
    "autocut": ("autocut", "autocut by {}"),
}


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


def cut(scored: Scored, rows: Rows, thresholds: Array, coverage: float, score: str = "") -> Way:
    """Return the lists that reach their thresholds, on some rounds of scored lists."""
    true = scored.true[rows]
    return Way(
        score,
        lengths_at(scored, rows, thresholds),
        ((true >= thresholds) & (true > -np.inf)).astype(np.float64),
        int(metrics.undercoverage_count(thresholds, scored.true, coverage)[-1]),
    )


def auto(lists: Lists, rows: Rows, policy: Policy, coverage: float) -> Way:
    """Return what the score does that a policy with a guarantee about every list learns first, without a budget."""
    run = run_lister(lists, rows, Settings(policy=policy, miss_budget=None))
    assert run.score is not None  # noqa: S101 - it is learned
    return cut(score_lists(lists, run.score), rows, run.thresholds, coverage, _in_words(run.score))


def default(lists: Lists, rows: Rows, coverage: float) -> Way:
    """Return what a lister does as shipped."""
    run = run_lister(lists, rows, Settings(policy=ProductLimit(coverage)))
    assert run.score is not None  # noqa: S101 - it is learned
    return Way(_in_words(run.score), run.lengths, run.covered.astype(np.float64))


def _in_words(score: Learned) -> str:
    """Return the form of a learned score, and the share of each scorer."""
    if not score.rounds:
        return "not learned"
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
    """Show the k best: the smallest k that covers as much as ours does in the same rounds."""
    k, covered = smallest_k(scored, rows, ours.coverage)
    return Way(f"top {k}{what}", np.minimum(scored.lists.counts[rows], k), covered)


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

    A fixed top-k is the smallest that covers as much as the default does in the same rounds.
    """
    first, several = lists.first, len(lists.scorers) > 1
    policy = AnytimeSPS(coverage, delta)
    by, of_rrf = (f" by {lists.scorers[0]}", " by RRF") if several else ("", "")
    ways: dict[str, Way] = {}

    def fixed(variant: str, of: Lists, score: Any, rule: Policy) -> None:
        if variant in variants:
            name = "RRF" if isinstance(score, ReciprocalRankFusion) else name_of(score)
            scored = scored_once(of, score)
            ways[variant] = cut(scored, rows, replay(rule, scored.true[rows]), coverage, name)

    fixed("sps", first, Raw(), SPS(coverage, max(2, rows.size)))
    fixed("raw", first, Raw(), policy)
    fixed("relative", first, Relative(), policy)
    ways["auto"] = auto(first, rows, policy, coverage)
    ways["default"] = default(lists, rows, coverage)
    ways["top-k"] = _top_k(scored_once(first, Raw()), rows, ways["default"], by)
    ways["autocut"] = _autocut(scored_once(first, Raw()), rows)
    if several:
        fixed("rrf", lists, ReciprocalRankFusion(), policy)
        ways["auto-all"] = auto(lists, rows, policy, coverage)
        ways["top-k-rrf"] = _top_k(scored_once(lists, ReciprocalRankFusion()), rows, ways["default"], of_rrf)
    return {variant: ways[variant] for variant in VARIANTS if variant in ways and variant in variants}


def label_of_variant(variant: str, scorers: Sequence[str] = UNNAMED) -> str:
    """Return what a way of making lists is called in tables and figures.

    >>> label_of_variant("auto"), label_of_variant("auto", ["dense", "bm25"])
    ('auto', 'auto, dense alone')
    """
    return _LABELS[variant][len(scorers) > 1].format(scorers[0])
