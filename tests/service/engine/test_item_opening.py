"""Items as they are stored, and how they are drawn."""

import numpy as np
from scipy.stats import binom

from shortlist.service.engine.item_opening import Item, drawn_position, proposed
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import StreamRow

STREAM = LoggedStream(StreamRow(1, "images", StreamSettings.of(coverage=0.9).to_dict(), 0.0, 0))
ITEM = Item(
    "img-7",
    ["cat", 5],
    np.array([[0.1 + 0.2, np.nan], [-1e308, 5e-324]]),
    ("bm25", "dense"),
    "which one",
    ["a cat", None],
    "https://pictures.example.org/7.png",
    {"dense": 0.25},
    "v2",
)


def test_an_item_comes_back_bit_for_bit():
    row = ITEM.to_row(1)
    again = Item.of(row)
    assert again.values.tobytes() == ITEM.values.tobytes()
    assert again._replace(values=None) == ITEM._replace(values=None)
    assert again.to_row(1) == row


def test_an_item_is_shown_with_all_that_it_has():
    new = proposed(STREAM, ITEM.to_row(1), [3, 8])
    assert (new.round_id, new.ids, new.scorers, new.drawn) == ("img-7", ["cat", 5], ("bm25", "dense"), [3, 8])
    assert (new.question, new.texts, new.image) == (ITEM.question, ITEM.texts, ITEM.image)
    assert (new.truncated_below, new.scorer_version) == ({"dense": 0.25}, "v2")


def test_every_position_is_drawn_as_often():
    """Of 20,000 draws, each of ten positions gets a tenth; all ten within bounds with probability 1 - 1e-6."""
    counts = np.bincount([drawn_position("images", rounds, 10) for rounds in range(20_000)], minlength=10)
    low, high = binom.ppf(5e-8, 20_000, 0.1), binom.isf(5e-8, 20_000, 0.1)
    assert len(counts) == 10
    assert low <= counts.min() <= counts.max() <= high


def test_the_first_item_that_can_be_shown_is_any_of_them():
    """Ten of twenty are refused: each of the others is next as often, within bounds with probability 1 - 1e-6."""
    draws, counts = 6_000, np.zeros(20)
    for stream in range(draws):
        places = list(range(20))
        while True:
            position = drawn_position(f"stream {stream}", 0, len(places))
            if places[position] >= 10:
                break
            places[position] = places[-1]
            places.pop()
        counts[places[position]] += 1
    low, high = binom.ppf(5e-8, draws, 0.1), binom.isf(5e-8, draws, 0.1)
    assert low <= counts[10:].min() <= counts[10:].max() <= high


def test_a_sorted_file_comes_out_in_random_order():
    """Drawn one by one from a sorted file, position and order drawn do not go together: |r| < 5 / sqrt(n)."""
    count = 5_000
    places = list(range(count))
    order = []
    for rounds in range(count):
        position = drawn_position("images", rounds, len(places))
        order.append(places[position])
        places[position] = places[-1]
        places.pop()
    assert sorted(order) == list(range(count))
    assert abs(np.corrcoef(order, np.arange(count))[0, 1]) < 5 / np.sqrt(count)
