"""What goes out is what its models describe."""

import inspect

import pytest
from pydantic import BaseModel

from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.web import replies
from tests.service.web.checks import PATHS, strict


def test_replies_fit_their_models(sqlite_service):
    shown = sqlite_service.propose(round_id="r1")
    strict(replies.RoundShown).model_validate_json(shown.text)
    strict(replies.AnswerTaken).model_validate_json(sqlite_service.answer("r1", {"hit": "b"}).text)
    many = sqlite_service.http.post(
        "/v1/streams/docs/feedback",
        json={"answers": [{"round_id": "r1", "hit": "b"}, {"round_id": "r2", "miss": True}]},
    )
    strict(replies.AnswerResults).model_validate_json(many.text)
    strict(replies.Problem).model_validate_json(sqlite_service.http.get("/v1/streams/nowhere").text)
    for path, model in PATHS.items():
        strict(model).model_validate_json(sqlite_service.http.get(path).text)


def test_replies_about_more_of_a_list_fit_their_models(sqlite_service):
    sqlite_service.make("paged", at_most=1)
    sqlite_service.propose(stream="paged", round_id="r1")
    more = sqlite_service.http.post("/v1/streams/paged/rounds/r1/more", json={})
    strict(replies.MoreShown).model_validate_json(more.text)
    changed = sqlite_service.http.patch("/v1/streams/paged", json={"at_most": None})
    strict(StreamSummary).model_validate_json(changed.text)
    for path, model in PATHS.items():
        strict(model).model_validate_json(sqlite_service.http.get(path.replace("docs", "paged")).text)


@pytest.mark.parametrize("name", [name for name in replies.__all__ if name != "Threshold"])
def test_every_field_is_described(name):
    model = getattr(replies, name)
    assert issubclass(model, BaseModel)
    assert inspect.getdoc(model)
    assert all(field.description for field in model.model_fields.values())
