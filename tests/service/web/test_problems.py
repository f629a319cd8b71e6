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


A = {"id": "a", "score": 0.5}


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "candidates is missing"),
        ({"candidates": "x"}, 'candidates is "x": it should be an array'),
        ({"candidates": [A | {"score": None}]}, "candidates[0].score is null: it should be a number"),
        ({"candidates": [A | {"id": 1.5}]}, "candidates[0].id is 1.5: it should be a string or an integer"),
        ({"candidates": [A | {"id": [1]}]}, "candidates[0].id is a list: it should be a string or an integer"),
        ({"candidates": [A | {"id": {}}]}, "candidates[0].id is an object: it should be a string or an integer"),
        ({"candidates": [A | {"score": "é" * 99}]}, f'candidates[0].score is "{"é" * 40}…": it should be a number'),
        (
            {"candidates": [A | {"id": 10**30}]},
            "candidates[0].id is a very large number: it should be a string or less than or equal to 9007199254740991",
        ),
        ({"candidate": [A]}, "candidates is missing; candidate is not a field of this request: check its spelling"),
        (
            {"candidates": [A], "round_id": "a/b"},
            'round_id is "a/b": it should have 1 to 128 characters, no slash, and no control characters but tab and '
            "newline",
        ),
    ],
)
def test_what_was_sent_and_what_it_should_be(sqlite_service, body, detail):
    assert (
        problem(sqlite_service.http.post("/v1/streams/docs/rounds", json=body), 422, "invalid-request")["detail"]
        == detail
    )


@pytest.mark.parametrize(
    "path", ["/v1/streams/a b", "/v1/streams/docs/rounds?limit=x", "/v1/streams/docs/rounds?limit=0"]
)
def test_parameters_too(sqlite_service, path):
    detail = problem(sqlite_service.http.get(path), 422, "invalid-request")["detail"]
    assert ": it should " in detail
    assert "Input" not in detail
    assert "pattern" not in detail


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
