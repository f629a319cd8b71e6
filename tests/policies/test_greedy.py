"""Greedy: the quantile of the hits."""

import math

import pytest
from hypothesis import given

from shortlist import (
    Greedy,
)
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.policies.streaming import thresholds
from tests.strategies import COVERAGES, SCORES


@given(SCORES, COVERAGES)
def test_greedy(scores, coverage):
    assert thresholds(Greedy(coverage), scores) == list(brute_force.greedy(scores, coverage))


def test_it_climbs_without_end():
    """Each quantile is taken of what the last one let through: the 2.0 at the end is missed, and forgotten."""
    assert thresholds(Greedy(0.5), [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 2.0]) == [
        -math.inf,
        1.0,
        2.0,
        2.0,
        2.0,
        2.0,
        3.0,
        3.0,
    ]


def test_a_bad_coverage_is_named():
    with pytest.raises(InvalidParameter, match="coverage is 1; it must lie strictly between 0 and 1"):
        Greedy(1)
