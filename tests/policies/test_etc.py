"""Explore, then commit: one decision."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    ConservativeETC,
    ExploreThenCommit,
)
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.policies.streaming import thresholds
from tests.strategies import COVERAGES, SCORES


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


def test_it_decides_once():
    """Of five rounds at coverage 0.8 one may be low: the second smallest, whatever comes later."""
    seen = thresholds(ExploreThenCommit(0.8, 5), [5.0, 1.0, 4.0, 2.0, 3.0, 9.0, 9.0])
    assert seen == [-math.inf] * 5 + [2.0] * 3


def test_bad_parameters_are_named():
    with pytest.raises(InvalidParameter, match="explore is 0; it must be at least 1"):
        ExploreThenCommit(0.9, 0)
    with pytest.raises(InvalidParameter, match="horizon is 0; it must be at least 1"):
        ConservativeETC(0.9, 10, 0)
