"""What policies are called, and how they are built from their names."""

import re

import pytest

from shortlist import (
    ACI,
    DLR,
    SPS,
    AnytimeSPS,
    ConservativeETC,
    ExploreThenCommit,
    Oracle,
    ThresholdTracking,
)
from shortlist.errors import InvalidParameter
from shortlist.policies import make_policy, policy_entry, policy_label, policy_name

OWN = """
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist import Policy
from shortlist.policies import State


@dataclass(frozen=True)
class Mine(Policy):
    rule = staticmethod(lambda carry, values, constants, seen, missed: carry)
    setting: ClassVar[str] = "window"
    grid: ClassVar[tuple[float, ...]] = (0.1, 50)
    coverage: float
    window: int = 200
    gain: float = 1.0

    def init(self):
        return State((0.0,), [], ())


class Gain(Mine):
    setting = "gain"
    grid = (0.5, 2.0)


class Plain(Mine):
    setting = None
    grid = ()


class NoParameter(Mine):
    setting = "width"


class NoSetting(Mine):
    setting = None


class Words(Mine):
    grid = ("short", "long")


class Twice(Mine):
    grid = (50, 50)


class Number(Mine):
    grid = 5
"""


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "a@b"  # an @ in a folder is no setting
    folder.mkdir()
    (folder / "mine.py").write_text(OWN)
    return f"{folder}/mine.py"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anytime", AnytimeSPS(0.9, 0.01)),
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
        ("dlr@-10", DLR(0.9, start=-10.0)),
        ("dlr@start = -10", DLR(0.9, start=-10.0)),
        ("dlr@start=-10,exponent=0.5", DLR(0.9, start=-10.0, exponent=0.5)),
        ("aci@step=0.5,levels=clipped", ACI(0.9, 0.5, "clipped")),
        ("aci@0.5,levels=hits", ACI(0.9, 0.5, "hits")),
        ("etc@explore=0.01", ExploreThenCommit(0.9, 12)),
        ("conservative-etc@explore=0.1,horizon=99", ConservativeETC(0.9, 123, 99)),
        ("tracking", ThresholdTracking(0.9)),
        ("tracking@0.2", ThresholdTracking(0.9, 0.2)),
    ],
)
def test_names(text, expected):
    assert make_policy(text, 0.9, 1234) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spss", "it must be one of anytime, product-limit, sps"),
        ("order-statistic", "it needs a boundary, which a name cannot give"),
        ("oracle", "it needs its threshold: oracle@0.5"),
        ("greedy@1", "greedy has no setting '1'; it has none"),
        ("dlr@speed=1", "dlr has no setting 'speed'; it has start, exponent"),
        ("dlr@start=low", "its start must be a number"),
        ("anytime@x/T", "its delta must be a number"),
        ("etc@explore=-5", "explore is -5; it must be at least 1"),
        ("sps@0", "horizon is 0; it must be at least 1"),
        ("dlr@start=-10,start=-5", "it gives start twice"),
        ("dlr@=5", "dlr has no setting '=5'; it has start, exponent"),
        ("aci@clipped", "its step must be a number; other settings are given by name: levels=..."),
        ("mvp@seed=0.5", "its seed must be a whole number"),
        ("aci@levels=shut", "levels is 'shut'; it must be one of open, clipped, hits"),
        ("etc@explore=1.5", "its explore must be a whole number, or a share of the rounds"),
    ],
)
def test_names_that_mean_nothing(text, message):
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        make_policy(text, 0.9, 100)


def test_the_grid_of_a_number_of_rounds_holds_shares():
    assert make_policy("etc", 0.9, 1000, 0.025) == ExploreThenCommit(0.9, 25)
    assert make_policy("etc", 0.9, 10, 0.025) == ExploreThenCommit(0.9, 1)
    assert make_policy("aci", 0.9, 1000, 0.032) == ACI(0.9, 0.032)


def test_a_policy_of_ones_own_has_a_setting_and_a_grid(own):
    entry = policy_entry(f"{own}:Mine")
    assert (entry.setting, entry.grid, entry.whole) == ("window", (0.1, 50), True)
    assert make_policy(f"{own}:Mine", 0.9, 1000).window == 200
    assert make_policy(f"{own}:Mine", 0.9, 1000, setting=0.1).window == 100  # a share of the rounds
    assert make_policy(f"{own}:Mine", 0.9, 1000, setting=50).window == 50
    assert make_policy(f"{own}:Mine@70", 0.9, 1000).window == 70
    assert make_policy(f"{own}:Gain", 0.9, 1000, setting=0.5).gain == 0.5
    assert policy_name(f"{own}:Mine@70") == "Mine@70"
    assert policy_label("Mine@70") == "Mine@70"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NoParameter", "its setting is 'width'; it must be the name of a parameter"),
        ("NoSetting", "its grid is (0.1, 50); it must hold different positive numbers, to choose its `setting` from"),
        ("Words", "its grid is ('short', 'long'); it must hold different positive numbers"),
        ("Twice", "its grid is (50, 50); it must hold different positive numbers"),
        ("Number", "its grid is 5; it must hold different positive numbers"),
        ("Plain@3", "Plain has no setting '3'"),
        ("Mine@1.5", "its window must be a whole number, or a share of the rounds"),
    ],
)
def test_settings_and_grids_that_will_not_do(own, name, message):
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        make_policy(f"{own}:{name}", 0.9, 100)
