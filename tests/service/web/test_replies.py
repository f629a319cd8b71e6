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


def test_replies_about_more_of_a_list_fit_their_models(sqlite_service):
    sqlite_service.make("paged", at_most=1)
    sqlite_service.propose(stream="paged", round_id="r1")
    more = sqlite_service.http.post("/v1/streams/paged/rounds/r1/more", json={})
    strict(replies.MoreShown).model_validate_json(more.text)
    changed = sqlite_service.http.patch("/v1/streams/paged", json={"at_most": None})
    strict(replies.StreamView).model_validate_json(changed.text)
    for path, model in PATHS.items():
        strict(model).model_validate_json(sqlite_service.http.get(path.replace("docs", "paged")).text)


def test_replies_about_a_learned_score_fit_their_models(sqlite_service):
    sqlite_service.make("hybrid", fit_rounds=2)
    for i in range(3):
        listed = [{"id": "a", "scores": {"bm25": 7.0, "dense": None}}, {"id": "b", "scores": {"bm25": i, "dense": 0.5}}]
        path = "/v1/streams/hybrid/rounds"
        sqlite_service.http.post(path, json={"candidates": listed, "round_id": f"r{i}"})
        sqlite_service.answer(f"r{i}", {"hit": "b"}, stream="hybrid")
        for path, model in PATHS.items():
            there = path.replace("docs", "hybrid").replace("r1", "r0")
            strict(model).model_validate_json(sqlite_service.http.get(there).text)
    view = sqlite_service.http.get("/v1/streams/hybrid").json()
    assert view["learned"]["scorers"] == ["bm25", "dense"]
    assert view["learned"]["influence"] == list(view["scorers"].values())
    assert sum(view["scorers"].values()) == pytest.approx(1)
    assert (view["fit_rounds"], view["fit_picks"]) == (2, None)


def test_replies_about_an_error_budget_fit_their_models(sqlite_service):
    """While it is being spent, and where it is off."""
    sqlite_service.make("raw", score="raw", miss_budget=2)
    sqlite_service.make("off", miss_budget=None)
    for i in range(90):
        shown = sqlite_service.propose(stream="raw", round_id=f"r{i}")
        sqlite_service.answer(f"r{i}", {"hit": "b"} if i < 80 else {"miss": True}, stream="raw")
    strict(replies.RoundShown).model_validate_json(shown.text)
    for path, model in PATHS.items():
        strict(model).model_validate_json(sqlite_service.http.get(path.replace("docs", "raw")).text)
    view = strict(replies.StreamView).model_validate_json(sqlite_service.http.get("/v1/streams/raw").text)
    assert view.error_budget.lengthened > 1
    assert view.error_budget.added == 1.0
    off = sqlite_service.http.get("/v1/streams/off").json()
    assert (off["error_budget"], off["settings"]["miss_budget"]) == (None, None)


@pytest.mark.parametrize("name", [name for name in replies.__all__ if name != "Threshold"])
def test_every_field_is_described(name):
    model = getattr(replies, name)
    assert issubclass(model, BaseModel)
    assert inspect.getdoc(model)
    assert all(field.description for field in model.model_fields.values())
