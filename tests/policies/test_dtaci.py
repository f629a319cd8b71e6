"""DtACI, as far as it goes by hand; `test_field` compares it with its public implementation."""

import math

import pytest

from shortlist import DtACI
from shortlist.errors import InvalidParameter
from tests.policies.streaming import thresholds


def test_until_the_experts_learn_it_is_the_quantile_of_all_so_far():
    """At coverage 0.8 the first five rounds move no level: the ceil(0.8 n)-th smallest distance, exactly."""
    scores = [0.9, 0.95, 0.97, 0.98, 0.99]
    expected = [-math.inf]
    for n in range(1, 6):
        distances = sorted(1.0 - score for score in scores[:n])
        expected.append(1.0 - distances[math.ceil(0.8 * n) - 1])
    # Each score must reach the threshold in force to be seen: they rise.
    assert thresholds(DtACI(0.8), scores) == pytest.approx(expected)


def test_a_miss_beyond_is_as_far_away_as_the_range_allows():
    policy = DtACI(0.5, top=2.0, scale=3.0)
    state = policy.init()
    policy.update(state, None)
    assert state.threshold == -1.0


def test_a_bad_interval_is_named():
    with pytest.raises(InvalidParameter, match="interval is 0; it must be at least 1"):
        DtACI(0.9, interval=0)
