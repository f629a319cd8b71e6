"""AnytimeSPS: the order-statistic rule at the horizon-free boundary."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    AnytimeSPS,
    BetaBinomial,
    OrderStatistic,
)
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.policies.streaming import thresholds
from tests.strategies import COVERAGES, SCORES


@given(SCORES, COVERAGES, st.sampled_from([0.9, 0.5, 0.2, 0.05]))
def test_censored_feedback_loses_nothing_against_full_information(scores, coverage, delta):
    boundary = BetaBinomial(delta)
    limits = boundary.limits(coverage, len(scores)).tolist()
    expected = list(brute_force.order_statistic(scores, limits, censored=False))
    assert list(brute_force.order_statistic(scores, limits, censored=True)) == expected
    assert thresholds(AnytimeSPS(coverage, delta), scores) == expected
    assert thresholds(OrderStatistic(coverage, boundary, window=False), scores) == expected


def test_its_first_cut_is_the_least_of_65_scores():
    """At coverage 0.9 and delta 0.01 the boundary allows its first low score in round 65."""
    scores = [(i * 7 % 65 + 1) / 100 for i in range(65)]
    assert thresholds(AnytimeSPS(0.9), scores)[-2:] == [-math.inf, 0.01]


def test_a_bad_delta_is_named():
    with pytest.raises(InvalidParameter, match=r"delta is 1\.5; it must lie strictly between 0 and 1"):
        AnytimeSPS(0.9, 1.5)
