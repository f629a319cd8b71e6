"""What goes out is what its models describe."""

import inspect

import pytest
from pydantic import BaseModel, create_model

from shortlist.service.web import replies

PATHS = {
    "/v1/streams/docs": replies.StreamView,
    "/v1/streams": replies.StreamPage,
    "/v1/streams/docs/rounds": replies.RoundPage,
    "/v1/streams/docs/rounds/r1": replies.RoundView,
    "/v1/streams/docs/series": replies.SeriesView,
}


def strict(model):
    """Return a model that refuses fields it does not know."""
    return create_model(model.__name__, __base__=model, __cls_kwargs__={"extra": "forbid", "strict": True})


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


@pytest.mark.parametrize("name", [name for name in replies.__all__ if name != "Threshold"])
def test_every_field_is_described(name):
    model = getattr(replies, name)
    assert issubclass(model, BaseModel)
    assert inspect.getdoc(model)
    assert all(field.description for field in model.model_fields.values())
