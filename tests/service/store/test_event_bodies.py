"""Events as they are stored: small, complete, and the same bits when they come back."""

import json
import math

import numpy as np
import pytest

from shortlist.rounds.events import Hit, Listed, WarmStarted, kind_of
from shortlist.service.store.event_bodies import body_of, event_of


def stored(event):
    """Return the row of an event."""
    phase = 0 if isinstance(event, Listed) else 1
    return (1, phase, kind_of(event), event.round_id, 1_700_000_000.123456, body_of(event))


def test_a_list_takes_little_space():
    """20 candidates, one scorer, names of 8 characters, all shown; at most 840 bytes."""
    rng = np.random.default_rng(0)
    ids = [f"{number:08x}" for number in rng.integers(16**8, size=20)]
    scores, positions = rng.random(20), list(range(20))
    listed = Listed("round-01", ids, scores, positions, 0.123456789012345, 0, 20, comparable=list(scores), fit=1)
    row = stored(listed)
    assert len("".join(map(str, row))) <= 840
    assert event_of("listed", "round-01", row[-1])._replace(scores=None) == listed._replace(
        scores=None, comparable=None
    )
    assert event_of("listed", "round-01", row[-1]).scores == scores.tolist()


def test_a_body_has_neither_the_round_nor_what_the_scores_give():
    listed = Listed("r", ["a"], np.array([0.5]), [0], -math.inf, 0, 1, comparable=[0.5])
    assert json.loads(body_of(listed)) == {
        "ids": ["a"],
        "scores": [0.5],
        "positions": [0],
        "threshold": None,
        "epoch": 0,
        "reached": 1,
    }
    assert json.loads(body_of(Hit("r", "a", 0.5))) == {"member": "a", "score": 0.5}
    assert json.loads(body_of(WarmStarted([0.5, -math.inf]))) == {"scores": [0.5, None]}


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_table_comes_back_however_it_lies_in_memory(order):
    table = np.array([[0.1 + 0.2, np.nan], [5e-324, -1.7976931348623157e308]], order=order)
    body = body_of(Listed("r", ["a", 2], table, [0, 1], 0.1, 0, 2, scorers=["dense", "bm25"]))
    assert event_of("listed", "r", body).scores == [[0.1 + 0.2, None], [5e-324, -1.7976931348623157e308]]


@pytest.mark.parametrize("number", [0.0, -0.0, 1e22, 1e-7, 123456789.123456789, 2.0**-1074, 1.7976931348623157e308])
def test_every_float_comes_back_bit_for_bit(number):
    body = body_of(Hit("r", "a", number))
    again = event_of("hit", "r", body).score
    assert np.float64(again).tobytes() == np.float64(number).tobytes()
