"""What all policies share: states, misses, plain data."""

import dataclasses
import math

import pytest

from shortlist import OrderStatistic, Policy
from shortlist.boundaries import Held, Quantile
from shortlist.policies import MISS, State


def test_misses_are_lower_than_everything():
    assert -math.inf == MISS


@dataclasses.dataclass(frozen=True)
class Counting(Policy):
    """Counts hits and misses, and keeps the scores of hits."""

    key = "counting"

    @staticmethod
    def rule(carry, values, _constants, seen, missed):
        threshold, hits, misses = carry
        if missed:
            return threshold, hits, misses + 1
        values.append(seen)
        return threshold, hits + 1, misses

    def init(self):
        return State((0.5, 0, 0), [], ())


def test_what_lies_below_the_threshold_reaches_no_rule():
    policy = Counting()
    state = policy.init()
    for score in (0.5, 0.4, None, 0.9, math.nan):
        policy.update(state, score)
    assert state.carry == (0.5, 2, 3)
    assert state.values == [0.5, 0.9]
    policy.learn(state, 0.1)  # a hit of a list with a lower threshold
    assert state.values == [0.5, 0.9, 0.1]


def test_two_zeros_are_one():
    policy = Counting()
    state = policy.init()
    state.carry = (-1.0, 0, 0)
    policy.update(state, -0.0)
    assert math.copysign(1.0, state.values[0]) == 1.0


def test_a_state_is_plain_data_and_comes_back():
    state = State((0.25, 3, (1, 2.0)), [0.5], (0.1,))
    assert state.to_dict() == {"carry": [0.25, 3, [1, 2.0]], "values": [0.5], "constants": [0.1]}
    assert State.from_dict(state.to_dict()) == state
    assert state.threshold == 0.25


def test_a_policy_is_described_with_its_boundary():
    assert Counting().to_dict() == {"kind": "counting"}
    policy = OrderStatistic(0.9, Held(Quantile(), 70))
    boundary = {"kind": "Held", "boundary": {"kind": "Quantile"}, "rounds": 70}
    assert policy.to_dict() == {"kind": "order-statistic", "coverage": 0.9, "boundary": boundary, "window": True}


def test_a_policy_needs_a_rule_and_a_start():
    with pytest.raises(TypeError, match="abstract"):
        Policy()
