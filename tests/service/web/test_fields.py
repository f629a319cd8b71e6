"""What bodies are made of: whole numbers, and texts that end somewhere."""

import pytest
from pydantic import ValidationError

from shortlist.service.web.fields import MOST_CHARACTERS
from shortlist.service.web.requests import NewRound


def test_a_whole_number_is_a_whole_number():
    body = '{"candidates": [{"id": 3.0, "score": 1}, {"id": "3.0", "score": 1}, {"id": -4, "score": 1}]}'
    ids, scores, _ = NewRound.model_validate_json(body).columns()
    assert [(type(each), each) for each in ids] == [(int, 3), (str, "3.0"), (int, -4)]
    assert all(type(score) is float for score in scores.tolist())


def test_texts_have_a_largest_size():
    NewRound(candidates=[], question="x" * MOST_CHARACTERS)
    with pytest.raises(ValidationError, match=f"at most {MOST_CHARACTERS} characters"):
        NewRound(candidates=[], question="x" * (MOST_CHARACTERS + 1))
