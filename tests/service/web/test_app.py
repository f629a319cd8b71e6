"""The app as a whole: a stream over HTTP from first to last."""

import pytest

from shortlist.service.web import create_app
from tests.service.running import running
from tests.service.web.checks import problem


def test_a_stream_from_first_to_last(service):
    made = service.make(policy={"kind": "anytime", "delta": 0.1}, score="relative", on_drift="report")
    assert made.status_code == 201
    assert made.json()["threshold"] is None  # minus infinity
    assert made.json()["score"] == "relative(0.4)"
    again = service.make(policy={"kind": "anytime", "delta": 0.1}, score="relative", on_drift="report")
    assert again.status_code == 200
    problem(service.http.post("/v1/streams", json={"name": "docs", "coverage": 0.8}), 409, "conflicting-stream")
    shown = service.propose(round_id="r1", question="Where?", truncated_below=-5)
    assert shown.status_code == 201
    listed = {"round_id": "r1", "threshold": None, "members": ["b", "a"], "reached": 2, "truncated": True}
    more = {"added": 0, "explored": False, "kept": 2, "comparable": pytest.approx([0.99330715, 0.00669285])}
    assert shown.json() == listed | more
    again = service.propose(round_id="r1", question="Where?", truncated_below=-5)
    assert again.status_code == 200
    assert again.json() == shown.json()
    problem(service.propose(round_id="r1"), 409, "conflicting-round")
    taken = service.answer("r1", {"hit": "b"})
    assert taken.status_code == 200
    assert taken.json() == {"round_id": "r1", "answer": {"hit": "b"}, "threshold": None}
    assert service.answer("r1", {"hit": "b"}).json() == taken.json()
    problem(service.answer("r1", {"miss": True}), 409, "conflicting-answer")
    problem(service.answer("r2", {"miss": True}), 404, "unknown-round")
    problem(service.propose(stream="nowhere"), 404, "unknown-stream")
    own = service.propose().json()["round_id"]
    problem(service.answer(own, {"hit": "z"}), 422, "not-shown")
    assert service.answer(own, {"absent": True}).status_code == 200
    summary = service.http.get("/v1/streams/docs").json()
    assert (summary["rounds"], summary["hits"], summary["absent"], summary["open"]) == (2, 1, 1, 0)
    assert summary["coverage_interval"][0] < summary["coverage_seen"] == 1.0
    assert summary["drift"]["level"] >= 0
    assert summary["score_why"] == "as set"
    assert [each["name"] for each in service.http.get("/v1/streams").json()["streams"]] == ["docs"]
    assert service.http.delete("/v1/streams/docs").status_code == 204
    problem(service.http.get("/v1/streams/docs"), 404, "unknown-stream")


def test_the_app_without_keys_lets_everybody_in(sqlite):
    assert create_app(sqlite).title == "shortlist"
    with running(sqlite) as service:
        assert service.http.get("/v1/streams").status_code == 200
