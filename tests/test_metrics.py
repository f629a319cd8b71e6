"""Metrics against their definitions, written out."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import metrics
from shortlist.errors import InvalidParameter, InvalidScores
from tests.strategies import COVERAGES

POPULATION = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=40)
THRESHOLDS = st.lists(
    st.one_of(st.integers(-1, 7).map(float), st.floats(0, 6), st.sampled_from([-math.inf, math.inf])),
    min_size=1,
    max_size=30,
)


def phi(tau, population, coverage, lambda1=0.1, lambda2=10.0):
    """The paper's reward, with the miscoverage P(s < tau) of a closed list."""
    p0 = 1 - Fraction(str(coverage))
    g = Fraction(sum(s < tau for s in population), len(population))
    return float(-lambda1 * float(p0 - g) if g <= p0 else -lambda2 * float(g - p0))


@given(POPULATION, COVERAGES)
def test_the_optimal_threshold_is_the_largest_that_covers(population, coverage):
    best = metrics.optimal_threshold(population, coverage)
    target = Fraction(str(coverage)) * len(population)
    assert sum(s >= best for s in population) >= target
    above = math.nextafter(best, math.inf)
    assert sum(s >= above for s in population) < target


@given(POPULATION, THRESHOLDS, COVERAGES)
def test_regret_is_the_sum_of_reward_lost(population, thresholds, coverage):
    best = metrics.optimal_threshold(population, coverage)
    expected = sum(phi(best, population, coverage) - phi(tau, population, coverage) for tau in thresholds)
    result = metrics.regret(thresholds, population, coverage)
    assert result.shape == (len(thresholds),)
    assert result[-1] == pytest.approx(expected, abs=1e-9)
    doubled = metrics.regret(thresholds, population, coverage, lambda1=0.2, lambda2=20.0)
    assert doubled == pytest.approx(2 * result)


@given(POPULATION, THRESHOLDS, COVERAGES)
def test_revenue_is_the_price_times_the_share_that_buys(population, thresholds, coverage):
    """Brute force: every buyer of the population is asked, at every price and at the optimal one."""

    def brought(price):
        return sum(max(price, 0.0) for bid in population if bid >= price) / len(population)

    assert metrics.revenue(thresholds, population) == pytest.approx([brought(price) for price in thresholds])
    best = metrics.optimal_threshold(population, coverage)
    expected = np.cumsum([brought(best) - brought(price) for price in thresholds])
    result = metrics.regret(thresholds, population, coverage, reward=metrics.revenue)
    assert result == pytest.approx(expected, abs=1e-9)


@given(POPULATION, THRESHOLDS, COVERAGES)
def test_regret_takes_any_reward_of_the_miscoverage(population, thresholds, coverage):
    def psi(share):
        return -(abs(float(share) - 0.25) ** 1.5)

    def below(cut):
        return Fraction(sum(score < cut for score in population), len(population))

    best = metrics.optimal_threshold(population, coverage)
    expected = np.cumsum([psi(below(best)) - psi(below(cut)) for cut in thresholds])
    result = metrics.regret(
        thresholds, population, coverage, reward=lambda cuts, law: np.array([psi(g) for g in law.miscoverage(cuts)])
    )
    assert result == pytest.approx(expected, abs=1e-9)


def test_the_papers_reward_can_be_given_too():
    thresholds, law = np.linspace(-0.1, 0.4, 30), metrics.Uniform()
    paper = functools.partial(metrics.reward, coverage=0.9, lambda1=1.0, lambda2=2.0)
    given_ = metrics.regret(thresholds, law, 0.9, reward=paper)
    assert given_.tolist() == metrics.regret(thresholds, law, 0.9, lambda1=1.0, lambda2=2.0).tolist()


def test_a_reward_that_cannot_be_is_refused():
    with pytest.raises(InvalidParameter, match="lambda1 and lambda2 belong to the paper's reward"):
        metrics.regret([0.1], metrics.Uniform(), 0.9, reward=metrics.revenue, lambda1=1.0)
    with pytest.raises(InvalidScores, match=r"shape \(\) for 2 thresholds; it must return one number each"):
        metrics.regret([0.1, 0.2], metrics.Uniform(), 0.9, reward=lambda cuts, _law: np.sum(cuts))


@given(POPULATION, COVERAGES)
def test_never_cutting_has_the_regret_of_its_slack(population, coverage):
    """Showing everything costs lambda1 p0 a round, less what the optimal threshold leaves unused."""
    best = metrics.optimal_threshold(population, coverage)
    unused = float(metrics.miscoverage(best, population))
    expected = 0.1 * unused * np.arange(1, 6)
    assert metrics.regret([-math.inf] * 5, population, coverage) == pytest.approx(expected)


def test_ties_are_counted_below_and_not_at_the_threshold():
    """A fifth of all scores are 1.0, the optimal threshold: `<=` instead of `<` would call it unsafe."""
    population = [0.0] * 5 + [1.0] * 20 + [2.0] * 75
    assert metrics.optimal_threshold(population, 0.9) == 1.0
    assert float(metrics.miscoverage(1.0, population)) == 0.05
    assert metrics.regret([1.0], population, 0.9)[-1] == 0.0
    assert metrics.undercoverage_count([1.0, 1.5], population, 0.9).tolist() == [0, 1]


@given(POPULATION, st.data(), COVERAGES)
def test_weights_are_repetitions(population, data, coverage):
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(population), max_size=len(population)))
    repeated = np.repeat(population, counts)
    weighted = metrics.Population(population, weights=counts)
    grid = np.linspace(-1, 8, 37)
    assert weighted.miscoverage(grid) == pytest.approx(metrics.miscoverage(grid, repeated))
    assert weighted.optimal_threshold(coverage) == metrics.optimal_threshold(repeated, coverage)


@given(THRESHOLDS, st.data())
def test_coverage_is_a_running_mean(thresholds, data):
    scores = data.draw(
        st.lists(
            st.one_of(st.integers(0, 6).map(float), st.just(-math.inf)),
            min_size=len(thresholds),
            max_size=len(thresholds),
        )
    )
    covered = [s >= tau and s > -math.inf for s, tau in zip(scores, thresholds, strict=True)]
    expected = [sum(covered[: i + 1]) / (i + 1) for i in range(len(covered))]
    assert metrics.coverage(thresholds, scores).tolist() == expected


def test_set_sizes_of_any_float_type():
    candidates = np.array([[0.25, 0.5, 1.0], [0.25, 0.5, 1.0]], dtype=np.float16)
    assert metrics.set_size([0.5, 2.0], candidates).tolist() == [2, 0]


def test_the_uniform_law():
    law = metrics.Uniform()
    assert law.miscoverage([-1.0, 0.3, 2.0]).tolist() == [0.0, 0.3, 1.0]
    assert law.optimal_threshold(0.9) == 0.1
    assert metrics.regret([0.1], law, 0.9)[-1] == 0.0


@pytest.mark.parametrize("scores", [[], [1.0, math.nan]])
def test_bad_populations_are_refused(scores):
    with pytest.raises(InvalidScores):
        metrics.Population(scores)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, math.inf]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(InvalidScores):
        metrics.Population([1.0, 2.0], weights)


def test_shapes_that_do_not_match_are_refused():
    with pytest.raises(InvalidScores, match="one of each per round"):
        metrics.coverage([0.5, 0.5], [0.5])
    with pytest.raises(InvalidScores, match="one row of candidates per round"):
        metrics.set_size([0.5, 0.5], [[0.1, 0.6]])


def test_weights_at_the_edge():
    assert metrics.Population(range(100), [0.01] * 100).optimal_threshold(0.8) == 20.0


def test_a_label_that_is_not_there_is_below_every_threshold():
    population = [-math.inf] + [0.5] * 19
    assert metrics.miscoverage([-math.inf, -1e308, 0.5], population).tolist() == [0.05, 0.05, 0.05]
    assert metrics.regret([-math.inf], population, 0.9)[-1] == metrics.regret([0.5], population, 0.9)[-1] == 0.0


def test_regret_is_of_one_run():
    with pytest.raises(InvalidScores, match="thresholds have 2 dimensions"):
        metrics.regret([[0.1, 0.2]], metrics.Uniform(), 0.9)


def test_bad_coverages_are_refused():
    with pytest.raises(InvalidParameter, match=r"coverage is 1\.0"):
        metrics.optimal_threshold([1.0], 1.0)
