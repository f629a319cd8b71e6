"""Bodies that make a stream: their defaults, and what is refused."""

import pytest
from pydantic import ValidationError

from shortlist.rounds.settings import SETTINGS
from shortlist.service.engine import StreamSettings
from shortlist.service.web.stream_requests import NewStream


def test_defaults_are_those_of_the_settings():
    plain = NewStream(name="docs", coverage=0.9).model_dump()
    assert plain.pop("name") == "docs"
    assert plain.pop("delta") is None
    # What these defaults stand for depends on other settings.
    auto = {"unanswered": "miss", "miss_budget": 20, "policy": {"kind": "product-limit"}}
    assert plain | auto == StreamSettings.of(coverage=0.9).to_dict()
    assert StreamSettings.of(**plain).to_dict() == StreamSettings.of(coverage=0.9).to_dict()


MOST_MISS_BUDGET = SETTINGS["miss_budget"].metadata["most"]


@pytest.mark.parametrize("size", [1, 20, MOST_MISS_BUDGET, None])
def test_error_budgets_that_can_be(size):
    assert (
        NewStream.model_validate_json(f'{{"name": "a", "coverage": 0.9, "miss_budget": {size or "null"}}}').miss_budget
        == size
    )


@pytest.mark.parametrize("size", [0, -1, 1.5, "20", True, MOST_MISS_BUDGET + 1])
def test_error_budgets_that_cannot_be(size):
    with pytest.raises(ValidationError, match="miss_budget"):
        NewStream(name="a", coverage=0.9, miss_budget=size)


def test_delta_alone_is_enough(sqlite_service):
    made = sqlite_service.http.post("/v1/streams", json={"name": "a", "coverage": 0.9, "delta": 0.05})
    assert made.json()["settings"]["policy"] == {"kind": "anytime", "delta": 0.05}
    both = {"name": "b", "coverage": 0.9, "delta": 0.05, "policy": {"kind": "anytime"}}
    refused = sqlite_service.http.post("/v1/streams", json=both)
    assert (refused.status_code, "not both" in refused.json()["detail"]) == (422, True)
