"""SPS: Algorithm 1 of the paper, taken literally."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    DKW,
    SPS,
)
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.policies.streaming import thresholds
from tests.strategies import COVERAGES, SCORES


@given(SCORES, COVERAGES, st.integers(2, 160))
def test_sps_is_algorithm_1_taken_literally(scores, coverage, horizon):
    assert thresholds(SPS(coverage, horizon), scores) == list(brute_force.sps_literally(scores, coverage, horizon))


def test_the_comparison_can_fail():
    """Negative control: a rule that is off by one low score is noticed."""
    scores = [i * 7 % 50 / 50 for i in range(60)]
    limits = (DKW(60).limits(0.5, 60) + 1).tolist()
    assert thresholds(SPS(0.5, 60), scores) != list(brute_force.order_statistic(scores, limits))


@pytest.mark.parametrize("coverage", [0.9, 0.75])
def test_sps_long_enough_to_use_its_window(coverage):
    """4,000 rounds with ties: the window has been cut many times, and nothing is lost."""
    scores = [(i * 7919 % 2003) / 2003 for i in range(4000)]
    limits = [brute_force.decimal_limit(n, coverage, 4000) for n in range(1, 4001)]
    state, policy = SPS(coverage, 4000).init(), SPS(coverage, 4000)
    expected = brute_force.order_statistic(scores, limits)
    for score in scores:
        assert state.threshold == next(expected)
        policy.update(state, score)
    assert state.threshold == next(expected)
    assert state.rounds - state.low - len(state.values) > 1000


def test_it_stands_still_after_its_horizon():
    scores = [i * 7 % 50 / 50 for i in range(100)]
    seen = thresholds(SPS(0.5, 60), scores)
    assert len(set(seen[60:])) == 1
    assert seen[60] > -math.inf


def test_a_bad_horizon_is_named():
    with pytest.raises(InvalidParameter, match="horizon is -1; it must be at least 1"):
        SPS(0.9, -1)
