"""The empirical quantile as a boundary: exact floors."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from shortlist.boundaries import Quantile
from tests.strategies import COVERAGES


@given(COVERAGES, st.integers(1, 400))
def test_quantile_floors_are_exact(coverage, rounds):
    p0 = 1 - Fraction(str(coverage))
    expected = [math.floor(n * p0) for n in range(1, rounds + 1)]
    assert Quantile().limits(coverage, rounds).tolist() == expected


def test_a_coverage_of_seventeen_digits_is_exact_too():
    coverage = 0.1 + 0.2  # 0.30000000000000004
    p0 = 1 - Fraction(str(coverage))
    expected = [math.floor(n * p0) for n in range(1, 2001)]
    assert Quantile().limits(coverage, 2000).tolist() == expected
