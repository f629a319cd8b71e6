"""A stream's history: small however long it is, and true."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.rounds.codec import decode, encode, from_json, to_json
from shortlist.service.engine.series import Histogram, Series


def filled(rounds, seed=0):
    rng, series = random.Random(seed), Series()
    truth = []
    for i in range(rounds):
        length = rng.randrange(1, 100)
        series.show(length, 100)
        kind = rng.choice(["hit", "miss", "skip"])
        series.answer(kind)
        series.mark(float(i), i / rounds)
        truth.append((length, kind))
    return series, truth


def test_nothing_is_lost_by_thinning():
    for rounds in (1, 199, 200, 201, 5000, 70_000):
        series, truth = filled(rounds)
        points = series.points()
        assert points["round"][-1] == rounds
        assert len(points["round"]) <= 200
        assert rounds < 200 or len(points["round"]) >= 100
        assert sum(points["hits"]) == sum(kind == "hit" for _, kind in truth)
        assert sum(points["misses"]) == sum(kind == "miss" for _, kind in truth)
        assert points["threshold"][-1] == (rounds - 1) / rounds
        recent = sorted(length for length, _ in truth[-200:])
        assert series.recent()["list_length_median"] == recent[(len(recent) - 1) // 2]
        assert len(series.spark()) <= 40
        assert series.spark()[-1] == points["threshold"][-1]


def test_it_comes_back_as_it_was():
    series, _ = filled(3000)
    again = from_json(Series, to_json(series))
    assert again == series
    for each in (series, again):
        for i in range(500):
            each.show(i % 9, 100)
            each.chosen.add(0, i / 7)
    assert again == series
    assert to_json(again) == to_json(series)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=100))
def test_every_chosen_score_is_counted_in_its_bin(values):
    histogram = Histogram()
    for value in values:
        histogram.add(0, value)
    assert sum(histogram.counts) == len(values)
    assert len(histogram.counts) == 60
    rounding = 1e-9 * histogram.width
    low, high = histogram.low - rounding, histogram.low + 60 * histogram.width + rounding
    assert all(low <= value <= high for value in values)


def test_a_fit_may_be_the_first_that_is_drawn():
    """The charts have just started again, and what comes next is about no round."""
    series = Series()
    series.mark(1.0, -math.inf)
    assert series.points()["round"] == [0]


def test_another_score_starts_from_scratch():
    histogram = Histogram()
    histogram.add(0, 0.5)
    histogram.add(1, -3.0)
    assert sum(histogram.counts) == 1
    histogram.add(1, 0.0)
    assert histogram.of == 1
    assert sum(histogram.counts) == 2


@pytest.mark.parametrize("values", [(1e308, 1.0), (0.5, -1.7e308, 1e306), (5e-324, -5e-324), (1e-300, 1e300, -1e300)])
def test_a_histogram_takes_every_finite_number(values):
    histogram = Histogram()
    for value in values:
        histogram.add(0, value)
    assert sum(histogram.counts) == sum(abs(value) <= 1e306 for value in values)
    assert from_json(Histogram, to_json(histogram)) == histogram


def test_a_chart_that_starts_again_in_the_middle_of_a_round():
    history = Series()
    history.answer("hit")
    history.mark(1.0, 0.5)
    assert history.points()["candidates"] == [0.0]
    assert decode(Series, encode(history)).points() == history.points()
