"""Every policy through every check of the contract in ``policies/base.py``."""

import dataclasses
import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import replay
from shortlist.errors import InvalidParameter
from shortlist.policies import REGISTRY, policy_from_dict
from shortlist.rounds.codec import from_json, to_json
from tests.policies.every import POLICIES
from tests.strategies import SCORES

each_policy = pytest.mark.parametrize("policy", POLICIES, ids=repr)


def stream(policy, scores, state=None):
    """The thresholds in force, round by round."""
    state = policy.init() if state is None else state
    seen = []
    for score in scores:
        seen.append(state.threshold)
        policy.update(state, None if score == -math.inf else score)
    return seen, state


def test_every_policy_is_here():
    assert {type(policy) for policy in POLICIES} == {entry.policy for entry in REGISTRY.values()}


@each_policy
def test_fresh_states_are_equal(policy):
    assert policy.init() == policy.init()
    assert policy.init() is not policy.init()


@each_policy
@given(SCORES, st.integers(0, 150))
def test_snapshot_and_resume_at_any_round(policy, scores, at):
    expected, end = stream(policy, scores)
    before, state = stream(policy, scores[:at])
    after, resumed = stream(policy, scores[at:], from_json(policy.state_type, to_json(state)))
    assert before + after == expected
    assert resumed == end


@each_policy
@given(SCORES)
def test_hyper_parameters_are_untouched_and_updates_deterministic(policy, scores):
    before = dataclasses.asdict(policy)
    assert stream(policy, scores) == stream(policy, scores)
    assert dataclasses.asdict(policy) == before


@each_policy
@given(SCORES)
def test_replay_equals_streaming(policy, scores):
    assert replay(policy, scores, compiled=False).tolist() == stream(policy, scores)[0]


@each_policy
def test_compiled_replay_has_the_same_bits(policy):
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    rng = np.random.default_rng(7)
    for scores in (
        rng.random(3000),
        rng.integers(0, 8, 3000).astype(float),
        rng.standard_cauchy(3000) * 1e200,
        np.where(rng.random(500) < 0.1, -np.inf, rng.random(500)),
        np.zeros(300),
        np.empty(0),
        np.array([0.5]),
    ):
        plain = replay(policy, scores, compiled=False)
        assert replay(policy, scores, compiled=True).tobytes() == plain.tobytes()
        assert plain.tolist() == stream(policy, scores.tolist())[0]


@each_policy
def test_a_score_below_the_threshold_counts_as_a_miss(policy):
    _, state = stream(policy, [i * 7 % 50 / 50 for i in range(120)])
    if state.threshold == -math.inf:
        pytest.fail("this policy should have cut by now")
    twin = policy.state_type.from_dict(state.to_dict())
    policy.update(state, None)
    policy.update(twin, state.threshold - 1.0 if math.isfinite(state.threshold) else 0.0)
    assert state == twin


@each_policy
def test_policies_are_frozen_and_described(policy):
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.coverage = 0.5
    described = json.loads(json.dumps(policy.to_dict()))
    assert policy_from_dict(described) == policy
    assert hash(policy_from_dict(described)) == hash(policy)


@each_policy
def test_a_rule_is_a_plain_function(policy):
    """What replay compiles is what streaming calls: no closure, no numpy."""
    for function in (policy.rule, *(policy.prefilter or ())):
        assert function.__closure__ is None
        assert not function.__defaults__
        assert "np" not in function.__globals__


@each_policy
def test_every_step_has_one_signature(policy):
    """Carry, values, constants, seen, missed."""
    parameters = inspect.signature(policy.rule).parameters
    assert [name.lstrip("_") for name in parameters][-2:] == ["seen", "missed"]
    assert len(parameters) == 5


def test_unknown_kinds_are_refused():
    for data in ({"kind": "spss"}, {"kind": "order-statistic", "coverage": 0.9, "boundary": {"kind": "DKV"}}):
        with pytest.raises(InvalidParameter, match="must be one of"):
            policy_from_dict(data)


def test_every_policy_is_compared_with_its_formula():
    """In the test of its own module: written out brute force, or by hand, or as a public implementation has it."""
    for entry in REGISTRY.values():
        name, module = entry.policy.__name__, entry.policy.__module__.rpartition(".")[2]
        compared = (Path(__file__).parent / f"test_{module}.py").read_text()
        assert re.search(rf"\b{name}\(", compared), name  # SPS( is part of AnytimeSPS(
