"""DLR: steps that decay."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import (
    DLR,
)
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.policies.streaming import thresholds
from tests.strategies import COVERAGES, SCORES


@given(SCORES, COVERAGES, st.floats(-10, 10), st.floats(0.1, 2))
def test_dlr(scores, coverage, start, exponent):
    expected = list(brute_force.dlr(scores, coverage, start, exponent))
    assert thresholds(DLR(coverage, start, exponent), scores) == expected


def test_its_steps_are_one_and_a_half_and_a_third():
    """A hit raises the threshold by 0.5 / t, a miss lowers it by as much."""
    seen = thresholds(DLR(0.5, start=1.0, exponent=1.0), [2.0, 1.0, 2.0])
    assert seen == pytest.approx([1.0, 1.5, 1.25, 1.25 + 0.5 / 3])


def test_bad_parameters_are_named():
    with pytest.raises(InvalidParameter, match="start is inf"):
        DLR(0.9, start=math.inf)
    with pytest.raises(InvalidParameter, match="exponent is 0"):
        DLR(0.9, exponent=0)
