"""Shares, their intervals, and whether they change along the way."""

import numpy as np
import pytest
from scipy import stats

from shortlist._shares import trend, wilson


@pytest.mark.parametrize(("hits", "of"), [(0, 10), (3, 10), (90, 100), (100, 100), (5_000, 9_999)])
def test_the_interval_is_that_of_scipy(hits, of):
    expected = stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert wilson(hits, of) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_nothing_is_known_of_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_trend_is_a_correlation():
    """Cochran and Armitage's statistic is the correlation of level and success, times the root of their number."""
    rng = np.random.default_rng(0)
    levels, totals = np.array([1.0, 2.0, 4.0]), np.array([50, 70, 90])
    successes = rng.binomial(totals, [0.5, 0.6, 0.7])
    each = np.repeat(levels, totals)
    yes = np.concatenate([np.arange(total) < count for total, count in zip(totals, successes, strict=True)])
    z, p = trend(levels.tolist(), successes.tolist(), totals.tolist())
    assert z == pytest.approx(np.corrcoef(each, yes)[0, 1] * np.sqrt(totals.sum()))
    assert p == pytest.approx(2 * stats.norm.sf(abs(z)))


@pytest.mark.parametrize(("successes", "totals"), [([0, 0], [5, 5]), ([5, 5], [5, 5]), ([3, 0], [5, 0])])
def test_there_is_no_trend_where_there_is_nothing_to_compare(successes, totals):
    assert trend([0, 1], successes, totals) is None


def test_without_a_trend_the_p_value_is_below_a_hundredth_in_one_of_a_hundred():
    """Of 2,000, 46 is exceeded with probability 1e-6 (the normal approximation errs by less than its margin here)."""
    rng = np.random.default_rng(1)
    low = sum(trend([0, 1, 2], rng.binomial(400, 0.3, size=3).tolist(), [400] * 3)[1] < 0.01 for _ in range(2_000))
    assert low <= stats.binom.isf(1e-6, 2_000, 0.012)
