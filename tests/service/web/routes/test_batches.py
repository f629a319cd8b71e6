"""Many lists, or many answers, in one request."""

from shortlist.service.store import Store
from tests.service.running import running
from tests.service.web.checks import problem

LISTED = [{"id": "a", "score": 0.3}, {"id": "b", "score": 0.9}]


def rounds(count):
    return [{"round_id": f"r{i}", "candidates": LISTED} for i in range(count)]


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


def test_an_unknown_stream_is_one_error(sqlite_service):
    bodies = {"feedback": {"answers": [{"round_id": "r", "miss": True}]}, "rounds:batch": {"rounds": rounds(1)}}
    for path, body in bodies.items():
        problem(sqlite_service.http.post(f"/v1/streams/nowhere/{path}", json=body), 404, "unknown-stream")
        answer = sqlite_service.http.post(f"/v1/streams/-a/{path}", json=body)
        assert problem(answer, 422, "invalid-request")["errors"][0]["where"] == "name"


def test_answers_to_large_lists_are_not_all_in_memory_at_once(sqlite, monkeypatch):
    from shortlist.service.engine import paging  # noqa: PLC0415

    monkeypatch.setattr(paging, "_TOGETHER", 300_000)
    large = [{"id": f"candidate {i}", "score": i / 7} for i in range(2_000)]
    with running(sqlite) as service:
        service.make(score="raw", delta=0.01)
        for i in range(12):
            service.http.post("/v1/streams/docs/rounds", json={"candidates": large, "round_id": f"r{i}"})
    fetched, begin = [], Store.begin

    def noted(store, folded, keys, patient):
        fetched.append(len(keys))
        return begin(store, folded, keys, patient)

    monkeypatch.setattr(Store, "begin", noted)
    with running(sqlite) as service:  # which has none of them in memory
        answers = [{"round_id": f"r{i}", "hit": "candidate 7"} for i in range(12)]
        reply = service.http.post("/v1/streams/docs/feedback", json={"answers": answers})
        assert [each["status"] for each in reply.json()["results"]] == [200] * 12
    assert sum(fetched) == 12
    assert max(fetched) <= 6
