"""Shares, their intervals, and whether they change along the way."""

import pytest
from scipy import stats

from shortlist._wilson import wilson


@pytest.mark.parametrize(("hits", "of"), [(0, 10), (3, 10), (90, 100), (100, 100), (5_000, 9_999)])
def test_the_interval_is_that_of_scipy(hits, of):
    expected = stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert wilson(hits, of) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_nothing_is_known_of_nothing():
    assert wilson(0, 0) == (0.0, 1.0)
