"""Routes with a body, the short way: the same answers as the framework's own way."""

import pytest

from shortlist.service.web.bodies import BodyRoute
from shortlist.service.web.routes import rounds
from tests.service.web.checks import problem

BODY = b'{"candidates": [{"id": "a", "score": 0.5}]}'


def test_the_busy_routes_take_it():
    assert {route.operation_id for route in rounds.router.routes} == {"propose", "more", "answer", "answer_many"}
    assert all(isinstance(route, BodyRoute) for route in rounds.router.routes)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.lists+json"])
def test_json_by_any_of_its_names(sqlite_service, kind):
    answer = sqlite_service.http.post("/v1/streams/docs/rounds", content=BODY, headers={"Content-Type": kind})
    assert answer.status_code == 201


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonl", ""])
@pytest.mark.parametrize("path", ["/v1/streams/docs/rounds", "/v1/streams"], ids=["short way", "framework"])
def test_another_content_type_is_refused(sqlite_service, kind, path):
    answer = sqlite_service.http.post(path, content=BODY, headers={"Content-Type": kind})
    document = problem(answer, 422, "invalid-request")
    assert document["detail"] == "send JSON, with the header Content-Type: application/json"


def test_names_in_the_path_are_checked_as_in_other_routes(sqlite_service):
    body = {"candidates": [{"id": "a", "score": 0.5}]}
    short = problem(sqlite_service.http.post("/v1/streams/-a/rounds", json=body), 422, "invalid-request")
    framework = problem(sqlite_service.http.get("/v1/streams/-a/rounds"), 422, "invalid-request")
    assert short == framework
    assert short["errors"][0]["where"] == "name"
    answer = sqlite_service.http.put("/v1/streams/docs/rounds/-r/feedback", json={"miss": True})
    assert problem(answer, 422, "invalid-request")["errors"][0]["where"] == "round_id"
