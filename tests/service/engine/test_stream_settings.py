"""The settings of a stream."""

import json

import pytest

from shortlist import AnytimeSPS, ProductLimit
from shortlist.errors import InvalidParameter
from shortlist.rounds import settings as rounds
from shortlist.rounds.codec import encode
from shortlist.scores import Learned
from shortlist.service.engine import StreamSettings


def test_settings_that_cannot_be():
    for wrong, message in (
        ({"coverage": 1.5}, "coverage"),
        ({"policy": {"kind": "greedy"}}, "policy kind is 'greedy'"),
        ({"policy": {"kind": "sps"}}, "horizon"),
        ({"policy": {"kind": "anytime", "horizon": 3}}, "no setting 'horizon'"),
        ({"score": "nonsense"}, "score is 'nonsense'"),
        ({"score": {"kind": "relative", "heat": 1}}, "no such setting"),
        ({"score": {"kind": "nonsense"}}, "score kind is 'nonsense'"),
        ({"patience": -1}, "patience"),
        ({"score": {"kind": "learned", "scorers": ["a", "b"], "relative": [1], "absolute": [1, 1]}}, "relative has 1"),
        ({"score": {"kind": "learned", "scorers": ["a"]}}, "no such setting"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            StreamSettings.of(**{"coverage": 0.9, **wrong})
    with pytest.raises(InvalidParameter, match="delta belongs to the policy"):
        StreamSettings.of(coverage=0.9, delta=0.1, policy={"kind": "anytime"})


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, ProductLimit(0.9)),
        ({"policy": {"kind": "product-limit"}}, ProductLimit(0.9)),
        ({"delta": 0.05}, AnytimeSPS(0.9, 0.05)),
        ({"policy": {"kind": "anytime"}}, AnytimeSPS(0.9)),
        ({"explore_share": "auto"}, AnytimeSPS(0.9)),  # nobody reports misses
        ({"explore_share": "auto", "delta": 0.05}, AnytimeSPS(0.9, 0.05)),
    ],
    ids=str,
)
def test_which_policy_is_meant(given, policy):
    assert StreamSettings.of(coverage=0.9, **given).rounds.policy == policy


def test_the_defaults_are_those_of_a_lister():
    assert StreamSettings.of(coverage=0.9).rounds == rounds.Settings(policy=ProductLimit(0.9))
    assert StreamSettings.of(coverage=0.9).to_dict()["score"] == "auto"
    with pytest.raises(InvalidParameter, match="a stream keeps all rounds"):
        StreamSettings.of(coverage=0.9, keep=5)


def test_one_score_has_one_description():
    """By its name or with its default parameters: creating the same stream again is not refused for that."""
    named, spelled = "relative", {"kind": "relative", "temperature": 0.4}
    assert (
        StreamSettings.of(coverage=0.9, score=named).to_dict()
        == StreamSettings.of(coverage=0.9, score=spelled).to_dict()
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"policy": {"kind": "sps", "horizon": 700}, "score": "relative"},
        {"score": {"kind": "relative", "temperature": 0.3}, "at_least": 2, "at_most": 6},
        {"delta": 0.05, "on_drift": "restart", "scorer_version": "v1"},
        {"explore_share": 0.1},
        {"score": "raw"},
        {"score": encode(Learned(("dense", "bm25"), (1.0, 2.0), (0.5, 0.1), rounds=100, influence=(0.3, 0.7)))},
        {"score": {"kind": "learned", "scorers": [""], "relative": [2.0], "absolute": [0]}},
    ],
    ids=str,
)
def test_what_is_stored_gives_the_same_settings(settings):
    made = StreamSettings.of(coverage=0.9, **settings)
    again = StreamSettings.of(**json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert again.rounds == made.rounds
    assert "keep" not in made.to_dict()  # of a lister's file: the service keeps everything
