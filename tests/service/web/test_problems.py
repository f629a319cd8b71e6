"""Errors as problem documents."""

import pytest

from shortlist.errors import (
    ConflictingAnswer,
    DamagedLog,
    InvalidParameter,
    NotShown,
    RoundClosed,
    StoreUnavailable,
    UnknownRound,
    UnknownStream,
    problem_name,
)
from shortlist.service.web import problems
from tests.service.web.checks import JSON, problem


def test_errors_say_where_in_words(sqlite_service):
    answer = sqlite_service.http.post(
        "/v1/streams/docs/rounds", json={"candidates": [{"id": "a", "score": 1}, {"id": "b", "score": "high"}]}
    )
    assert answer.json()["detail"] == 'candidates[1].score is "high": it should be a number'
    assert answer.json()["errors"] == [{"where": "candidates[1].score", "what": 'is "high": it should be a number'}]
    for path in ("/v1/streams/docs/rounds", "/v1/streams"):
        answer = sqlite_service.http.post(path, content=b'{"candidates": [1,}', headers=JSON)
        assert answer.json()["detail"] == "the body is not JSON: expected value at line 1 column 19"
    answer = sqlite_service.http.put("/v1/streams/docs/rounds/r/feedback", json={"hit": "a", "miss": True})
    assert answer.json()["detail"].startswith('body: give exactly one of {"hit": id}')
    answer = sqlite_service.http.put("/v1/streams/docs/rounds/r/feedback", json={"miss": False})
    assert answer.status_code == 422
    answer = sqlite_service.http.put("/v1/streams/docs")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) >= {"GET", "DELETE", "PATCH"}
    assert sqlite_service.http.get("/nowhere").headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownStream, 404),
        (UnknownRound, 404),
        (RoundClosed, 410),
        (ConflictingAnswer, 409),
        (NotShown, 422),
        (InvalidParameter, 422),
        (DamagedLog, 500),
    ],
)
def test_each_error_has_its_status(error, status):
    document = problems.problem(error("what was wrong"))
    assert (document["status"], document["detail"]) == (status, "what was wrong")
    assert document["type"] == f"urn:shortlist:problem:{problem_name(error)}"


def test_an_error_that_nobody_expected_says_nothing_of_itself(sqlite_service, monkeypatch):
    async def fail(*_, **__):
        raise RuntimeError("a secret")

    monkeypatch.setattr(sqlite_service.engine, "summary", fail)
    answer = sqlite_service.http.get("/v1/streams/docs")
    document = problem(answer, 500, "internal-error")
    assert document["detail"] == "the service failed; the log of the service says why"
    assert "a secret" not in answer.text


def test_a_store_that_is_away_says_when_to_ask_again(sqlite_service, monkeypatch):
    async def fail(*_, **__):
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(sqlite_service.engine, "propose", fail)
    answer = sqlite_service.propose()
    problem(answer, 503, "store-unavailable")
    assert answer.headers["retry-after"] == "1"


def test_why_the_database_is_away_is_told_to_the_log_and_to_nobody_else(sqlite_service, monkeypatch, caplog):
    """A driver's words have hosts, ports, roles and files in them; and some routes need no key."""
    why = 'connection to server at "10.1.2.3", port 5432 failed: FATAL: role "me" does not exist'

    async def fail(*_, **__):
        raise StoreUnavailable(f"the database did not accept this ({why}); nothing was stored: try again later")

    for name in ("check", "summary", "answer"):
        monkeypatch.setattr(sqlite_service.engine, name, fail)
    asked = {"X-Request-Id": "mine"}
    answers = [sqlite_service.http.get(path, headers=asked) for path in ("/readyz", "/v1/streams/docs")]
    for answer in answers:
        document = problem(answer, 503, "store-unavailable")
        assert document["detail"].endswith("the log of the service says why")
        assert answer.headers["x-request-id"] == "mine"
    many = {"answers": [{"round_id": "r", "miss": True}]}
    answers.append(sqlite_service.http.post("/v1/streams/docs/feedback", json=many))
    assert not [answer for answer in answers if "10.1.2.3" in answer.text or "5432" in answer.text]
    logged = [record.payload for record in caplog.records if record.name == "shortlist.access"]
    told = [each for each in logged if "why" in each]  # others are there, or not, by the level that is set
    assert [(each["request_id"], why in each["why"]) for each in told] == [("mine", True)] * 2


def test_a_body_that_is_no_text_is_said_so_on_every_route(sqlite_service):
    headers = {"Content-Type": "application/json"}
    for path in ("/v1/streams", "/v1/streams/docs/expire", "/v1/streams/docs/rounds"):
        answer = sqlite_service.http.post(path, content=b"\xff\xfe{\xff", headers=headers)
        problem(answer, 422, "invalid-request")


def test_every_method_of_a_path_is_allowed_whichever_route_has_it(sqlite_service):
    for path, methods in (("/v1/streams/docs/rounds", "GET, POST"), ("/v1/streams/docs", "DELETE, GET, PATCH")):
        answer = sqlite_service.http.put(path)
        problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == methods
