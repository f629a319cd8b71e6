"""What the examples share: real questions with real scores, and a table of before and after.

The retrieval scores that ship with the package: each SQuAD question has 51 passages, one of which is right,
with their cosine similarities (MiniLM). A store needs vectors; these are made so that the cosines come out.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.tasks import data_file, read_scores

__all__ = ["before_and_after", "questions", "vector"]

Question = tuple[NDArray[np.float64], int]
#: From the scores of a list and a setting to how many are shown.
Length = Callable[[NDArray[np.float64], float], int]


@functools.cache
def questions(count: int = 2000, seed: int = 0) -> list[Question]:
    """Return questions: the scores of their candidates, and which one is right."""
    scores = read_scores(data_file("retrieval.npz"))
    table = np.asarray(scores.candidate_scores, dtype=np.float64)
    true = np.asarray(scores.true_scores, dtype=np.float64)
    rows = np.random.default_rng(seed).permutation(len(table))[:count]
    return [(table[row], int(np.flatnonzero(table[row] == true[row])[0])) for row in rows]


def vector(score: float) -> list[float]:
    """Return a vector whose cosine with (1, 0) is the score."""
    return [float(score), float(np.sqrt(max(0.0, 1 - score * score)))]


def _fixed(coverage: float, length: Length, settings: Sequence[float]) -> tuple[float, float]:
    """Return the best fixed setting with that coverage, chosen in hindsight, and its mean list length."""
    best, shortest = settings[0], float("inf")
    for setting in settings:
        lengths = [length(scores, setting) for scores, _ in questions()]
        ranks = [int(np.count_nonzero(scores > scores[right])) for scores, right in questions()]
        covered = np.mean([rank < shown for rank, shown in zip(ranks, lengths, strict=True)])
        if covered >= coverage and np.mean(lengths) < shortest:
            best, shortest = setting, float(np.mean(lengths))
    return best, shortest


def _above(scores: NDArray[np.float64], threshold: float) -> int:
    return int(np.count_nonzero(scores >= threshold))


def before_and_after(name: str, shown: Sequence[int], hits: Sequence[bool], coverage: float = 0.9) -> None:
    """Print documents shown at equal coverage: top-k, a fixed threshold, and ours."""
    k, top = _fixed(coverage, lambda _, k: int(k), range(1, 52))
    cut, threshold = _fixed(coverage, _above, np.linspace(0, 0.8, 81).tolist())
    print(f"{name}: documents shown at {coverage:.0%} coverage, of 51")
    print(f"  top-k, k = {k} (best k, chosen with all answers at hand)          {top:6.2f}")
    print(f"  fixed threshold {cut:.2f} (best one, chosen with all answers at hand) {threshold:6.2f}")
    print(f"  shortlist, over all 2,000 rounds (learned from picks and misses)  {np.mean(shown):6.2f}")
    print(f"  coverage of shortlist over all {len(hits):,} rounds                       {np.mean(hits):6.1%}")
