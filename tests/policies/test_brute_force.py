"""Every rule, bit for bit, against its formula written out."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    ACI,
    DKW,
    DLR,
    SPS,
    AnytimeSPS,
    BetaBinomial,
    ConservativeETC,
    ExploreThenCommit,
    Greedy,
    OrderStatistic,
)
from tests.policies import brute_force
from tests.strategies import COVERAGES, SCORES


def thresholds(policy, scores):
    state = policy.init()
    seen = [state.threshold]
    for score in scores:
        policy.update(state, None if score == -math.inf else score)
        seen.append(state.threshold)
    return seen


@given(SCORES, COVERAGES, st.integers(2, 160))
def test_sps_is_algorithm_1_taken_literally(scores, coverage, horizon):
    assert thresholds(SPS(coverage, horizon), scores) == list(brute_force.sps_literally(scores, coverage, horizon))


@given(SCORES, COVERAGES, st.sampled_from([0.9, 0.5, 0.2, 0.05]))
def test_censored_feedback_loses_nothing_against_full_information(scores, coverage, delta):
    boundary = BetaBinomial(delta)
    limits = boundary.limits(coverage, len(scores)).tolist()
    expected = list(brute_force.order_statistic(scores, limits, censored=False))
    assert list(brute_force.order_statistic(scores, limits, censored=True)) == expected
    assert thresholds(AnytimeSPS(coverage, delta), scores) == expected
    assert thresholds(OrderStatistic(coverage, boundary, window=False), scores) == expected


@given(SCORES, COVERAGES)
def test_greedy(scores, coverage):
    assert thresholds(Greedy(coverage), scores) == list(brute_force.greedy(scores, coverage))


@given(SCORES, COVERAGES, st.sampled_from([0.001, 0.05, 0.3, 1.0]))
def test_aci(scores, coverage, step):
    assert thresholds(ACI(coverage, step), scores) == list(brute_force.aci(scores, coverage, step))


@given(SCORES, COVERAGES, st.floats(-10, 10), st.floats(0.1, 2))
def test_dlr(scores, coverage, start, exponent):
    expected = list(brute_force.dlr(scores, coverage, start, exponent))
    assert thresholds(DLR(coverage, start, exponent), scores) == expected


@given(SCORES, COVERAGES, st.integers(1, 100))
def test_explore_then_commit(scores, coverage, explore):
    allowed = math.floor(explore * (1 - Fraction(str(coverage))))
    expected = list(brute_force.explore_then_commit(scores, explore, allowed))
    assert thresholds(ExploreThenCommit(coverage, explore), scores) == expected


@given(SCORES, COVERAGES, st.integers(1, 150), st.integers(1, 1000))
def test_conservative_etc(scores, coverage, explore, horizon):
    allowed = brute_force.decimal_limit(min(explore, horizon), coverage, horizon)
    expected = list(brute_force.explore_then_commit(scores, explore, allowed))
    assert thresholds(ConservativeETC(coverage, explore, horizon), scores) == expected


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
    assert state.dropped > 1000
