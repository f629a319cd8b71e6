"""Labelled examples: what they may be, and how they are recognized."""

import math

import numpy as np
import pytest

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.rounds.events import Fitted, WarmStarted
from shortlist.rounds.repeated_fits import make_learning
from shortlist.rounds.stream import Stream
from shortlist.service.engine.examples import labeled, warm_start_events
from shortlist.service.engine.stream_settings import StreamSettings

ROWS = [[[0.5, None], [0.25, 7.0]], [[0.125, 3.0]]]


def test_numbers_or_rows_of_them():
    plain = labeled([[0.5, 0.25], [0.75]], [1, -1])
    assert [table.tolist() for table in plain.tables] == [[0.5, 0.25], [0.75]]
    assert (plain.right, plain.scorers) == ([(1,), ()], ("",))
    rows = labeled(ROWS, [0, 0], ["dense", "bm25"])
    assert np.array_equal(rows.tables[0], [[0.5, math.nan], [0.25, 7.0]], equal_nan=True)
    assert rows.scorers == ("dense", "bm25")
    assert labeled([[0.5]], [0], ["dense"]).scorers == labeled([[[0.5]]], [0], ["dense"]).scorers == ("dense",)


def test_names_that_a_stream_has_need_not_be_sent_and_give_the_order():
    expected = ("bm25", "dense")
    assert labeled(ROWS, [0, 0], None, expected).scorers == expected
    turned = labeled(ROWS, [0, 0], ["dense", "bm25"], expected)
    assert turned.tables[1].tolist() == [[3.0, 0.125]]


@pytest.mark.parametrize(
    ("lists", "right", "scorers", "message"),
    [
        (ROWS, [0, 0], None, "rows of 2 numbers, and scorers is missing: name the 2 scorers"),
        (ROWS, [0, 0], ["dense"], "list 0 has a row of 2 numbers, and there are 1 scorers"),
        ([[0.5]], [0], ["dense", "bm25"], "list 0 has a row of 1 numbers, and there are 2 scorers"),
        ([[0.5, 0.25]], [2], None, r"right\[0\] is 2, and list 0 has the positions 0 to 1"),
        ([[0.5]], [0, 0], None, "position of the right candidate in each of the 1 lists"),
        ([[], []], [-1, -1], None, "all lists are empty"),
    ],
)
def test_what_is_wrong_is_named(lists, right, scorers, message):
    with pytest.raises((InvalidScores, InvalidParameter, ValueError), match=message):
        labeled(lists, right, scorers)


def test_a_digest_is_that_of_all_of_it():
    one = labeled([[0.5, 0.25], [0.75]], [1, -1]).digest
    assert one == labeled([[0.5, 0.25], [0.75]], [1, -1]).digest
    others = [
        labeled([[0.5, 0.25], [0.75]], [0, -1]),
        labeled([[0.5], [0.25, 0.75]], [0, -1]),
        labeled([[0.5, 0.25], [0.75]], [1, -1], ["dense"]),
    ]
    assert len({one, *(each.digest for each in others)}) == 4


def test_a_search_that_found_nothing_is_an_example_too():
    for lists, scorers in (([[0.5], []], None), ([[[0.5, 1.0]], []], ["dense", "bm25"])):
        examples = labeled(lists, [0, -1], scorers)
        assert (examples.right, len(examples.tables[1])) == ([(0,), ()], 0)


def test_the_events_are_those_of_the_library_and_the_last_has_the_digest(constants):
    constants(picks=2)
    settings = StreamSettings.of(coverage=0.9, delta=0.01).rounds
    stream = Stream(settings, learning=make_learning(settings))
    examples = labeled([[0.5, 0.25]] * 5, [0, 0, -1, 0, 0])
    fit, last = warm_start_events(stream, examples)
    assert isinstance(fit, Fitted)
    assert isinstance(last, WarmStarted)
    assert (len(last.scores), last.digest) == (3, examples.digest)
    assert stream.learning.number == 0  # nothing has changed
