"""A threshold from labeled examples, to paste into a search that takes one, with its guarantee."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shortlist._validation import check_count, check_delta, check_probability, check_true_scores, miss_rate

__all__ = ["LabeledThreshold", "allowed_below", "examples_needed", "threshold_from_labels"]


@dataclass(frozen=True)
class LabeledThreshold:
    """A threshold from labeled examples.

    Attributes
    ----------
    threshold
        Show candidates that score at least this. None if there are too few examples for any threshold; -inf if the
        right answer is missing from so many of them that only showing everything covers enough.
    coverage, delta
        The guarantee: with probability 1 - `delta` over the draw of the examples, the right answer reaches the
        threshold in a share of at least `coverage` of questions.
    choices
        The number of thresholds that may be chosen from under that delta.
    examples
        The number of examples.
    below
        How many of them may score below the threshold.
    missing
        How many more examples are needed for a threshold; 0 if there is one.
    """

    threshold: float | None
    coverage: float
    delta: float
    choices: int
    examples: int
    below: int
    missing: int


def threshold_from_labels(
    true_scores: ArrayLike, coverage: float = 0.9, delta: float = 0.05, *, choices: int = 1
) -> LabeledThreshold:
    """Return one threshold from labeled examples, with its guarantee.

    The (k + 1)-th smallest score, where k is the largest number with ``P(Bin(n, 1 - coverage) <= k) <= delta``. It
    exceeds the optimal threshold with probability at most `delta`, for every distribution, with ties or without,
    if the examples are independent draws from future questions and the scorer was not trained on them. That is for one
    look at one coverage: if you look again as examples come in, or at several coverages, the probabilities add up. For
    a threshold that keeps learning, `Shortlister.warm_start` takes the same examples.

    Parameters
    ----------
    true_scores
        The score of the right answer of each example; -inf where it was not among the results.
    coverage
        The share of questions whose right answer must reach the threshold, fixed before looking at the examples.
    delta
        The probability that the threshold may be too high.
    choices
        The number of thresholds you will choose from after looking at them (a curve of five coverages, say): each
        gets its share of delta.

    Returns
    -------
    LabeledThreshold
        The threshold, or how many more examples it needs.

    Examples
    --------
    >>> import numpy as np
    >>> labeled = threshold_from_labels(np.random.default_rng(0).random(200))
    >>> round(labeled.threshold, 3), labeled.below
    (0.052, 12)
    >>> threshold_from_labels([0.4, 0.7, 0.9]).missing  # 29 examples are enough for a first number
    26
    """
    coverage, delta = check_probability("coverage", coverage, 0.9), check_delta(delta)
    choices = check_count("choices", choices)
    scores = check_true_scores(true_scores)
    below = allowed_below(scores.size, coverage, delta / choices)
    needed = examples_needed(coverage, delta / choices)
    threshold = None if below < 0 else float(np.partition(scores, below)[below])
    return LabeledThreshold(
        threshold, coverage, delta, choices, scores.size, max(below, 0), max(0, needed - scores.size)
    )


def allowed_below(examples: int, coverage: float, delta: float) -> int:
    """Return the largest k with ``P(Bin(n, 1 - coverage) <= k) <= delta``; -1 if there is none.

    >>> [allowed_below(n, 0.9, 0.05) for n in (28, 29, 100, 1000)]
    [-1, 0, 4, 84]
    """
    p0 = float(miss_rate(coverage))
    # The logarithm of the probability of k, by the ratio of one to the next; above the mean no k is small enough.
    k = np.arange(1, math.floor(examples * p0) + 2)
    steps = np.log((examples - k + 1) * (p0 / (1 - p0)) / k) if examples else np.empty(0)
    logarithms = examples * math.log1p(-p0) + np.concatenate([[0.0], np.cumsum(steps)])
    # The level is shaved by more than the rounding errors, so that it is never exceeded.
    within = np.logaddexp.accumulate(logarithms) <= math.log(delta) - 1e-8
    return int(np.count_nonzero(within)) - 1


def examples_needed(coverage: float, delta: float) -> int:
    """Return the number of examples that a first threshold needs.

    >>> [examples_needed(coverage, 0.05) for coverage in (0.9, 0.95, 0.99)]
    [29, 59, 299]
    """
    fewest = max(1, math.floor(math.log(delta) / math.log1p(-float(miss_rate(coverage)))))
    while allowed_below(fewest, coverage, delta) < 0:
        fewest += 1
    return fewest
