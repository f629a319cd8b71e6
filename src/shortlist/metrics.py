r"""How good a sequence of thresholds is: arrays in, arrays out.

Everything is measured against a `Law`, the distribution of true scores: usually a
`Population` of scores. Lists are closed, ``{score >= threshold}``, so the miscoverage of a
threshold is $G(\tau) = P(s < \tau)$, never $P(s \le \tau)$; on tied scores the
difference can turn a regret of 43 into -166.
"""

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import check_probability, miss_rate
from shortlist.errors import InvalidParameter, InvalidScores

__all__ = [
    "Law",
    "Population",
    "Uniform",
    "coverage",
    "miscoverage",
    "optimal_threshold",
    "regret",
    "revenue",
    "reward",
    "set_size",
    "undercoverage_count",
]

Array = NDArray[np.float64]


class Law(Protocol):
    """A distribution of true scores."""

    def miscoverage(self, thresholds: ArrayLike) -> Array:
        """Return P(s < threshold) for each threshold.

        Parameters
        ----------
        thresholds
            A threshold, or an array of them.

        Returns
        -------
        Array
            The probabilities, in the shape of `thresholds`.
        """

    def optimal_threshold(self, coverage: float) -> float:
        """Return the largest threshold with P(s >= threshold) >= coverage; -inf if there is none.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.

        Returns
        -------
        float
            The threshold.
        """


class Population:
    """A finite population of scores, each equally likely, or with the given weights.

    Parameters
    ----------
    scores
        The scores, in any order; -inf where the right answer is not among the candidates.
    weights
        The relative probability of each; they need not sum to one.

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
        """Return P(s < threshold) for each threshold.

        Parameters
        ----------
        thresholds
            A threshold, or an array of them.

        Returns
        -------
        Array
            The probabilities, in the shape of `thresholds`.
        """
        # An absent label (-inf) is below every threshold, -inf included.
        cuts = np.maximum(np.asarray(thresholds, dtype=np.float64), -np.finfo(np.float64).max)
        ranks = np.searchsorted(self._scores, cuts, side="left")
        return ranks / self._scores.size if self._below is None else self._below[ranks]

    def optimal_threshold(self, coverage: float) -> float:
        """Return the largest threshold with P(s >= threshold) >= coverage.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.

        Returns
        -------
        float
            One of the scores, or -inf.
        """
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
        """Return P(s < threshold) for each threshold.

        Parameters
        ----------
        thresholds
            A threshold, or an array of them.

        Returns
        -------
        Array
            The thresholds, clipped to [0, 1].
        """
        return np.clip(np.asarray(thresholds, dtype=np.float64), 0.0, 1.0)

    def optimal_threshold(self, coverage: float) -> float:
        """Return 1 - coverage.

        Parameters
        ----------
        coverage
            The target share of rounds to cover.

        Returns
        -------
        float
            1 - coverage, exact in decimals.
        """
        return float(miss_rate(check_probability("coverage", coverage, 0.9)))


#: (thresholds, law) -> a reward for each threshold
Reward = Callable[[Array, Law], Array]


def miscoverage(thresholds: ArrayLike, population: ArrayLike | Law) -> Array:
    """Return P(s < threshold) for each threshold: the paper's G*, for closed lists.

    Parameters
    ----------
    thresholds
        A threshold, or an array of them.
    population
        The distribution of true scores: a `Law`, or an array of equally likely scores.

    Returns
    -------
    Array
        The probabilities, in the shape of `thresholds`.
    """
    return _law(population).miscoverage(thresholds)


def optimal_threshold(population: ArrayLike | Law, coverage: float) -> float:
    r"""Return $\tau^*$, the largest threshold with P(s >= threshold) >= coverage.

    Parameters
    ----------
    population
        The distribution of true scores: a `Law`, or an array of equally likely scores.
    coverage
        The target share of rounds to cover.

    Returns
    -------
    float
        The threshold; -inf if none covers that share.
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
    r"""Return the paper's $\phi$: minus the weighted distance between the miscoverage and 1 - coverage.

    Parameters
    ----------
    thresholds
        A threshold, or an array of them.
    population
        The distribution of true scores: a `Law`, or an array of equally likely scores.
    coverage
        The target share of rounds to cover.
    lambda1
        Cost per unit of over-coverage.
    lambda2
        Cost per unit of under-coverage.

    Returns
    -------
    Array
        The rewards, none above 0, in the shape of `thresholds`.
    """
    return _paper_reward(thresholds, _law(population), coverage, lambda1, lambda2)


def revenue(thresholds: ArrayLike, population: ArrayLike | Law) -> Array:
    r"""Return the expected revenue of a price, if there is a sale whenever the highest bid is at least the price.

    Price times probability of sale, $\tau \cdot P(s \ge \tau)$; 0 without a price (minus infinity, or below zero).
    A reward for `regret`. The paper's bound covers it only where scores are bounded and have a density that is bounded
    away from zero: there it is a Lipschitz function of the miscoverage.

    Parameters
    ----------
    thresholds
        The prices: one or many.
    population
        The distribution of the true scores, here the highest bids: a `Law`, or scores that are taken as equally likely.

    Returns
    -------
    Array
        The expected revenue of each price.

    Examples
    --------
    >>> revenue([-np.inf, 10.0, 15.0, 20.0], [10.0, 10.0, 20.0, 20.0]).tolist()
    [0.0, 10.0, 7.5, 10.0]
    """
    prices = np.maximum(np.asarray(thresholds, dtype=np.float64), 0.0)
    bought: Array = 1.0 - miscoverage(prices, population)
    return np.where(bought > 0.0, prices, 0.0) * bought


def regret(
    thresholds: ArrayLike,
    population: ArrayLike | Law,
    coverage: float,
    *,
    reward: Reward | None = None,
    lambda1: float = 0.1,
    lambda2: float = 10.0,
) -> Array:
    r"""Return the cumulative regret $\sum_t [\phi(\tau^*) - \phi(\tau_t)]$ after each round.

    $\phi(\tau^*)$ is subtracted, not assumed to be zero: with ties the optimal threshold covers
    more than asked for. The paper's bound on regret is for every reward $\phi = \psi \circ G^*$ with a Lipschitz
    $\psi$, not only for its own. Regret may fall for a reward that is larger past the optimal threshold.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    population
        The distribution of true scores: a `Law`, or an array of equally likely scores.
    coverage
        The target share of rounds to cover.
    reward
        A reward other than the paper's: a function of thresholds and a `Law` that returns a reward for each
        threshold, such as `revenue`.
    lambda1
        Cost per unit of over-coverage, in the paper's reward.
    lambda2
        Cost per unit of under-coverage, in the paper's reward.

    Returns
    -------
    Array
        The regret summed up to and including each round.

    Raises
    ------
    InvalidScores
        If `thresholds` is not one-dimensional, or `reward` does not return one number each.
    InvalidParameter
        If both a `reward` and the weights of the paper's are given.

    Examples
    --------
    >>> float(regret([-np.inf, 0.05, 0.1, 0.2], Uniform(), coverage=0.9)[-1].round(6))
    1.015
    >>> def squared(thresholds, law):
    ...     return -((law.miscoverage(thresholds) - 0.1) ** 2)
    >>> float(regret([-np.inf, 0.05, 0.1, 0.2], Uniform(), coverage=0.9, reward=squared)[-1].round(6))
    0.0225
    """
    if np.ndim(thresholds) != 1:
        raise InvalidScores(
            f"thresholds have {np.ndim(thresholds)} dimensions; regret is of one run: give one dimension"
        )
    law, cuts = _law(population), np.asarray(thresholds, dtype=np.float64)
    best = np.array([law.optimal_threshold(coverage)])
    if reward is None:
        highest, values = (_paper_reward(at, law, coverage, lambda1, lambda2) for at in (best, cuts))
    elif (lambda1, lambda2) != (0.1, 10.0):
        raise InvalidParameter("lambda1 and lambda2 belong to the paper's reward; give either them or another reward")
    else:
        highest, values = (np.asarray(reward(at, law), dtype=np.float64) for at in (best, cuts))
        if highest.shape != (1,) or values.shape != cuts.shape:
            raise InvalidScores(
                f"reward returns an array of shape {values.shape} for {cuts.size} thresholds; it must return one "
                "number each"
            )
    return np.cumsum(highest - values)


def coverage(thresholds: ArrayLike, true_scores: ArrayLike) -> Array:
    """Return the share of rounds so far in which the true label was in the list, after each round.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    true_scores
        The score of the right answer at each round; -inf if it was not among the candidates.

    Returns
    -------
    Array
        The running share, one per round.

    Raises
    ------
    InvalidScores
        If the two arrays are not one-dimensional and of the same length.

    Examples
    --------
    >>> coverage([0.0, 0.5, 0.5, 0.5], [0.3, 0.4, 0.5, 0.6]).tolist()
    [1.0, 0.5, 0.6666666666666666, 0.75]
    """
    scores, cuts = np.asarray(true_scores, np.float64), np.asarray(thresholds, np.float64)
    if scores.ndim != 1 or scores.shape != cuts.shape:
        raise InvalidScores(
            f"thresholds have the shape {cuts.shape} and true_scores {scores.shape}; give one of each per round"
        )
    covered = (scores >= cuts) & (scores > -np.inf)  # an absent label is in no list
    return np.cumsum(covered) / np.arange(1, covered.size + 1)


def undercoverage_count(thresholds: ArrayLike, population: ArrayLike | Law, coverage: float) -> NDArray[np.int64]:
    """Return the number of rounds so far in which the threshold exceeded the optimal one, after each round.

    Parameters
    ----------
    thresholds
        The threshold in force at each round, as `shortlist.replay` returns it.
    population
        The distribution of true scores: a `Law`, or an array of equally likely scores.
    coverage
        The target share of rounds to cover.

    Returns
    -------
    NDArray[np.int64]
        The running count, one per round.
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
        The scores of all candidates, one row per round.

    Returns
    -------
    NDArray[np.int64]
        The number of candidates at or above the threshold, one per round.

    Raises
    ------
    InvalidScores
        If there is not one threshold per row of candidates.

    Examples
    --------
    >>> set_size([0.5, -np.inf], [[0.2, 0.5, 0.9], [0.2, 0.5, 0.9]]).tolist()
    [2, 3]
    """
    candidates, cuts = np.asarray(candidate_scores), np.asarray(thresholds, np.float64)
    if candidates.ndim != 2 or cuts.shape != candidates.shape[:1]:
        raise InvalidScores(
            f"thresholds have the shape {cuts.shape} and candidate_scores {candidates.shape}; there must be one "
            "threshold and one row of candidates per round"
        )
    shown = candidates >= cuts[:, None]
    sizes: NDArray[np.int64] = shown.sum(axis=1, dtype=np.int64)
    return sizes


def _paper_reward(thresholds: ArrayLike, law: Law, coverage: float, lambda1: float, lambda2: float) -> Array:
    distance = law.miscoverage(thresholds) - float(miss_rate(coverage))
    return -np.where(distance <= 0.0, lambda1 * -distance, lambda2 * distance)


def _law(population: ArrayLike | Law) -> Law:
    if hasattr(population, "miscoverage") and hasattr(population, "optimal_threshold"):
        return population  # type: ignore[return-value]
    return Population(population)
