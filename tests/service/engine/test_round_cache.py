"""Rounds, and those that are kept at hand."""

import math

import numpy as np
import pytest

from shortlist import AnytimeSPS
from shortlist.rounds.events import Absent, Answer, Expired, Fitted, Hit, Listed, Miss, Skip
from shortlist.rounds.repeated_fits import make_learning
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Stream
from shortlist.scores import Learned
from shortlist.service.engine.round_cache import Round, RoundCache, comparing, table_of
from shortlist.service.store import LogEntry


def shown(number, size=10, stream_id=1):
    """Return the entry of a list of so many candidates, of which the last and the first are shown."""
    listed = Listed(f"r{number}", [f"c{i}" for i in range(size)], [0.5] * size, [size - 1, 0], 0.1, 0, 2)
    return LogEntry(stream_id, number, 0.0, listed)


def at_hand(cache, numbers, stream_id=1):
    return [number for number in numbers if cache.get((stream_id, f"r{number}")) is not None]


def test_the_cache_keeps_to_its_capacity_and_the_last_used_stay():
    cache = RoundCache(capacity=100)
    for number in range(50):
        cache.add(shown(number))
    assert at_hand(cache, range(50)) == list(range(40, 50))
    assert cache.get((1, "r40")).shown == shown(40)  # used, so it outlives the others
    cache.add(shown(50))
    cache.add(shown(51))
    assert at_hand(cache, range(52)) == [40, *range(43, 52)]


def test_a_list_larger_than_the_capacity_is_kept_alone():
    cache = RoundCache(capacity=100)
    for number in range(10):
        cache.add(shown(number))
    cache.add(shown(10, size=1000))
    assert at_hand(cache, range(11)) == [10]
    cache.add(shown(11))
    assert at_hand(cache, range(12)) == [11]


def test_a_round_is_there_once_and_its_answer_stays():
    cache = RoundCache(capacity=100)
    cache.add(LogEntry(1, 3, 0.0, Miss("r1")))  # of a list that is not at hand: the log has both
    assert cache.get((1, "r1")) is None
    for _ in range(3):
        cache.add(shown(1))
    cache.add(LogEntry(1, 2, 0.0, Miss("r1")))
    cache.add(shown(1))  # read again from the log
    assert cache.get((1, "r1")).answer() == {"miss": True}
    for number in range(2, 11):  # the tenth finds room, for the first was counted once
        cache.add(shown(number))
    assert at_hand(cache, range(1, 11)) == list(range(1, 11))


def test_a_stream_that_is_forgotten_leaves_room():
    cache = RoundCache(capacity=100)
    for number in range(5):
        cache.add(shown(number))
        cache.add(shown(number, stream_id=2))
    cache.forget(1)
    assert at_hand(cache, range(5)) == []
    for number in range(5, 10):
        cache.add(shown(number, stream_id=2))
    assert at_hand(cache, range(10), stream_id=2) == list(range(10))


@pytest.mark.parametrize(
    ("event", "given", "answer"),
    [
        (Hit("r1", "c0", 0.5), "c0", {"hit": "c0"}),
        (Miss("r1"), Answer.MISS, {"miss": True}),
        (Skip("r1"), Answer.SKIP, {"skip": True}),
        (Absent("r1"), Answer.ABSENT, {"absent": True}),
        (Expired("r1"), Answer.EXPIRED, {"expired": True}),
    ],
    ids=str,
)
def test_a_round_has_its_members_and_its_answer(event, given, answer):
    assert Round(shown(1)).members == ["c9", "c0"]
    assert (Round(shown(1)).given, Round(shown(1)).answer()) == (None, None)
    closed = Round(shown(1), LogEntry(1, 2, 0.0, event))
    assert (closed.given, closed.answer()) == (given, answer)


def test_what_was_compared_is_that_of_the_fit_of_the_list():
    """However many fits have come since."""
    settings = Settings(policy=AnytimeSPS(0.9))
    stream = Stream(settings, learning=make_learning(settings))
    values = np.array([0.1, 0.9, 0.5])
    before = stream.decide("r0", values, ["a", "b", "c"])
    stream.apply(before)
    first, second = (Learned(("",), (weight,), (0.0,)) for weight in (2.0, 3.0))
    stream.apply(Fitted(1, first))
    between = stream.decide("r1", values, ["a", "b", "c"])
    stream.apply(between)
    stream.apply(Fitted(2, second))
    after = stream.decide("r2", values, ["a", "b", "c"])
    assert comparing(stream, Round(LogEntry(1, 2, 0.0, between)))() == first(values).tolist()
    assert comparing(stream, Round(LogEntry(1, 2, 0.0, after)))() == second(values).tolist()
    prior = comparing(stream, Round(LogEntry(1, 1, 0.0, before)))()
    assert [prior[i] for i in before.positions] == before.comparable
    assert prior not in (first(values).tolist(), second(values).tolist())
    for listed in (before, between, after):  # as a log has it, and as it was decided
        assert stream.completed(listed._replace(comparable=None)) == listed


def test_the_table_of_a_list_has_a_row_for_each_candidate():
    listed = Listed("r", ["a", "b"], [[0.5, None], [0.25, 3]], [0], 0.1, 0, 1, scorers=["dense", "bm25"])
    assert np.array_equal(table_of(listed), [[0.5, math.nan], [0.25, 3.0]], equal_nan=True)
    assert table_of(listed._replace(ids=[], scores=[])).shape == (0, 2)
    assert table_of(listed._replace(scores=[0.5, 3], scorers=["dense"])).tolist() == [0.5, 3.0]
