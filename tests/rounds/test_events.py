"""What can happen to a round: kinds, members, and what nobody can know."""

import math

import pytest

from shortlist.rounds.events import EVENTS, LISTED, Hit, Listed, Miss, kind_of
from shortlist.rounds.shown import from_null, to_null


def listed(**changes):
    return Listed(**{"round_id": 0, "ids": None, "scores": [0.1, 0.9, 0.5], "positions": [1, 2]} | changes)


def opened(**changes):
    return listed(threshold=0.3, epoch=0, reached=2, **changes)


def test_kinds_are_names_and_go_both_ways():
    assert LISTED == "listed"
    assert kind_of(Miss(1)) == "miss"
    assert kind_of(Hit(1, "a", 0.5)) == "hit"
    for name, kind in EVENTS.items():
        assert name == name.lower()
        assert kind.__name__.lower() == name.replace("-", "")


def test_members_are_positions_or_ids_best_first():
    assert opened().members == [1, 2]
    assert opened(ids=["a", "b", "c"]).members == ["b", "c"]


@pytest.mark.parametrize(
    ("changes", "believed"),
    [
        ({}, False),  # two of three are shown
        ({"positions": [1, 2, 0]}, True),
        ({"positions": [1, 2, 0], "truncated": True}, False),  # and the search had cut off others
        ({"scores": [], "positions": []}, False),
        ({"positions": [1, 2, 0], "complete": True}, True),
    ],
)
def test_absent_is_believed_of_those_who_have_seen_everything(changes, believed):
    assert opened(**changes).believes_absent is believed


def test_null_is_minus_infinity():
    assert (to_null(-math.inf), from_null(None)) == (None, -math.inf)
    for number in (0.0, -1.5, math.inf):
        assert from_null(to_null(number)) == number
