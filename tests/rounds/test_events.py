"""What can happen to a round: kinds, members, and what nobody can know."""

import math

import pytest

from shortlist.rounds.events import EVENTS, LISTED, Expanded, Hit, Listed, Miss, Seen, kind_of
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


@pytest.mark.parametrize(
    ("seen", "missed", "believed"),
    [
        # Two of three would have been shown, positions 1 and 2: truncated, complete, everything, paged.
        (Seen("old", [2, 1]), (False, False, False, False), False),
        (Seen("old", [0, 1]), (True, False, False, True), False),
        (Seen("old", []), (True, False, False, True), False),
        (Seen("old", [0, 1, 2], complete=True), (False, True, False, False), True),
        (Seen("old", [0, 1, 2], complete=True, truncated=True), (True, True, False, False), False),
    ],
)
def test_a_miss_of_what_was_shown_in_its_place(seen, missed, believed):
    """It is one of this list if people saw all that it would have had."""
    made = listed(positions=[1, 2, 0], threshold=0.3, epoch=0, reached=2, complete=True).beside(seen)
    assert (made.as_missed, made.believes_absent, made.was_complete) == (missed, believed, seen.complete)
    assert [made.has(place) for place in range(3)] == [True, True, False]


def test_more_of_what_was_shown_in_its_place():
    made = listed(positions=[1, 2, 0], threshold=0.3, epoch=0, reached=2, complete=True).beside(Seen("old", [0]))
    more = made.also_expanded([2, 1])
    assert more == Expanded(0, [2, 1], 2, again=True)
    after = made.expanded(more)
    assert (after.positions, after.seen.positions, after.first) == ([1, 2, 0], [0, 2, 1], None)
    assert after.believes_absent
