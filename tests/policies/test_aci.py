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


@given(SCORES, COVERAGES, st.sampled_from([0.001, 0.05, 0.3, 1.0]))
def test_aci(scores, coverage, step):
    assert thresholds(ACI(coverage, step), scores) == list(brute_force.aci(scores, coverage, step))


def test_misses_lower_the_level_until_everything_is_shown_again():
    """The level is 0.8 after a hit, then 0.5, 0.2 and -0.1: below 0 it is -inf."""
    assert thresholds(ACI(0.5, 0.6), [3.0, 1.0, 1.0, 1.0]) == [-math.inf, 3.0, 3.0, 3.0, -math.inf]


def test_a_bad_step_is_named():
    with pytest.raises(InvalidParameter, match="step is 0; it must be a number above 0"):
        ACI(0.9, step=0)
