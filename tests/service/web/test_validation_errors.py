"""What is wrong with a request, in words."""

import pytest

from shortlist.service.web.fields import PATTERNS
from tests.service.web.checks import problem

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


def test_of_a_large_body_nothing_is_repeated(sqlite_service):
    """Every error would have its object once more, and all of them are made while others wait."""
    many = [{"id": i, "score": 0.5} for i in range(9_000)]
    answer = sqlite_service.http.post(
        "/v1/streams/docs/rounds", json={"candidates": [*many, {"id": "a", "score": "x"}]}
    )
    assert problem(answer, 422, "invalid-request")["detail"] == "candidates[9000].score should be a number"


def test_every_pattern_of_the_document_has_its_words(sqlite_service):
    def patterns(part):
        if isinstance(part, dict):
            yield from (value for key, value in part.items() if key == "pattern" and isinstance(value, str))
            part = list(part.values())
        for each in part if isinstance(part, list) else ():
            yield from patterns(each)

    assert set(patterns(sqlite_service.http.get("/openapi.json").json())) == set(PATTERNS)
