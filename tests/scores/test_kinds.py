"""Scores by name, and as plain data."""

import dataclasses
import json

import numpy as np
import pytest

from shortlist.errors import InvalidParameter, MissingScore
from shortlist.rounds.codec import encode
from shortlist.scores import (
    KINDS,
    SCORES,
    Adaptive,
    Learned,
    Margin,
    Rank,
    Raw,
    Relative,
    name_of,
    score_from_dict,
    to_score,
)

LEARNED = Learned(("bm25", "dense"), (0.5, 1 / 3), (0.0, -2.5), (-1.0, 0.0), (10.0, 0.5), (3.0, 0.1), "sum", rounds=100)
EVERY = [Raw(), Margin(), Relative(), Relative(1.0), Rank(), Adaptive(), Adaptive(1.0, penalty=0.1, free=1), LEARNED]


def test_every_kind_is_tried():
    assert {type(score) for score in EVERY} == set(KINDS.values())
    assert set(SCORES) == {"raw", "margin", "relative", "rank", "adaptive"}
    assert set(KINDS) == {*SCORES, "learned"}


@pytest.mark.parametrize("score", EVERY, ids=name_of)
def test_a_score_comes_back_from_plain_data(score):
    data = json.loads(json.dumps(encode(score)))
    assert data["kind"] == score.key
    again = score_from_dict(data)
    assert dataclasses.asdict(again) == dataclasses.asdict(score)
    assert again == score
    values = np.array([[1.0, 0.5], [2.0, 0.25]]) if score is LEARNED else np.array([1.0, 0.5])
    assert again(values).tolist() == score(values).tolist()


@pytest.mark.parametrize("name", SCORES)
def test_a_name_is_a_score_with_its_defaults(name):
    assert to_score(name) == SCORES[name]() == score_from_dict({"kind": name})


def test_names_are_short():
    assert name_of(Raw()) == "raw"
    assert name_of(Adaptive()) == "adaptive(0.4, 0, 5)"
    assert name_of(LEARNED) == "learned"
    assert name_of(_cube) == "_cube"


def _cube(values):
    return values**3


def test_a_score_of_ones_own_is_passed_again():
    assert to_score(np.negative) is np.negative
    assert encode(np.negative) == {"kind": "custom", "name": "<ufunc 'negative'>"}
    with pytest.raises(MissingScore, match=r"load\(path, score=\.\.\.\)"):
        score_from_dict(encode(np.negative))
    assert score_from_dict(encode(np.negative), np.negative) is np.negative


@pytest.mark.parametrize("wrong", ["relativ", "learned", "auto", 3, None, Relative])
def test_what_is_no_score_is_refused(wrong):
    """A learned one has no name of its own: it is an object; and auto is not yet one."""
    with pytest.raises(InvalidParameter, match="it must be one of raw, margin, relative, rank, adaptive, auto"):
        to_score(wrong)
