"""Bodies about items: what becomes of them, and what is refused."""

import pytest
from pydantic import ValidationError

from shortlist.errors import InvalidScores
from shortlist.service.web.item_requests import LeaseRenewed, NewItem, NextAsked


def read(**fields):
    return NewItem(**{"id": "i1", "candidates": [{"id": "a", "score": 0.5}], **fields})


def test_an_item_with_checked_scores():
    item = read(truncated_below=0.25, scorer_version="v1").item()
    assert (item.item_id, item.ids, item.values.tolist(), item.scorers) == ("i1", ["a"], [0.5], ("",))
    assert (item.truncated_below, item.scorer_version) == (0.25, "v1")


def test_scores_of_two_kinds():
    mixed = [{"id": "a", "score": 0.5}, {"id": "b", "scores": {"bm25": 0.5}}]
    with pytest.raises(InvalidScores, match="give every candidate its score"):
        read(candidates=mixed).item()


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ".."},
        {"id": "a/b"},
        {"candidates": []},
        {"round_id": "r"},
        {"image": "ftp://x"},
        {"image": "https://"},
    ],
)
def test_items_that_cannot_be(fields):
    with pytest.raises(ValidationError):
        read(**fields)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 3601.0, float("nan")])
def test_leases_that_cannot_be(seconds):
    with pytest.raises(ValidationError):
        NextAsked(lease=seconds)
    with pytest.raises(ValidationError):
        LeaseRenewed(holder="h", lease=seconds)
