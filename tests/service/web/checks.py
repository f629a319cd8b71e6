"""What the tests of HTTP have in common."""

import dataclasses
import json

from pydantic import create_model

from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.web import replies, stream_replies

__all__ = ["JSON", "PATHS", "problem", "strict"]

JSON = {"content-type": "application/json"}
#: What is answered where.
PATHS = {
    "/v1/streams/docs": StreamSummary,
    "/v1/streams": stream_replies.StreamPage,
    "/v1/streams/docs/rounds": replies.RoundPage,
    "/v1/streams/docs/rounds/r1": replies.RoundView,
    "/v1/streams/docs/series": stream_replies.SeriesView,
}


def strict(model):
    """Return a model that refuses fields it does not know; of a summary, one that also misses none."""
    if model is StreamSummary:
        return _WholeSummary
    return create_model(model.__name__, __base__=model, __cls_kwargs__={"extra": "forbid", "strict": True})


class _WholeSummary:
    """Reads summaries that have all their fields."""

    @staticmethod
    def model_validate_json(text):
        values = json.loads(text)
        assert set(values) == {each.name for each in dataclasses.fields(StreamSummary)}
        return StreamSummary.from_json(values)


def problem(answer, status, kind):
    """Return the problem document of an answer, which must be of a kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"urn:shortlist:problem:{kind}"
    assert document["status"] == status
    assert document["detail"]
    return document
