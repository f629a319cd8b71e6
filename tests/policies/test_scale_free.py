"""Scale-free gradient descent, by hand; `test_field` compares long streams with its formula."""

import math

import pytest

from shortlist import ScaleFreeOGD
from shortlist.policies.scale_free import gradient
from tests.policies.streaming import thresholds


def test_the_first_steps_by_hand():
    """The first step has the length D / sqrt(3), whatever the slope; the second is shorter by the slopes so far."""
    first = 1 / math.sqrt(3)
    second = 0.25 / math.sqrt(3 * (0.25**2 + 0.25**2))
    seen = thresholds(ScaleFreeOGD(0.75), [1.0, 1.0])
    assert seen == pytest.approx([0.0, first, min(1.0, first + second)])


def test_the_slope_of_the_pinball_loss():
    assert gradient(0.9, 0.5, 0.75, 0.25) == -0.75
    assert gradient(0.1, 0.5, 0.75, 0.25) == 0.25
    assert gradient(0.5, 0.5, 0.75, 0.25) == 0.0


def test_a_radius_is_never_negative():
    assert max(thresholds(ScaleFreeOGD(0.5, top=2.0, scale=3.0), [2.0] * 50)) == 2.0
