"""The settings of a stream."""

import json
from dataclasses import fields

import pytest

from shortlist import AnytimeSPS
from shortlist.errors import InvalidParameter
from shortlist.rounds import settings as rounds
from shortlist.rounds.codec import encode
from shortlist.rounds.settings import Options
from shortlist.scores import Learned
from shortlist.service.engine import Settings


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
            Settings(**{"coverage": 0.9, **wrong})
    assert Settings(coverage=0.9).rounds.policy == AnytimeSPS(0.9)


def test_the_defaults_are_those_of_a_lister():
    mine, theirs = Settings(coverage=0.9), Options()
    differing = [each.name for each in fields(Options) if getattr(mine, each.name) != getattr(theirs, each.name)]
    assert differing == ["unanswered"]
    assert mine.to_dict()["score"] == "auto"
    lister = rounds.Settings(policy=AnytimeSPS(0.9))
    assert mine.rounds == lister  # once checked, there is no difference


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"policy": {"kind": "sps", "horizon": 700}, "score": "relative"},
        {"score": {"kind": "relative", "temperature": 0.3}, "at_least": 2, "at_most": 6},
        {"on_drift": "restart", "scorer_version": "v1"},
        {"score": "raw"},
        {"score": encode(Learned(("dense", "bm25"), (1.0, 2.0), (0.5, 0.1), rounds=100, influence=(0.3, 0.7)))},
        {"score": {"kind": "learned", "scorers": [""], "relative": [2.0], "absolute": [0]}},
    ],
    ids=str,
)
def test_what_is_stored_gives_the_same_settings(settings):
    made = Settings(coverage=0.9, **settings)
    again = Settings(**json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert again.rounds == made.rounds
    assert "keep" not in made.to_dict()  # of a lister's file: the service keeps everything
