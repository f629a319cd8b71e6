"""ACI: a level that follows hits and misses, and its quantile of the hits."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    ACI,
)
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.policies.streaming import thresholds
from tests.strategies import COVERAGES, SCORES


@pytest.mark.parametrize("levels", ["open", "clipped", "hits"])
@given(SCORES, COVERAGES, st.sampled_from([0.001, 0.05, 0.3, 1.0]))
def test_aci(levels, scores, coverage, step):
    assert thresholds(ACI(coverage, step, levels), scores) == list(brute_force.aci(scores, coverage, step, levels))


def test_misses_lower_the_level_until_everything_is_shown_again():
    """The level is 0.8 after a hit, then 0.5, 0.2 and -0.1: below 0 it is -inf."""
    assert thresholds(ACI(0.5, 0.6), [3.0, 1.0, 1.0, 1.0]) == [-math.inf, 3.0, 3.0, 3.0, -math.inf]


def test_clipped_levels_stay_at_the_lowest_and_the_highest_hit():
    """After the first hit nothing below it is ever seen again: at level 0 the threshold is that hit, not -inf."""
    assert thresholds(ACI(0.5, 0.6, "clipped"), [3.0, 1.0, 1.0, 1.0]) == [-math.inf, 3.0, 3.0, 3.0, 3.0]
    assert thresholds(ACI(0.5, 1.0, "clipped"), [3.0, 5.0, 9.0]) == [-math.inf, 3.0, 5.0, 9.0]


def test_on_hits_only_the_level_never_falls():
    assert thresholds(ACI(0.5, 0.6, "hits"), [3.0, 1.0, 1.0, 4.0]) == [-math.inf, 3.0, 3.0, 3.0, math.inf]


def test_a_bad_step_is_named():
    with pytest.raises(InvalidParameter, match="levels is 'shut'; it must be one of open, clipped, hits"):
        ACI(0.9, step=0.1, levels="shut")
    with pytest.raises(InvalidParameter, match="step is 0; it must be a number above 0"):
        ACI(0.9, step=0)
