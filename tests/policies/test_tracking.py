"""Threshold tracking, by hand; `test_field` compares long streams with its formula."""

import math

import pytest

from shortlist import ThresholdTracking
from shortlist.errors import InvalidParameter
from tests.policies.streaming import thresholds


def test_fixed_steps_by_hand():
    """At coverage 0.75 a hit raises the threshold by a quarter of the step, a miss lowers it by three quarters."""
    scores = [1.0, 1.0, 0.0, 1.0]
    assert thresholds(ThresholdTracking(0.75, 0.4), scores) == pytest.approx([0.0, 0.1, 0.2, -0.1, 0.0])
    assert thresholds(ThresholdTracking(0.75, 0.4, start=1.0, miss="dropped"), [0.0] * 3) == [1.0] * 4


def test_bad_parameters_are_named():
    with pytest.raises(InvalidParameter, match="step is 0; it must be a number above 0"):
        ThresholdTracking(0.9, 0)
    with pytest.raises(InvalidParameter, match="start is -inf; it must be a finite number"):
        ThresholdTracking(0.9, start=-math.inf)
