"""What goes out about streams is what its models describe."""

import inspect

import pytest
from pydantic import BaseModel

from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.web import replies, stream_replies
from tests.service.web.checks import PATHS, strict


def test_replies_about_a_learned_score_fit_their_models(sqlite_service, constants):
    constants(picks=2)
    sqlite_service.make("hybrid", delta=0.01)
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
    sqlite_service.make("raw", score="raw", delta=0.01, miss_budget=2)
    sqlite_service.make("off", delta=0.01, miss_budget=None)
    for i in range(90):
        shown = sqlite_service.propose(stream="raw", round_id=f"r{i}")
        sqlite_service.answer(f"r{i}", {"hit": "b"} if i < 80 else {"miss": True}, stream="raw")
    strict(replies.RoundShown).model_validate_json(shown.text)
    for path, model in PATHS.items():
        strict(model).model_validate_json(sqlite_service.http.get(path.replace("docs", "raw")).text)
    view = strict(StreamSummary).model_validate_json(sqlite_service.http.get("/v1/streams/raw").text)
    assert view.error_budget.lengthened > 1
    assert view.error_budget.added == 1.0
    off = sqlite_service.http.get("/v1/streams/off").json()
    assert (off["error_budget"], off["settings"]["miss_budget"]) == (None, None)


@pytest.mark.parametrize("name", stream_replies.__all__)
def test_every_field_is_described(name):
    model = getattr(stream_replies, name)
    assert issubclass(model, BaseModel)
    assert inspect.getdoc(model)
    assert all(field.description for field in model.model_fields.values())
