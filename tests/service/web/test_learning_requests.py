"""The bodies of a warm start and a restart."""

import pytest
from pydantic import ValidationError

from shortlist.service.web.learning_requests import MOST_LISTS, NewExamples, RestartRequest


def test_numbers_or_rows():
    plain = NewExamples.model_validate_json('{"lists": [[1, 0.5], [2]], "right": [0, -1]}')
    assert (plain.lists, plain.right, plain.scorers) == ([[1.0, 0.5], [2.0]], [0, -1], None)
    rows = NewExamples.model_validate_json('{"lists": [[[1, null]]], "right": [0.0], "scorers": ["a", "b"]}')
    assert (rows.lists, rows.right) == ([[[1.0, None]]], [0])


@pytest.mark.parametrize(
    "body",
    [
        '{"lists": [], "right": []}',
        '{"lists": [[1, [2]]], "right": [0]}',
        '{"lists": [[null]], "right": [0]}',
        '{"lists": [[1e999]], "right": [0]}',
        '{"lists": [["1"]], "right": [0]}',
        '{"lists": [[true]], "right": [0]}',
        '{"lists": [[1]], "right": [-2]}',
        '{"lists": [[1]], "right": [0.5]}',
        '{"lists": [[1]], "right": [0], "scorers": []}',
        '{"lists": [[1]]}',
        f'{{"lists": [[1]], "right": [{",".join(["0"] * (MOST_LISTS + 1))}]}}',
    ],
)
def test_what_does_not_fit(body):
    with pytest.raises(ValidationError):
        NewExamples.model_validate_json(body)


def test_a_restart_needs_nothing():
    assert RestartRequest.model_validate_json("{}") == RestartRequest(refit=False, epoch=None)
    with pytest.raises(ValidationError):
        RestartRequest.model_validate_json('{"refit": 1}')
