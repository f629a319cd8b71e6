"""Streams: listed, and watched live."""

import concurrent.futures
import json
import threading

import httpx
import numpy as np

from shortlist.rounds.codec import encode, to_json
from shortlist.scores import learn
from shortlist.service.store import Reader
from tests.service.running import running
from tests.service.web.checks import problem


def test_live_tells_of_changes_until_the_stream_is_gone(service):
    service.make()
    summaries = []
    first, second = threading.Event(), threading.Event()

    def listen():
        with service.http.stream("GET", "/v1/streams/docs/live") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                if line.startswith('data: {"'):
                    summaries.append(json.loads(line.removeprefix("data: ")))
                    (first if len(summaries) == 1 else second).set()
        return True

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        listening = pool.submit(listen)
        assert first.wait(20)
        assert summaries[0]["rounds"] == 0
        service.propose()
        assert second.wait(20)
        assert summaries[-1]["rounds"] == 1
        assert summaries[-1]["error_budget"] == service.http.get("/v1/streams/docs").json()["error_budget"]
        assert summaries[-1]["error_budget"]["size"] == 20
        service.http.delete("/v1/streams/docs")
        assert listening.result(20)
    problem(service.http.get("/v1/streams/docs/live"), 404, "unknown-stream")


def test_pages_of_streams_do_not_end_early(sqlite, monkeypatch):
    with running(sqlite) as service:
        for i in range(6):
            service.make(f"s{i}")
        with service.engine.store.reading() as reader:
            rows = reader.streams()
        service.http.delete("/v1/streams/s1")  # and yet it is on the page: it goes while that is being made

        def before_it_went(_reader, after, limit):
            return [row for row in rows if row.name > after][:limit]

        monkeypatch.setattr(Reader, "streams", before_it_went)
        found, after = [], ""
        while after is not None:
            page = service.http.get("/v1/streams", params={"after": after, "limit": 2}).json()
            found += [stream["name"] for stream in page["streams"]]
            after = page["next"]
        assert found == ["s0", "s2", "s3", "s4", "s5"]


def test_a_learned_score_is_a_setting(sqlite_service):
    """From an evaluation set, or from another stream: no complete lists are spent on it."""
    rng = np.random.default_rng(0)
    lists = rng.normal(size=(60, 8, 2))
    score = encode(learn(lists, (lists @ [2.0, 1.0]).argmax(axis=1), ["dense", "bm25"]))
    body = {"name": "hybrid", "coverage": 0.9, "score": score}
    assert sqlite_service.http.post("/v1/streams", json=body).status_code == 201
    assert sqlite_service.http.post("/v1/streams", json=body).status_code == 200
    other = {"score": score | {"relative": [1.0, 1.0]}}
    problem(sqlite_service.http.post("/v1/streams", json=body | other), 409, "conflicting-stream")
    view = sqlite_service.http.get("/v1/streams/hybrid").json()
    assert view["settings"]["score"] == json.loads(to_json(score))
    assert (view["score"], view["fit_rounds"], view["fit_picks"], view["learned"]) == ("learned", None, None, None)
    assert list(view["scorers"]) == ["dense", "bm25"]
    wrong = {"candidates": [{"id": "a", "score": 0.5}]}
    problem(sqlite_service.http.post("/v1/streams/hybrid/rounds", json=wrong), 422, "invalid-scores")
    listed = [{"id": "a", "scores": {"bm25": 7.0}}, {"id": "b", "scores": {"dense": 2.0, "bm25": 1.0}}]
    sqlite_service.http.post("/v1/streams/hybrid/rounds", json={"candidates": listed, "round_id": "r1"})
    sqlite_service.answer("r1", {"hit": "b"}, stream="hybrid")
    assert sqlite_service.http.get("/v1/streams/hybrid").json()["counted"] == 1  # from the first round on


def test_the_score_of_one_stream_is_the_setting_of_another(sqlite_service, constants):
    constants(picks=3)
    sqlite_service.make("teacher", delta=0.01)
    sqlite_service.play(3, stream="teacher")
    learned = sqlite_service.http.get("/v1/streams/teacher").json()["learned"]
    assert learned["rounds"] == 3
    made = sqlite_service.make("pupil", score=learned).json()
    assert made["settings"]["score"] == learned


def test_scores_that_cannot_be_a_setting(sqlite_service):
    good = {"kind": "learned", "scorers": ["a", "b"], "relative": [1, 1], "absolute": [0, 0]}
    for wrong, kind in (
        (good | {"relative": [1]}, "invalid-parameter"),
        (good | {"scorers": ["a", "a"]}, "invalid-parameter"),
        (good | {"scorers": []}, "invalid-request"),
        (good | {"spread": [1, 0]}, "invalid-request"),
        (good | {"form": "other"}, "invalid-request"),
        (good | {"heat": 1}, "invalid-request"),
        ({"kind": "learned"}, "invalid-request"),
        ({"kind": "custom"}, "invalid-request"),
        ("learned", "invalid-request"),
    ):
        body = {"name": "x", "coverage": 0.9, "score": wrong}
        problem(sqlite_service.http.post("/v1/streams", json=body), 422, kind)


def test_only_so_many_listen(sqlite_service, monkeypatch):
    monkeypatch.setattr("shortlist.service.web.routes.streams._MOST_LISTENERS", 1)
    with sqlite_service.http.stream("GET", "/v1/streams/docs/live") as answer:
        lines = answer.iter_lines()  # held: it ends the response when it goes
        next(line for line in lines if line.startswith("event:"))
        other = httpx.get(f"{sqlite_service.url}/v1/streams/docs/live", timeout=20)
        problem(other, 503, "service-unavailable")
        assert "close some" in other.json()["detail"]
