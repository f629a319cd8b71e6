"""The contract's calls, as a program sees them."""

import concurrent.futures
import json
import threading

import pytest

JSON = {"content-type": "application/json"}


def problem(answer, status, kind):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"urn:shortlist:problem:{kind}"
    assert document["status"] == status
    assert document["detail"]
    return document


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
    assert shown.json() == {"round_id": "r1", "threshold": None, "members": ["b", "a"], "reached": 2, "truncated": True}
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


def test_the_log_in_pages(service):
    service.make()
    for i in range(5):
        listed = [{"id": "<b>", "score": 0.5, "text": "a text"}, {"id": 7, "score": 0.1}]
        body = {"candidates": listed, "round_id": f"r{i}", "question": "Why?"}
        service.http.post("/v1/streams/docs/rounds", json=body)
    service.answer("r0", {"hit": 7})
    page = service.http.get("/v1/streams/docs/rounds", params={"limit": 2}).json()
    assert [each["round_id"] for each in page["rounds"]] == ["r0", "r1"]
    first = page["rounds"][0]
    assert first["answer"] == {"hit": 7}
    assert first["question"] == "Why?"
    why = "no threshold yet: everything is shown"
    known = {"id": "<b>", "score": 0.5, "comparable": 0.5, "shown": True, "why": why, "text": "a text"}
    assert first["candidates"][0] == known
    assert first["answered_at"] >= first["shown_at"]
    rest = service.http.get("/v1/streams/docs/rounds", params={"after": page["next"]}).json()
    assert [each["round_id"] for each in rest["rounds"]] == ["r2", "r3", "r4"]
    assert rest["next"] is None
    waiting = service.http.get("/v1/streams/docs/rounds", params={"open": "true"}).json()
    assert [each["round_id"] for each in waiting["rounds"]] == ["r1", "r2", "r3", "r4"]
    assert service.http.get("/v1/streams/docs/rounds/r0").json() == first


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


BODIES = {
    "no list": {},
    "text for a score": {"candidates": [{"id": "a", "score": "0.5"}]},
    "true for a score": {"candidates": [{"id": "a", "score": True}]},
    "true for an id": {"candidates": [{"id": True, "score": 0.5}]},
    "half a number for an id": {"candidates": [{"id": 0.5, "score": 0.5}]},
    "something unknown": {"candidates": [{"id": "a", "score": 0.5}], "surprise": 1},
    "an id that is too long": {"candidates": [{"id": "a" * 501, "score": 0.5}]},
    "a bad round id": {"candidates": [{"id": "a", "score": 0.5}], "round_id": "a b"},
    "a list": [1],
    "null": None,
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_cannot_be(sqlite_service, name):
    answer = sqlite_service.http.post("/v1/streams/docs/rounds", json=BODIES[name])
    document = problem(answer, 422, "invalid-request")
    assert document["errors"][0]["where"]


def test_a_search_that_found_nothing_is_a_round_if_it_says_so(sqlite_service):
    refused = sqlite_service.http.post("/v1/streams/docs/rounds", json={"candidates": []})
    assert "allow_empty" in problem(refused, 422, "no-candidates")["detail"]
    before = sqlite_service.http.get("/v1/streams/docs").json()
    shown = sqlite_service.http.post("/v1/streams/docs/rounds", json={"candidates": [], "allow_empty": True})
    assert (shown.status_code, shown.json()["members"], shown.json()["truncated"]) == (201, [], False)
    assert sqlite_service.answer(shown.json()["round_id"], {"miss": True}).status_code == 200
    after = sqlite_service.http.get("/v1/streams/docs").json()
    assert (after["rounds"], after["misses"]) == (before["rounds"] + 1, before["misses"] + 1)


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


def test_errors_say_where_in_words(sqlite_service):
    answer = sqlite_service.http.post(
        "/v1/streams/docs/rounds", json={"candidates": [{"id": "a", "score": 1}, {"id": "b", "score": "high"}]}
    )
    assert answer.json()["detail"] == "candidates[1].score: Input should be a valid number"
    for path, why in (
        ("/v1/streams/docs/rounds", "expected value at line 1 column 19"),
        ("/v1/streams", "Expecting value"),
    ):
        answer = sqlite_service.http.post(path, content=b'{"candidates": [1,}', headers=JSON)
        assert answer.json()["detail"] == f"the body is not JSON: {why}"
    answer = sqlite_service.http.put("/v1/streams/docs/rounds/r/feedback", json={"hit": "a", "miss": True})
    assert answer.json()["detail"].startswith('body: give exactly one of {"hit": id}')
    answer = sqlite_service.http.put("/v1/streams/docs/rounds/r/feedback", json={"miss": False})
    assert answer.status_code == 422
    answer = sqlite_service.http.patch("/v1/streams/docs")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) >= {"GET", "DELETE"}
    assert sqlite_service.http.get("/nowhere").headers["content-type"] == "application/problem+json"


@pytest.fixture
def sqlite_service(sqlite):
    from tests.service.running import running  # noqa: PLC0415

    with running(sqlite) as service:
        service.make()
        yield service


def test_live_tells_of_changes_until_the_stream_is_gone(service):
    service.make()
    told = []
    first, second = threading.Event(), threading.Event()

    def listen():
        with service.http.stream("GET", "/v1/streams/docs/live") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                if line.startswith('data: {"name"'):
                    told.append(json.loads(line.removeprefix("data: ")))
                    (first if len(told) == 1 else second).set()
        return True

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        listening = pool.submit(listen)
        assert first.wait(20)
        assert told[0]["rounds"] == 0
        service.propose()
        assert second.wait(20)
        assert told[-1]["rounds"] == 1
        service.http.delete("/v1/streams/docs")
        assert listening.result(20)
    problem(service.http.get("/v1/streams/docs/live"), 404, "unknown-stream")


def test_it_is_alive_and_ready(service):
    assert service.http.get("/healthz").json()["status"] == "ok"
    assert service.http.get("/readyz").json() == {"status": "ready"}


def test_two_people_answer_at_the_same_instant(service):
    """A thousand times, with different answers: one wins, the other hears so, and the state is one of the two."""
    times = 1000 if "sqlite" in service.engine.store.shown_address else 300
    service.make()
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
