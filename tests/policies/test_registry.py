"""The registry: every policy, and how it is built."""

import re

from shortlist import DLR, ConformalPID, ThresholdTracking
from shortlist.lab.figure_style import label_of, line_style
from shortlist.policies import (
    PAPER,
    POLICIES,
    REGISTRY,
    make_policy,
    policy_label,
)


def test_every_name_builds_its_class():
    for key, entry in REGISTRY.items():
        assert POLICIES[key] is entry.policy
        if entry.needed == []:
            assert type(make_policy(key, 0.9, 100)) is entry.policy
            for value in entry.grid:
                assert type(make_policy(key, 0.9, 100, value)) is entry.policy
    assert [make_policy(name, 0.9, 100).key for name in PAPER] == [name.partition("@")[0] for name in PAPER]


def test_the_range_of_scores_reaches_the_policies_that_ask_for_it():
    pid = REGISTRY["pid"].build(0.9, 100, score_range=(5.0, 20.0))
    assert pid == ConformalPID(0.9, top=5.0, scale=20.0)
    assert REGISTRY["dlr"].build(0.9, 100, score_range=(5.0, 20.0)) == DLR(0.9, start=-15.0)
    tracking = REGISTRY["tracking"].build(0.9, 100, score_range=(5.0, 20.0))
    assert tracking == ThresholdTracking(0.9, step=0.2, start=-15.0)


def test_every_policy_has_a_label_and_a_line():
    names = [*PAPER, *REGISTRY, "aci@0.5", "Mine"]
    for name in names:
        assert policy_label(name)
        assert label_of(name)
        assert re.fullmatch("#[0-9A-F]{6}", line_style(name)["color"])
    assert policy_label("mvp") == "MVP"
