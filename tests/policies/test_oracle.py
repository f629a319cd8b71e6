"""Oracle: a threshold that is known."""

import math

import pytest

from shortlist import Oracle
from shortlist.errors import InvalidParameter
from tests.policies.streaming import thresholds


@pytest.mark.parametrize("threshold", [0.25, -math.inf, math.inf, 3])
def test_it_learns_nothing(threshold):
    assert thresholds(Oracle(threshold), [0.1, 0.9, -math.inf]) == [threshold] * 4


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (math.nan, "threshold is nan"),
        ("high", "threshold is 'high'"),
        (True, "threshold is True; it must be a number"),
    ],
)
def test_bad_thresholds_are_named(threshold, message):
    with pytest.raises(InvalidParameter, match=message):
        Oracle(threshold)
