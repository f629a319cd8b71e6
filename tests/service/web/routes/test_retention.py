"""Closing old rounds, taking back what nobody saw, and erasing texts."""

import json

from tests.service.running import running
from tests.service.web.checks import problem

BODY = {"candidates": [{"id": "a", "score": 0.5}], "round_id": "r", "question": "am I pregnant"}
PATH = "/v1/streams/docs/rounds"


def test_of_a_question_that_was_erased_the_log_has_nothing(service):
    """A search query has little entropy: even a digest of it could be guessed."""
    service.make()
    service.http.post(PATH, json=BODY)
    service.http.post(PATH, json=BODY | {"round_id": "other", "question": "am I rich"})
    service.http.delete("/v1/streams/docs/texts")
    first, second = map(json.loads, service.http.get("/v1/streams/docs/export").text.splitlines())
    differing = [name for name in first if first[name] != second[name]]
    assert set(differing) <= {"number", "at", "round_id"}
    assert first["has_text"] is True


def test_a_request_is_known_again_by_its_texts_as_long_as_they_are_there(address):
    """Also by a service that has just started: what they are compared with is stored beside them."""
    for again in (False, True):
        with running(address) as service:
            service.make()
            assert service.http.post(PATH, json=BODY).status_code == (200 if again else 201)
            assert service.http.post(PATH, json={**BODY, "question": "am I rich"}).status_code == 409
            assert service.http.post(PATH, json={**BODY, "question": None}).status_code == 409
            assert service.http.post(PATH, json=BODY).status_code == 200
            assert service.http.get(f"{PATH}/r").json()["question"] == "am I pregnant"


def test_texts_are_erased_and_the_log_stays(service):
    service.make()
    listed = [{"id": "a", "score": 0.5, "text": "words"}]
    body = {"candidates": listed, "round_id": "r", "question": "my question"}
    service.http.post("/v1/streams/docs/rounds", json=body)
    assert service.http.delete("/v1/streams/docs/texts", params={"older_than": 3600}).json() == {"erased": 0}
    assert service.http.delete("/v1/streams/docs/texts").json() == {"erased": 1}
    found = service.http.get("/v1/streams/docs/rounds/r").json()
    assert (found["question"], found["candidates"][0]["text"]) == (None, None)
    assert service.http.post("/v1/streams/docs/rounds", json=body).status_code == 200  # it is still known again
    assert service.http.post("/v1/streams/docs/rounds", json={**body, "question": "?"}).status_code == 200
    bare = {**body, "question": None, "candidates": [{"id": "a", "score": 0.5}]}
    assert service.http.post("/v1/streams/docs/rounds", json=bare).status_code == 409  # there were some
    assert service.http.get("/v1/streams/docs/rounds/r").json()["question"] is None  # and none came back
    assert service.http.post("/v1/streams/docs/expire", json={"older_than": 3600}).json() == {"expired": 0}
    assert service.http.post("/v1/streams/docs/expire", json={"older_than": 0}).json() == {"expired": 1}
    assert service.answer("r", {"hit": "a"}).status_code == 410


def test_a_list_that_nobody_saw_is_taken_back(service):
    service.make("raw", score="raw")
    path = "/v1/streams/raw/rounds/{}"
    for name in ("r1", "r2"):
        service.propose(stream="raw", round_id=name)
    for _ in range(2):  # twice is once
        assert service.http.delete(path.format("r1")).status_code == 204
    problem(service.http.put(path.format("r1") + "/feedback", json={"miss": True}), 410, "round-closed")
    service.answer("r2", {"hit": "b"}, stream="raw")
    problem(service.http.delete(path.format("r2")), 409, "conflicting-answer")
    problem(service.http.delete(path.format("r3")), 404, "unknown-round")
    summary = service.http.get("/v1/streams/raw").json()
    assert (summary["withdrawn"], summary["open"], summary["counted"]) == (1, 0, 1)
    assert service.http.get(path.format("r1")).json()["answer"] == {"withdrawn": True}
    table = service.http.get("/v1/streams/raw/export", params={"format": "csv"}).text
    assert "r1" not in table
    assert "r2" in table
