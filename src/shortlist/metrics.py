r"""What a run of thresholds is worth: arrays in, arrays out.

Everything is judged against a `Law`, the distribution that true scores come from: usually a
`Population` of scores. Lists are closed, ``{score >= threshold}``, so the miscoverage of a
threshold is $G(\tau) = P(s < \tau)$, never $P(s \le \tau)$; on tied scores the
difference can turn a regret of 43 into -166.
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import check_probability, miss_rate
from shortlist.errors import InvalidScores

__all__ = [
    "Law",
    "Population",
    "Uniform",
    "coverage",
    "miscoverage",
    "optimal_threshold",
    "regret",
    "reward",
    "set_size",
    "undercoverage_count",
]

Array = NDArray[np.float64]


class Law(Protocol):
    """A distribution of true scores."""

    def miscoverage(self, thresholds: ArrayLike) -> Array:
        """Return P(s < threshold) for each threshold."""

    def optimal_threshold(self, coverage: float) -> float:
        """Return the largest threshold with P(s >= threshold) >= coverage; -inf if there is none."""


class Population:
    """A finite population of scores, each equally likely, or with the given weights.

    Parameters
    ----------
    scores
        The scores, in any order; minus infinity for right answers that are not there.
    weights
        How likely each is; they need not add up to one.

    Examples
    --------
    >>> population = Population([1.0, 2.0, 2.0, 3.0])
    >>> population.miscoverage([1.0, 2.0, 2.5]).tolist()
    [0.0, 0.25, 0.75]
    >>> population.optimal_threshold(coverage=0.75)
    2.0
    """

    def __init__(self, scores: ArrayLike, weights: ArrayLike | None = None) -> None:
        values = np.asarray(scores, dtype=np.float64).ravel()
        if values.size == 0 or np.isnan(values).any():
            raise InvalidScores("a population needs at least one score, and no NaN among them")
        order = np.argsort(values, kind="stable")
        self._scores = values[order]
        self._below: Array | None = None  # probability of everything before each score
        if weights is not None:
            shares = np.asarray(weights, dtype=np.float64).ravel()
            if shares.size != values.size or (shares < 0).any() or not 0 < shares.sum() < math.inf:
                raise InvalidScores("weights must be one non-negative number for each score, and not all 0")
            self._below = np.concatenate([[0.0], np.cumsum(shares[order]) / shares.sum()])

    def miscoverage(self, thresholds: ArrayLike) -> Array:
        """Return P(s < threshold) for each threshold."""
        # A label that is not there (-inf) is below every threshold, -inf included.
        cuts = np.maximum(np.asarray(thresholds, dtype=np.float64), -np.finfo(np.float64).max)
        ranks = np.searchsorted(self._scores, cuts, side="left")
        return ranks / self._scores.size if self._below is None else self._below[ranks]

    def optimal_threshold(self, coverage: float) -> float:
        """Return the largest threshold with P(s >= threshold) >= coverage."""
        p0 = miss_rate(check_probability("coverage", coverage, 0.9))
        if self._below is None:
            return float(self._scores[math.floor(self._scores.size * p0)])
        # The running sums of weights are off by rounding errors; what is as good as equal counts as equal.
        allowed = np.searchsorted(self._below[:-1], float(p0) + 1e-12, side="right") - 1
        return float(self._scores[allowed])


class Uniform:
    """Scores uniform on [0, 1]: the law for tests, where every threshold is its own miscoverage.

    >>> Uniform().optimal_threshold(coverage=0.9)
    0.1
    """

    def miscoverage(self, thresholds: ArrayLike) -> Array:
        """Return P(s < threshold) for each threshold."""
        return np.clip(np.asarray(thresholds, dtype=np.float64), 0.0, 1.0)

    def optimal_threshold(self, coverage: float) -> float:
        """Return 1 - coverage."""
        return float(miss_rate(check_probability("coverage", coverage, 0.9)))


def miscoverage(thresholds: ArrayLike, population: ArrayLike | Law) -> Array:
    """Return P(s < threshold) for each threshold: the paper's G*, for closed lists.

    Parameters
    ----------
    thresholds
        One or many.
    population
        The law that true scores come from: a `Law`, or scores that are taken as equally likely.
    """
    return _law(population).miscoverage(thresholds)


def optimal_threshold(population: ArrayLike | Law, coverage: float) -> float:
    r"""Return $\tau^*$, the largest threshold with P(s >= threshold) >= coverage.

    Parameters
    ----------
    population
        The law that true scores come from: a `Law`, or scores that are taken as equally likely.
    coverage
        The share of rounds to be covered.
    """
    return _law(population).optimal_threshold(coverage)


def reward(
    thresholds: ArrayLike,
    population: ArrayLike | Law,
    coverage: float,
    *,
    lambda1: float = 0.1,
    lambda2: float = 10.0,
) -> Array:
    r"""Return the paper's $\phi$: minus the distance of the miscoverage from 1 - coverage.

    Parameters
    ----------
    thresholds
        One or many.
    population
        The law that true scores come from: a `Law`, or scores that are taken as equally likely.
    coverage
        The share of rounds that was to be covered.
    lambda1
        What a unit of covering too much costs.
    lambda2
        What a unit of covering too little costs.
    """
    distance = miscoverage(thresholds, population) - float(miss_rate(coverage))
    return -np.where(distance <= 0.0, lambda1 * -distance, lambda2 * distance)


def regret(
    thresholds: ArrayLike,
    population: ArrayLike | Law,
    coverage: float,
    *,
    lambda1: float = 0.1,
    lambda2: float = 10.0,
) -> Array:
    r"""Return the cumulative regret $\sum_t [\phi(\tau^*) - \phi(\tau_t)]$ after each round.

    $\phi(\tau^*)$ is subtracted, not assumed to be zero: with ties the optimal threshold covers
    more than asked for.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    population
        The law that true scores come from: a `Law`, or scores that are taken as equally likely.
    coverage
        The share of rounds that was to be covered.
    lambda1
        What a unit of covering too much costs.
    lambda2
        What a unit of covering too little costs.

    Examples
    --------
    >>> float(regret([-np.inf, 0.05, 0.1, 0.2], Uniform(), coverage=0.9)[-1].round(6))
    1.015
    """
    if np.ndim(thresholds) != 1:
        raise InvalidScores(f"thresholds have {np.ndim(thresholds)} dimensions; regret adds up one run: give one")
    law = _law(population)
    best = reward(law.optimal_threshold(coverage), law, coverage, lambda1=lambda1, lambda2=lambda2)
    return np.cumsum(best - reward(thresholds, law, coverage, lambda1=lambda1, lambda2=lambda2))


def coverage(thresholds: ArrayLike, true_scores: ArrayLike) -> Array:
    """Return the share of rounds so far in which the true label was in the list, after each round.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    true_scores
        The score of the right answer at each round; minus infinity if it was not there.

    Examples
    --------
    >>> coverage([0.0, 0.5, 0.5, 0.5], [0.3, 0.4, 0.5, 0.6]).tolist()
    [1.0, 0.5, 0.6666666666666666, 0.75]
    """
    scores, cuts = np.asarray(true_scores, np.float64), np.asarray(thresholds, np.float64)
    if scores.ndim != 1 or scores.shape != cuts.shape:
        raise InvalidScores(
            f"thresholds have the shape {cuts.shape} and true_scores {scores.shape}; they must be one for each round"
        )
    covered = (scores >= cuts) & (scores > -np.inf)  # a label that is not there is in no list
    return np.cumsum(covered) / np.arange(1, covered.size + 1)


def undercoverage_count(thresholds: ArrayLike, population: ArrayLike | Law, coverage: float) -> NDArray[np.int64]:
    """Return how often so far the threshold was past the optimal one, after each round.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    population
        The law that true scores come from: a `Law`, or scores that are taken as equally likely.
    coverage
        The share of rounds that was to be covered.
    """
    past = np.asarray(thresholds, np.float64) > _law(population).optimal_threshold(coverage)
    return np.cumsum(past, dtype=np.int64)


def set_size(thresholds: ArrayLike, candidate_scores: ArrayLike) -> NDArray[np.int64]:
    """Return the length of each round's list.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    candidate_scores
        The scores of all candidates, a row for each round.

    Examples
    --------
    >>> set_size([0.5, -np.inf], [[0.2, 0.5, 0.9], [0.2, 0.5, 0.9]]).tolist()
    [2, 3]
    """
    candidates, cuts = np.asarray(candidate_scores), np.asarray(thresholds, np.float64)
    if candidates.ndim != 2 or cuts.shape != candidates.shape[:1]:
        raise InvalidScores(
            f"thresholds have the shape {cuts.shape} and candidate_scores {candidates.shape}; there must be one "
            "threshold and one row of candidates for each round"
        )
    shown = candidates >= cuts[:, None]
    sizes: NDArray[np.int64] = shown.sum(axis=1, dtype=np.int64)
    return sizes


def _law(population: ArrayLike | Law) -> Law:
    if hasattr(population, "miscoverage") and hasattr(population, "optimal_threshold"):
        return population  # type: ignore[return-value]
    return Population(population)
