"""Conformal PID, by hand; `test_field` compares long streams with its formula."""

import math

import pytest

from shortlist import ConformalPID
from shortlist.errors import InvalidParameter
from shortlist.policies.pid import saturate
from tests.policies.streaming import thresholds


def test_the_first_rounds_by_hand():
    """After hits the errors add up to -0.25 each; the integrator adds a tangent that is small at first."""
    seen = thresholds(ConformalPID(0.75, step=0.4), [1.0, 1.0])
    expected = [0.0]
    for hits in (1, 2):
        pushed = math.tan(-0.25 * hits * math.log(hits + 1) / (5.0 * (hits + 1)))
        expected.append(1.0 - (1.0 - 0.1 * hits + pushed))
    assert seen == pytest.approx(expected)


def test_beyond_a_right_angle_the_tangent_is_infinite():
    assert saturate(1e9, 2.0, 5.0) == math.inf
    assert saturate(-1e9, 2.0, 5.0) == -math.inf
    assert saturate(0.0, 2.0, 5.0) == 0.0


@pytest.mark.parametrize("name", ["step", "gain", "saturation"])
def test_bad_parameters_are_named(name):
    with pytest.raises(InvalidParameter, match=f"{name} is 0; it must be a number above 0"):
        ConformalPID(0.9, **{name: 0})
