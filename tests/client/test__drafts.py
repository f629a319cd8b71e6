"""Rounds as they are sent, and in how many requests."""

import pytest

from shortlist.client._drafts import Draft, in_parts
from shortlist.errors import InvalidParameter


@pytest.mark.parametrize("given", [{"score": [0.5]}, {"ids": ["a"]}, {}, {"scores": [0.5], "version": "v2"}])
def test_a_round_of_a_batch_says_what_it_takes(given):
    with pytest.raises(InvalidParameter, match="it must have 'scores', and may have allow_empty, ids"):
        Draft.of(given, None)


def test_what_is_not_given_is_not_sent():
    draft = Draft.of({"scores": {"bm25": [7.1, 3.3]}, "ids": ["a", "b"], "round_id": "r1"}, "v2")
    candidates = [{"id": "a", "scores": {"bm25": 7.1}}, {"id": "b", "scores": {"bm25": 3.3}}]
    assert draft.body == {"candidates": candidates, "round_id": "r1", "scorer_version": "v2"}


def test_parts_have_a_largest_number_and_a_largest_size():
    assert [len(part) for part in in_parts(list(range(2_500)))] == [1000, 1000, 500]
    assert [len(part) for part in in_parts(["x" * 400_000] * 5)] == [2, 2, 1]
    assert [len(part) for part in in_parts(["x" * 2_000_000, "x"])] == [1, 1]
    assert list(in_parts([])) == []
