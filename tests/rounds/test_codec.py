"""Records as plain data, and back: every event, every state, every number."""

import dataclasses
import json
import math
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import AnytimeSPS
from shortlist.errors import InvalidParameter, MissingScore
from shortlist.policies import Policy
from shortlist.rounds.codec import decode, encode, from_json, to_json
from shortlist.rounds.events import (
    EVENTS,
    Absent,
    Answer,
    Configured,
    Expanded,
    Expired,
    Fitted,
    Hit,
    Listed,
    Miss,
    Restarted,
    Skip,
    WarmStarted,
    Withdrawn,
)
from shortlist.rounds.settings import Settings
from shortlist.scores import Learned, Relative, Score

LEARNED = Learned(
    ("bm25", "dense"),
    (0.5, 1 / 3),
    (0.0, -2.5),
    (-1.0, 0.0),
    (10.0, 0.5),
    (3.0, 0.1),
    "sum",
    (0.25, 0.75),
    100,
    (3.5, 2.5),
    1e-12,
    7,
)

HAPPENED = [
    Listed(7, ["a", 2], [0.5, 0.25], [1, 0], -math.inf, 3, 2),
    Listed("x", None, [], [], 0.5, 0, 0, truncated=True, truncated_below=0.1, scorer_version="v", group="g"),
    Listed(
        0,
        None,
        [1.0],
        [0],
        -1.0,
        0,
        1,
        complete=True,
        comparable=[0.75],
        spent=148,
        added=1,
        asked=2,
        explored=True,
    ),
    Listed(0, None, [0.5], [0], -1.0, 0, 1, comparable=[1.0], fit=0),
    Listed(
        1,
        ["a", "b"],
        [[1.0, 0.25], [2.0, 0.5]],
        [1],
        0.5,
        0,
        1,
        comparable=[0.75],
        truncated_below=[0.5, None],
        scorers=["bm25", "dense"],
        fit=2,
    ),
    Expanded(7, [3, 1], 4, truncated=True, comparable=[0.1 + 0.2, -1.0], again=True),
    Hit(7, "a", 0.1 + 0.2, missed=True, position=3, after_more=True),
    Miss("x", truncated=True, everything=True, paged=True),
    Skip(3),
    Absent(4, believed=False, complete=True),
    Expired(5),
    Withdrawn(6),
    WarmStarted([0.5, -math.inf]),
    Configured({"at_most": 5, "shadow": False, "miss_budget": None}),
    Restarted(3),
    Restarted(4, refit=True),
    Fitted(1, Learned(("",), (0.1 + 0.2,), (0.5,))),
    Fitted(2, LEARNED),
]


def test_every_kind_of_event_is_tried():
    assert {type(event) for event in HAPPENED} == set(EVENTS.values())


@pytest.mark.parametrize("event", HAPPENED, ids=lambda event: type(event).__name__)
def test_events_come_back_from_strict_json(event):
    text = to_json(event)
    json.loads(text, parse_constant=pytest.fail)  # no Infinity, no NaN
    assert from_json(type(event), text) == event
    assert decode(type(event), encode(event)) == event


def test_a_learned_score_comes_back_with_what_is_known_of_its_fit():
    again = from_json(Fitted, to_json(Fitted(2, LEARNED))).score
    assert dataclasses.asdict(again) == dataclasses.asdict(LEARNED)  # its fit plays no part in ==


def test_a_score_that_a_scorer_has_not_is_null():
    scores = np.array([[1.0, math.nan], [2.0, 0.5]])
    listed = Listed(1, None, scores, [1, 0], -math.inf, 0, 2, scorers=["a", "b"], fit=0)
    text = to_json(listed)
    assert json.loads(text, parse_constant=pytest.fail)["scores"] == [[1.0, None], [2.0, 0.5]]
    assert np.array_equal(np.asarray(from_json(Listed, text).scores, dtype=float), scores, equal_nan=True)


def test_fields_with_their_default_are_left_out():
    assert encode(Miss(3)) == {"round_id": 3}
    assert encode(Miss(3, truncated=True)) == {"round_id": 3, "truncated": True}


@given(st.floats(allow_nan=False))
def test_every_float_comes_back_bit_for_bit(number):
    again = from_json(tuple[float, list[float]], to_json((number, [number])))
    assert np.array([again[0], *again[1]]).tobytes() == np.array([number, number]).tobytes()


def test_infinities():
    assert (encode(-math.inf), encode(math.inf)) == (None, "inf")
    assert (decode(float, None), decode(float, "inf")) == (-math.inf, math.inf)


def test_keys_that_are_no_texts_are_pairs():
    assert encode({1: "a", "b": 2}) == [[1, "a"], ["b", 2]]
    assert decode(dict[int, str], [[1, "a"]]) == {1: "a"}
    assert encode({"b": 2}) == {"b": 2}


@dataclasses.dataclass
class Answers:
    given: deque[int | str | Answer | None]


def test_an_answer_is_told_from_a_member_of_the_same_name():
    answers = Answers(deque(["miss", Answer.MISS, None, 0]))
    assert encode(answers) == {"given": ["miss", ["miss"], None, 0]}
    assert decode(Answers, encode(answers)) == answers


def test_settings_with_a_policy_and_a_score():
    settings = Settings(policy=AnytimeSPS(0.9), score="relative", at_most=3)
    again = decode(Settings, encode(settings))
    assert again == settings
    assert again.score == Relative()


def cube(values):
    return values**3


@dataclasses.dataclass(frozen=True)
class Mine(AnytimeSPS):
    key = "mine"


def test_what_a_file_cannot_hold_is_asked_for():
    own = Settings(policy=Mine(0.9), score=cube)
    plain = encode(own)
    with pytest.raises(MissingScore):
        decode(Settings, plain, {Policy: Mine(0.9)})
    with pytest.raises(InvalidParameter, match="your own policy must be passed"):
        decode(Settings, plain, {Score: cube})
    assert decode(Settings, plain, {Policy: Mine(0.9), Score: cube}) == own
