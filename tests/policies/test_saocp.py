"""SAOCP, as far as it goes by hand; `test_field` compares it with its public implementation."""

import math

import pytest

from shortlist import SAOCP
from shortlist.errors import InvalidParameter
from shortlist.policies.saocp import AGE, LIFETIME, WIDTH, add_expert, drop_expired, pinball
from tests.policies.streaming import thresholds


def test_the_first_step_by_hand():
    """One learner, whose first step has the length D / sqrt(3), whatever the slope."""
    assert thresholds(SAOCP(0.75), [1.0]) == pytest.approx([0.0, 1 / math.sqrt(3)])


def test_a_learner_lives_longer_the_rounder_its_first_round():
    values = []
    for t in (1, 2, 3, 4, 12):
        add_expert(values, t, 1.0, 8)
    assert values[LIFETIME::WIDTH] == [8.0, 16.0, 8.0, 32.0, 32.0]
    values[AGE] = 9.0  # the first is older than its lifetime
    drop_expired(values)
    assert values[LIFETIME::WIDTH] == [16.0, 8.0, 32.0, 32.0]


def test_the_pinball_loss():
    assert pinball(0.9, 0.5, 0.75, 0.25) == pytest.approx(0.3)
    assert pinball(0.1, 0.5, 0.75, 0.25) == pytest.approx(0.1)


def test_a_bad_lifetime_is_named():
    with pytest.raises(InvalidParameter, match="lifetime is 0; it must be at least 1"):
        SAOCP(0.9, lifetime=0)
