"""Many lists, or many answers, in one request."""

import itertools

import pytest

from shortlist.service.store import Store
from tests.service.running import running
from tests.service.web.batches import LISTED, post_lines, rounds
from tests.service.web.checks import problem


def test_a_batch_of_answers(service):
    service.make()
    for i in range(4):
        service.propose(round_id=f"r{i}")
    answers = [
        {"round_id": "r0", "hit": "a"},
        {"round_id": "r1", "miss": True},
        {"round_id": "r2", "skip": True},
        {"round_id": "r0", "hit": "b"},
        {"round_id": "nothing", "miss": True},
        {"round_id": "r0", "hit": "a"},
    ]
    done = service.http.post("/v1/streams/docs/feedback", json={"answers": answers})
    assert done.status_code == 207
    assert [each["status"] for each in done.json()["results"]] == [200, 200, 200, 409, 404, 200]
    assert done.json()["results"][3]["problem"]["type"].endswith("conflicting-answer")
    assert service.http.get("/v1/streams/docs").json()["open"] == 1


def test_a_batch_of_lists(service):
    service.make(score="raw")
    alone = service.propose(round_id="r0").json()
    body = [*rounds(3), {"candidates": LISTED}, {"round_id": "r1", "candidates": LISTED[:1]}, {"candidates": []}]
    done = service.http.post("/v1/streams/docs/rounds:batch", json={"rounds": body})
    assert done.status_code == 207
    results = done.json()["results"]
    assert [each["status"] for each in results] == [200, 201, 201, 201, 409, 422]
    assert results[0] == alone | {"status": 200}
    assert [each["round_id"] for each in results[:3]] == ["r0", "r1", "r2"]
    assert len(results[3]["round_id"]) == 32
    assert results[4]["problem"]["type"].endswith("conflicting-round")
    assert results[5]["round_id"] is None
    assert service.http.get("/v1/streams/docs").json()["rounds"] == 4
    refused = service.http.post("/v1/streams/docs/rounds:batch", json={"rounds": rounds(1001)})
    assert "at most 1000" in problem(refused, 422, "invalid-request")["detail"]


def test_lists_and_answers_as_lines(service, monkeypatch):
    """Any number of them, in parts that share commits, each with its result, in order."""
    service.make(score="raw")
    commits, append = [], Store.append
    monkeypatch.setattr(
        Store, "append", lambda store, new, *more: commits.append(len(new)) or append(store, new, *more)
    )
    results = post_lines(service, "rounds:batch", rounds(1200))
    assert [(each["line"], each["round_id"], each["status"]) for each in results] == [
        (i + 1, f"r{i}", 201) for i in range(1200)
    ]
    assert results[7]["members"] == ["b", "a"]
    assert len(commits) <= 5
    answers = [{"round_id": f"r{i}", "hit": "b"} for i in range(1200)]
    results = post_lines(service, "feedback", answers, **{"Content-Type": "application/x-ndjson; charset=utf-8"})
    assert [each["status"] for each in results] == [200] * 1200
    assert results[-1] == {"line": 1200, "round_id": "r1199", "status": 200, "answer": {"hit": "b"}}
    assert sum(commits) == 2400
    assert len(commits) <= 10
    assert service.http.get("/v1/streams/docs").json()["hits"] == 1200


def test_an_unknown_stream_is_one_error(sqlite_service):
    for path, kind in itertools.product(("feedback", "rounds:batch"), ("application/jsonl", "application/x-ndjson")):
        answer = sqlite_service.http.post(
            f"/v1/streams/nowhere/{path}", content=b'{"miss": true}', headers={"Content-Type": kind}
        )
        problem(answer, 404, "unknown-stream")
        answer = sqlite_service.http.post(f"/v1/streams/-a/{path}", content=b"{}", headers={"Content-Type": kind})
        assert problem(answer, 422, "invalid-request")["errors"][0]["where"] == "name"


@pytest.mark.parametrize("form", ["json", "lines"])
def test_answers_to_large_lists_are_not_all_in_memory_at_once(sqlite, monkeypatch, form):
    from shortlist.service.engine import pages  # noqa: PLC0415

    monkeypatch.setattr(pages, "_TOGETHER", 300_000)
    large = [{"id": f"candidate {i}", "score": i / 7} for i in range(2_000)]
    with running(sqlite) as service:
        service.make(score="raw")
        for i in range(12):
            service.http.post("/v1/streams/docs/rounds", json={"candidates": large, "round_id": f"r{i}"})
    fetched, begin = [], Store.begin

    def noted(store, folded, keys, patient):
        fetched.append(len(keys))
        return begin(store, folded, keys, patient)

    monkeypatch.setattr(Store, "begin", noted)
    with running(sqlite) as service:  # which has none of them in memory
        answers = [{"round_id": f"r{i}", "hit": "candidate 7"} for i in range(12)]
        if form == "json":
            reply = service.http.post("/v1/streams/docs/feedback", json={"answers": answers})
            results = reply.json()["results"]
        else:
            results = post_lines(service, "feedback", answers)
        assert [each["status"] for each in results] == [200] * 12
    assert sum(fetched) == 12
    assert max(fetched) <= 6
