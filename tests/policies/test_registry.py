"""The registry: names, and how policies are built from them."""

import re

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
    ThresholdTracking,
)
from shortlist.errors import InvalidParameter
from shortlist.lab.drawing import label_of, line_style
from shortlist.policies import (
    PAPER,
    POLICIES,
    REGISTRY,
    make_policy,
    order_statistic_kinds,
    policy_label,
)


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
