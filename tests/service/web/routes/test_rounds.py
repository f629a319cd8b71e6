"""Showing lists and taking answers."""

import concurrent.futures
import json
import sys
import threading
from pathlib import Path

from shortlist.service import web
from tests.service.web.checks import problem


def test_a_search_that_found_nothing_is_a_round_if_it_says_so(sqlite_service):
    refused = sqlite_service.http.post("/v1/streams/docs/rounds", json={"candidates": []})
    assert "allow_empty" in problem(refused, 422, "no-candidates")["detail"]
    before = sqlite_service.http.get("/v1/streams/docs").json()
    shown = sqlite_service.http.post("/v1/streams/docs/rounds", json={"candidates": [], "allow_empty": True})
    assert (shown.status_code, shown.json()["members"], shown.json()["truncated"]) == (201, [], False)
    assert sqlite_service.answer(shown.json()["round_id"], {"miss": True}).status_code == 200
    after = sqlite_service.http.get("/v1/streams/docs").json()
    assert (after["rounds"], after["misses"]) == (before["rounds"] + 1, before["misses"] + 1)


def test_a_search_that_found_nothing_of_several_scorers(sqlite_service):
    sqlite_service.make("hybrid")
    path = "/v1/streams/hybrid/rounds"
    first = {"candidates": [{"id": "a", "scores": {"bm25": 7.0, "dense": 0.5}}]}
    assert sqlite_service.http.post(path, json=first).status_code == 201
    body = {"candidates": [], "allow_empty": True, "truncated_below": {"bm25": 3.0}}
    shown = sqlite_service.http.post(path, json=body)
    assert (shown.status_code, shown.json()["members"], shown.json()["truncated"]) == (201, [], True)


def test_bounds_of_no_scorer_are_no_bounds(sqlite_service):
    for body in ({"candidates": [], "allow_empty": True}, {"candidates": [{"id": "a", "score": 0.5}]}):
        shown = sqlite_service.http.post("/v1/streams/docs/rounds", json=body | {"truncated_below": {}})
        assert (shown.status_code, shown.json()["truncated"]) == (201, False)


def test_several_scores_for_each_candidate(service):
    """Missing where null or left out; the names of the first list are those of the stream."""
    service.make()
    listed = [{"id": "a", "scores": {"bm25": 7.0, "dense": None}}, {"id": "b", "scores": {"dense": 0.5}}]
    body = {"candidates": listed, "round_id": "r1", "truncated_below": {"bm25": 7.0}}
    shown = service.http.post("/v1/streams/docs/rounds", json=body)
    assert shown.status_code == 201
    assert shown.json()["truncated"]
    assert service.http.post("/v1/streams/docs/rounds", json=body).status_code == 200
    other = body | {"candidates": [listed[0], {"id": "b", "scores": {"dense": 0.5, "bm25": 0.0}}]}
    problem(service.http.post("/v1/streams/docs/rounds", json=other), 409, "conflicting-round")
    candidates = service.http.get("/v1/streams/docs/rounds/r1").json()["candidates"]
    assert [(each["score"], each["scores"]) for each in candidates] == [
        (None, {"bm25": 7.0, "dense": None}),
        (None, {"bm25": None, "dense": 0.5}),
    ]
    part = {"candidates": [{"id": "a", "scores": {"bm25": 3.0}}]}  # the other search found nothing
    assert service.http.post("/v1/streams/docs/rounds", json=part).status_code == 201
    for wrong, message in (
        ({"candidates": [{"id": "a", "scores": {"recency": 3.0}}]}, "those of the first round were of 'bm25', 'dense'"),
        ({"candidates": [{"id": "a", "score": 3.0}]}, "of one scorer without a name"),
        ({"candidates": [*listed, {"id": "c", "scores": {"bm25": None}}]}, "candidate 2 has no score at all"),
        ({"candidates": [{"id": "c", "scores": {"bm25": None}}]}, "scores must be finite"),
    ):
        answer = service.http.post("/v1/streams/docs/rounds", json=wrong)
        assert message in problem(answer, 422, "invalid-scores")["detail"]
    for below, message in (({"recency": 1.0}, "names 'recency'"), (7.0, "there are 2 scorers")):
        answer = service.http.post("/v1/streams/docs/rounds", json=part | {"truncated_below": below})
        assert message in problem(answer, 422, "invalid-parameter")["detail"]
    assert service.http.get("/v1/streams/docs").json()["events"] == 2


def test_one_scorer_may_have_a_name(sqlite_service):
    for _ in range(2):
        listed = [{"id": "a", "scores": {"bm25": 7.0}}, {"id": "b", "scores": {"bm25": 3.0}}]
        body = {"candidates": listed, "truncated_below": {"bm25": 3.0}, "round_id": "r1"}
        assert sqlite_service.http.post("/v1/streams/docs/rounds", json=body).is_success
    first = sqlite_service.http.get("/v1/streams/docs/rounds/r1").json()["candidates"][0]
    assert (first["score"], first["scores"]) == (7.0, {"bm25": 7.0})


def test_two_people_answer_at_the_same_instant(service):
    """A thousand times, with different answers: one wins, the other hears so, and the state is one of the two."""
    times = 1000 if "sqlite" in service.engine.store.shown_address else 300
    service.make(score="raw")
    together = threading.Barrier(2)

    def person(answer):
        import httpx  # noqa: PLC0415

        with httpx.Client(base_url=service.url, timeout=30) as http:
            seen = []
            for i in range(times):
                if answer == {"hit": "a"}:
                    service.propose(round_id=f"r{i}")
                together.wait()
                seen.append(http.put(f"/v1/streams/docs/rounds/r{i}/feedback", json=answer).status_code)
                together.wait()
            return seen

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        one, two = pool.map(person, ({"hit": "a"}, {"miss": True}))
    assert [sorted(pair) for pair in zip(one, two, strict=True)] == [[200, 409]] * times
    summary = service.http.get("/v1/streams/docs").json()
    assert (summary["hits"], summary["misses"], summary["open"]) == (one.count(200), two.count(200), 0)
    assert summary["events"] == 2 * times


def test_a_batch_for_an_unknown_stream_is_one_error(sqlite_service):
    body = {"answers": [{"round_id": "r1", "miss": True}] * 3}
    problem(sqlite_service.http.post("/v1/streams/nowhere/feedback", json=body), 404, "unknown-stream")


def test_work_per_candidate_is_not_done_in_python(sqlite_service):
    """The functions of `web` that one request calls are the same for ten candidates and for a thousand."""
    folder = str(Path(web.__file__).parent)

    def calls(count):
        seen = []

        def profile(frame, event, _):
            if event == "call" and frame.f_code.co_filename.startswith(folder):
                seen.append((frame.f_code.co_qualname, frame))  # the frame too, so that its id is not used again

        async def request():
            sys.setprofile(profile)
            try:
                await asgi(sqlite_service.app, f"r{count}", count)
            finally:
                sys.setprofile(None)

        sqlite_service.call(request())
        return sorted(name for name, _ in {id(frame): (name, frame) for name, frame in seen}.values())

    calls(1)  # what is looked up once
    assert calls(10) == calls(1000)


async def asgi(app, round_id, count):
    """Show a list, in the loop of the service."""
    listed = [{"id": f"c{i}", "score": i / count} for i in range(count)]
    body = json.dumps({"round_id": round_id, "candidates": listed}).encode()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/streams/docs/rounds",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        if message["type"] == "http.response.start":
            assert message["status"] == 201

    await app(scope, receive, send)
