"""Policies in a user's own files."""

import dataclasses

import numpy as np
import pytest

from shortlist import (
    SPS,
    Policy,
    replay,
)
from shortlist.errors import InvalidParameter
from shortlist.policies import (
    load_policy_class,
    make_policy,
    policy_from_dict,
    policy_label,
    policy_name,
)

MINE = """
from dataclasses import dataclass
from typing import ClassVar

from shortlist import Policy
from shortlist.policies import State


def step(carry, values, constants, seen, missed):
    threshold, n = carry
    return threshold + constants[0] * (constants[1] - missed) / (n + 1), n + 1


@dataclass(frozen=True)
class Mine(Policy):
    key: ClassVar[str] = "mine"
    rule = staticmethod(step)
    coverage: float
    horizon: int
    gain: float = 0.5

    def init(self):
        return State((0.0, 0), [], (self.gain, 1 - self.coverage))


@dataclass(frozen=True)
class Short(Mine):
    horizon: int = 7


class Needy(Mine):
    def __init__(self, coverage, top, bottom):
        raise AssertionError


class Broken(Short):
    def init(self):
        return 1 / 0


class Odd(Short):
    def init(self):
        return 3


class Bare(Policy):
    def init(self):
        return State((0.0,), [], ())


answer = 42
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_class_in_a_file(own):
    mine = load_policy_class("mine.py:Mine")
    assert load_policy_class(str(own / "mine.py:Mine")) is mine
    assert issubclass(mine, Policy)
    policy = make_policy("mine.py:Mine", 0.9, 300)
    assert dataclasses.asdict(policy) == {"coverage": 0.9, "horizon": 300, "gain": 0.5}
    assert policy_name("some/folder/mine.py:Mine") == policy_label("mine.py:Mine") == "Mine"
    scores = np.random.default_rng(0).random(500)
    plain, threshold = replay(policy, scores, compiled=False), 0.0
    for n, score in enumerate(scores.tolist()):
        assert plain[n] == threshold
        threshold += 0.5 * (1 - 0.9 - (score < threshold)) / (n + 1)
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    assert replay(policy, scores, compiled=True).tobytes() == plain.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py:Mine", "there is no file nowhere.py; name a Python file and a class in it"),
        ("mine.py:", "name a Python file and a class in it, for example my_policy.py:MyPolicy"),
        ("mine.py:Nobody", "mine.py has no Nobody; it has Mine, Short, Needy, Broken, Odd"),
        ("empty.py:Mine", "empty.py has no Mine; it has no policy"),
        ("mine.py:answer", "answer is not a policy; derive the class from shortlist.Policy"),
        ("mine.py:State", "State is not a policy"),
        ("mine.py:Policy", "Policy is not a policy"),
        ("mine.py:Bare", "Bare is not a policy"),
        ("wrong.py:Mine", "wrong.py cannot be imported (SyntaxError: "),
        ("exits.py:Mine", "exits.py cannot be imported (SystemExit: 3); correct it"),
        ("mine.py:Needy", "cannot be built (TypeError: "),
        ("mine.py:Broken", "cannot be built (ZeroDivisionError: division by zero); only coverage, horizon and rounds"),
        ("mine.py:Odd", "its init() returns 3; it must return a State"),
    ],
)
def test_files_that_will_not_do(own, text, message):
    (own / "empty.py").write_text("")
    (own / "wrong.py").write_text("class :")
    (own / "exits.py").write_text("raise SystemExit(3)")
    with pytest.raises(InvalidParameter) as caught:
        make_policy(text, 0.9, 100)
    assert message in str(caught.value)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("own")
def test_a_policy_of_ones_own_is_described_and_passed_again():
    policy = make_policy("mine.py:Mine", 0.9, 300)
    data = policy.to_dict()
    assert data == {"kind": "mine", "coverage": 0.9, "horizon": 300, "gain": 0.5}
    assert policy_from_dict(data, policy) is policy
    with pytest.raises(InvalidParameter, match=r"policy kind is 'mine'.*your own policy must be passed"):
        policy_from_dict(data)
    with pytest.raises(InvalidParameter, match=r"'gain': 0\.1.*'gain': 0.5"):
        policy_from_dict(data, dataclasses.replace(policy, gain=0.1))
    assert policy_from_dict(SPS(0.9, 10).to_dict(), policy) == SPS(0.9, 10)  # a kind that is known needs none


@pytest.mark.parametrize("rule", ["def rule(self, carry, values, constants, seen): pass", "rule = staticmethod(abs)"])
def test_a_rule_that_is_no_step_is_refused_before_it_runs(tmp_path, rule):
    path = tmp_path / "mine.py"
    path.write_text(
        "from shortlist import Policy\nclass Mine(Policy):\n    key = 'mine'\n    def init(self): ...\n    "
        + rule
        + "\n"
    )
    with pytest.raises(InvalidParameter, match="a static method of five arguments"):
        load_policy_class(f"{path}:Mine")
