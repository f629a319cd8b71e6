"""The registry: names, how policies are built from them, and classes in a user's own files."""

import dataclasses
import re

import numpy as np
import pytest

from shortlist import (
    ACI,
    DLR,
    SPS,
    AnytimeSPS,
    ConformalPID,
    ConservativeETC,
    ExploreThenCommit,
    Oracle,
    OrderStatistic,
    Policy,
    ThresholdTracking,
    replay,
)
from shortlist.errors import InvalidParameter
from shortlist.lab.drawing import label_of, line_style
from shortlist.policies import (
    PAPER,
    POLICIES,
    REGISTRY,
    load_policy_class,
    make_policy,
    order_statistic_kinds,
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anytime", AnytimeSPS(0.9, 0.05)),
        ("anytime@2/T", AnytimeSPS(0.9, 2 / 1234)),
        ("anytime@0.01", AnytimeSPS(0.9, 0.01)),
        ("sps", SPS(0.9, 1234)),
        ("sps@99", SPS(0.9, 99)),
        ("aci", ACI(0.9, 0.008)),
        ("aci@0.5", ACI(0.9, 0.5)),
        ("etc", ExploreThenCommit(0.9, 123)),
        ("conservative-etc", ConservativeETC(0.9, 493, 1234)),
        ("conservative-etc@7", ConservativeETC(0.9, 7, 1234)),
        ("oracle@0.25", Oracle(0.25)),
        ("dlr", DLR(0.9)),
        ("tracking", ThresholdTracking(0.9)),
        ("tracking@0.2", ThresholdTracking(0.9, 0.2)),
    ],
)
def test_names(text, expected):
    assert make_policy(text, 0.9, 1234) == expected


def test_every_name_builds_its_class():
    for key, entry in REGISTRY.items():
        assert POLICIES[key] is entry.policy
        if entry.needed == []:
            assert type(make_policy(key, 0.9, 100)) is entry.policy
            for value in entry.grid:
                assert type(make_policy(key, 0.9, 100, value)) is entry.policy
    assert [make_policy(name, 0.9, 100).key for name in PAPER] == [name.partition("@")[0] for name in PAPER]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spss", "it must be one of anytime, sps"),
        ("order-statistic", "it needs a boundary, which a name cannot give"),
        ("oracle", "it needs its threshold: oracle@0.5"),
        ("dlr@1", "dlr has no setting"),
        ("anytime@x/T", "what follows the @ must be a number"),
    ],
)
def test_names_that_mean_nothing(text, message):
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        make_policy(text, 0.9, 100)


def test_the_grid_of_a_number_of_rounds_holds_shares():
    assert make_policy("etc", 0.9, 1000, 0.025) == ExploreThenCommit(0.9, 25)
    assert make_policy("etc", 0.9, 10, 0.025) == ExploreThenCommit(0.9, 1)
    assert make_policy("aci", 0.9, 1000, 0.032) == ACI(0.9, 0.032)


def test_the_range_of_scores_reaches_the_policies_that_ask_for_it():
    pid = REGISTRY["pid"].build(0.9, 100, score_range=(5.0, 20.0))
    assert pid == ConformalPID(0.9, top=5.0, scale=20.0)
    assert REGISTRY["dlr"].build(0.9, 100, score_range=(5.0, 20.0)) == DLR(0.9, start=-15.0)
    tracking = REGISTRY["tracking"].build(0.9, 100, score_range=(5.0, 20.0))
    assert tracking == ThresholdTracking(0.9, step=0.2, start=-15.0)


def test_order_statistic_policies_are_given_with_their_parameters():
    kinds = order_statistic_kinds()
    assert kinds["anytime"] == (AnytimeSPS, {"delta": 0.05})
    assert kinds["sps"] == (SPS, {"horizon": None})
    assert all(issubclass(kind, OrderStatistic) for kind, _ in kinds.values())
    assert "order-statistic" not in kinds


def test_every_policy_has_a_label_and_a_line():
    names = [*PAPER, *REGISTRY, "aci@0.5", "Mine"]
    for name in names:
        assert policy_label(name)
        assert label_of(name)
        assert re.fullmatch("#[0-9A-F]{6}", line_style(name)["color"])
    assert policy_label("mvp") == "MVP"


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
