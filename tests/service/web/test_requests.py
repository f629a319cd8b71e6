"""What comes in: bodies that are refused, and bodies that are nearly refused."""

import numpy as np
import pytest
from pydantic import ValidationError

from shortlist.service.web.fields import MOST_ANSWERS, MOST_CANDIDATES
from shortlist.service.web.requests import Answers, NewAnswer, NewRound, RoundAnswer
from tests.service.web.checks import JSON, problem

BODIES = {
    "no list": {},
    "text for a score": {"candidates": [{"id": "a", "score": "0.5"}]},
    "true for a score": {"candidates": [{"id": "a", "score": True}]},
    "true for an id": {"candidates": [{"id": True, "score": 0.5}]},
    "half a number for an id": {"candidates": [{"id": 0.5, "score": 0.5}]},
    "something unknown": {"candidates": [{"id": "a", "score": 0.5}], "surprise": 1},
    "an id that is too long": {"candidates": [{"id": "a" * 501, "score": 0.5}]},
    "a bad round id": {"candidates": [{"id": "a", "score": 0.5}], "round_id": "a/b"},
    "text for one of several scores": {"candidates": [{"id": "a", "scores": {"bm25": "0.5"}}]},
    "null for a score": {"candidates": [{"id": "a", "score": None}]},
    "null for scores": {"candidates": [{"id": "a", "scores": None}]},
    "no scores": {"candidates": [{"id": "a", "scores": {}}]},
    "a scorer without a name": {"candidates": [{"id": "a", "scores": {"": 0.5}}]},
    "a list of scores": {"candidates": [{"id": "a", "scores": [0.5]}]},
    "a bound that is text": {"candidates": [{"id": "a", "score": 0.5}], "truncated_below": {"bm25": "1"}},
    "a list": [1],
    "null": None,
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_cannot_be(sqlite_service, name):
    answer = sqlite_service.http.post("/v1/streams/docs/rounds", json=BODIES[name])
    document = problem(answer, 422, "invalid-request")
    assert document["errors"][0]["where"]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"candidates": [{"id": "a", "score": NaN}]}',
        b'{"candidates": [{"id": "a", "score": 1e999}]}',
        b'{"candidates": [{"id": "a", "score": -Infinity}]}',
        b'{"candidates": [{"id": "\\ud800", "score": 0.5}]}',
        b'{"candidates": [{"id": "a", "score": 0.5, "text": "\\ud800"}]}',
        b'{"candidates": [{"id": "a", "score": 0.5}], "question": "\\ud800"}',
        b'{"candidates": [{"id": "a", "score": ' + b"9" * 5000 + b"}]}",
        b'{"candidates": [{"id": ' + b"9" * 5000 + b', "score": 0.5}]}',
        b"[" * 100_000,
        b"\xff\xfe",
        b"{",
        b"",
    ],
    ids=lambda raw: raw[:40].decode("latin-1"),
)
def test_bytes_that_are_not_what_they_seem(sqlite_service, raw):
    answer = sqlite_service.http.post("/v1/streams/docs/rounds", content=raw, headers=JSON)
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in answer.text
    assert sqlite_service.http.get("/v1/streams/docs").json()["events"] == 0


def plain(columns):
    ids, scores, texts = columns
    return ids, scores.tolist(), texts


def test_a_round_in_columns():
    body = NewRound(candidates=[{"id": "a", "score": 0.5}, {"id": 7, "score": 0.25, "text": ""}])
    assert plain(body.columns()) == (["a", 7], [0.5, 0.25], [None, ""])
    assert plain(NewRound(candidates=[{"id": "a", "score": 0.5}]).columns()) == (["a"], [0.5], None)
    assert plain(NewRound(candidates=[], allow_empty=True).columns()) == ([], [], None)


def test_several_scores_in_columns():
    """Names are the union over the candidates, in the order in which they come; null and left out are the same."""
    body = NewRound(
        candidates=[{"id": 1, "scores": {"bm25": 7.0}}, {"id": 2, "scores": {"dense": 0.5, "bm25": None}}],
        truncated_below={"bm25": 7.0},
    )
    _, scores, _ = body.columns()
    assert list(scores) == ["bm25", "dense"]
    assert np.array_equal(list(scores.values()), [[7.0, np.nan], [np.nan, 0.5]], equal_nan=True)


@pytest.mark.parametrize(
    "candidates",
    [
        [{"id": "a", "score": 0.5}, {"id": "b", "scores": {"bm25": 1.0}}],
        [{"id": "a", "score": 0.5, "scores": {"bm25": 1.0}}],
        [{"id": "a"}],
        [{"id": "a", "scores": {"bm25": 1.0}}, {"id": "b"}],
        [{"id": "a", "scores": {"bm25": 1.0}}, {"id": "b", "scores": {"bm25": 1.0}, "score": 0.5}],
    ],
    ids=str,
)
def test_one_score_or_several_for_all_candidates(sqlite_service, candidates):
    answer = sqlite_service.http.post("/v1/streams/docs/rounds", json={"candidates": candidates})
    assert "every candidate its scores" in problem(answer, 422, "invalid-scores")["detail"]
    assert sqlite_service.http.get("/v1/streams/docs").json()["events"] == 0


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"hit": 7}, ("hit", 7)),
        ({"hit": "a"}, ("hit", "a")),
        ({"miss": True}, ("miss", None)),
        ({"skip": True}, ("skip", None)),
        ({"absent": True}, ("absent", None)),
    ],
)
def test_an_answer_has_one_outcome(answer, outcome):
    assert NewAnswer(**answer).outcome() == outcome
    assert RoundAnswer(round_id="r", **answer).outcome() == outcome


@pytest.mark.parametrize(("kind", "most"), [("candidates", MOST_CANDIDATES), ("answers", MOST_ANSWERS)])
def test_lists_have_a_largest_size(kind, most):
    model, each = {
        "candidates": (NewRound, {"id": "a", "score": 0.5}),
        "answers": (Answers, {"round_id": "r", "miss": True}),
    }[kind]
    model.model_validate({kind: [each] * most})
    with pytest.raises(ValidationError, match=f"at most {most} items"):
        model.model_validate({kind: [each] * (most + 1)})
