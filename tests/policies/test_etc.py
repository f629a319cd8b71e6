"""Explore, then commit: one decision."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    ConservativeETC,
    ExploreThenCommit,
    replay,
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


@pytest.mark.parametrize("explore", [100, 1000, 2000, 5000, 8000])
def test_the_commitment_is_the_quantile_of_all_that_was_explored(explore):
    """300 streams of 10,000 rounds: k jumps in round m, by thousands of scores, and none of them may be missing.

    With a window that is cut before the low scores leave it, 83 of the 300 commit late and to a wrong threshold at
    m = 2,000.
    """
    horizon = 10_000
    for policy, allowed in (
        (ExploreThenCommit, explore // 10),
        (ConservativeETC, brute_force.decimal_limit(explore, 0.9, horizon)),
    ):
        settings = {"horizon": horizon} if policy is ConservativeETC else {}
        for seed in range(300):
            scores = np.random.default_rng(seed).random(horizon)
            committed = np.sort(scores[:explore])[allowed] if allowed >= 0 else -math.inf
            expected = np.where(np.arange(horizon) < explore, -math.inf, committed)
            windowed = replay(policy(0.9, explore, **settings), scores)
            assert np.array_equal(windowed, expected), (policy, seed)
            if seed < 30:
                assert np.array_equal(windowed, replay(policy(0.9, explore, **settings, window=False), scores))


def test_it_decides_once():
    """Of five rounds at coverage 0.8 one may be low: the second smallest, whatever comes later."""
    seen = thresholds(ExploreThenCommit(0.8, 5), [5.0, 1.0, 4.0, 2.0, 3.0, 9.0, 9.0])
    assert seen == [-math.inf] * 5 + [2.0] * 3


def test_bad_parameters_are_named():
    with pytest.raises(InvalidParameter, match="explore is 0; it must be at least 1"):
        ExploreThenCommit(0.9, 0)
    with pytest.raises(InvalidParameter, match="horizon is 0; it must be at least 1"):
        ConservativeETC(0.9, 10, 0)
