"""Routes with a body, the short way: the same answers as the framework's own way."""

import pytest
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter

from shortlist.service.web import body_route
from shortlist.service.web.body_route import BodyRoute, _reader
from shortlist.service.web.learning_requests import NewExamples
from shortlist.service.web.requests import Answers, MoreAsked, NewRound
from shortlist.service.web.routes import batches, rounds
from tests.service.web.checks import JSON, problem

BODY = b'{"candidates": [{"id": "a", "score": 0.5}]}'


def test_the_busy_routes_take_it():
    assert {route.operation_id for route in rounds.router.routes} == {"propose", "more", "answer"}
    assert {route.operation_id for route in batches.router.routes} == {"propose_many", "answer_many"}
    assert all(isinstance(route, BodyRoute) for route in (*rounds.router.routes, *batches.router.routes))


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
    answer = sqlite_service.http.put("/v1/streams/docs/rounds/%01/feedback", json={"miss": True})
    assert problem(answer, 422, "invalid-request")["errors"][0]["where"] == "round_id"


UNKNOWN = ",".join(f'"{i}":1' for i in range(150_000))
ATTACKS = {
    "unknown fields of a candidate": (NewRound, f'{{"candidates":[{{"id":"a","score":1,{UNKNOWN}}}]}}'),
    "unknown fields": (NewRound, f'{{"candidates":[],{UNKNOWN}}}'),
    "candidates of wrong type": (NewRound, f'{{"candidates":[{",".join(["1"] * 10_000)}]}}'),
    "scores": (NewRound, f'{{"candidates":[{{"id":1,"scores":{{{UNKNOWN.replace("1,", "true,")}}}}}]}}'),
    "picks": (Answers, f'{{"answers":[{{"round_id":"a","hit":[{",".join(["[]"] * 500_000)}]}}]}}'),
    "labelled lists": (NewExamples, f'{{"right":[0],"lists":[{",".join(["[true]"] * 250_000)}]}}'),
    "labelled rows": (NewExamples, f'{{"right":[0],"lists":[[{",".join(["[true]"] * 250_000)}]]}}'),
    "what is right": (NewExamples, f'{{"lists":[[1]],"right":[[{",".join(["true"] * 250_000)}]]}}'),
    "a number that is none": (MoreAsked, f'{{"count":[{",".join(["[]"] * 500_000)}]}}'),
}


@pytest.mark.parametrize(("model", "body"), ATTACKS.values(), ids=ATTACKS)
def test_a_body_that_is_wrong_in_many_ways_has_few_errors(model, body):
    """Each error costs time, in which nothing else is served, and memory."""
    with pytest.raises(RequestValidationError) as caught:
        _reader(TypeAdapter(model))(body.encode())
    assert 0 < len(caught.value.errors()) <= 4


def test_a_body_that_is_wrong_in_many_ways_is_refused_in_one_sentence(sqlite_service):
    _, body = ATTACKS["unknown fields of a candidate"]
    answer = sqlite_service.http.post("/v1/streams/docs/rounds", content=body.encode(), headers=JSON)
    detail = problem(answer, 422, "invalid-request")["detail"]
    assert detail.startswith("body: it is wrong in 150,000 places; compare it with /openapi.json")
    answer = sqlite_service.http.post("/v1/streams", content=f"{{{UNKNOWN}}}".encode(), headers=JSON)
    problem(answer, 422, "invalid-request")


def test_lists_and_objects_have_a_largest_number(monkeypatch):
    body, read = b'{"candidates":[{"id":1,"score":1,"text":"[{"}]}', _reader(TypeAdapter(NewRound))
    monkeypatch.setattr(body_route, "_MOST_BRACKETS", 5)
    assert read(body).candidates[0].id == 1
    monkeypatch.setattr(body_route, "_MOST_BRACKETS", 4)
    with pytest.raises(RequestValidationError) as caught:
        read(body)
    assert [each["msg"] for each in caught.value.errors()] == [
        "it has more than 4 lists and objects; send less at once"
    ]


@pytest.mark.parametrize("extra", ["", ',"round_id":"a"', ',"question":"b\\u003ac"'])
def test_many_fields_are_read_like_few(extra):
    """Where there are many it is looked at first whether they are known: that must not change what is taken."""
    body = many_fields(extra)
    assert body.count(b":") > 40_000  # from there on it is looked at
    assert _reader(TypeAdapter(NewRound))(body) == NewRound.model_validate_json(body)


@pytest.mark.parametrize("extra", [',"nobody":1', ',"nobody":1,"question":"b\\u003ac"'])
def test_one_unknown_field_among_many_is_named(extra):
    with pytest.raises(RequestValidationError) as caught:
        _reader(TypeAdapter(NewRound))(many_fields(extra))
    assert [each["loc"] for each in caught.value.errors()] == [("body", "nobody")]


def many_fields(extra):
    scores = ",".join(f'{{"id":{i},"scores":{{"a:b":1.5,"c":null,"d":2,"e":0.5}}}}' for i in range(9_000))
    return f'{{"round_id":"a","question":"why: not","candidates":[{scores}]{extra}}}'.encode()
