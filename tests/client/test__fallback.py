"""What a search page gets when the service is away or slow."""

import math

import numpy as np
import pytest

from shortlist.client import _fallback
from shortlist.client._fallback import LateRounds, everything


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [1_000.0]
    monkeypatch.setattr(_fallback.time, "monotonic", lambda: now[0])
    return now


def test_everything_is_shown_best_first():
    shown = everything("r1", ["a", "b", "c"], np.array([0.2, 0.9, 0.9]))
    assert (shown.members, shown.scores, shown.threshold) == (("b", "c", "a"), (0.9, 0.9, 0.2), -math.inf)
    assert shown.fallback
    assert shown.complete
    several = everything("r1", [0, 1, 2], np.array([[0.2, 9.0], [0.9, 5.0], [0.1, math.nan]]))
    assert several.members == (0, 1, 2)
    assert everything("r1", [], np.empty(0)).members == ()


def test_a_late_round_is_taken_back_again_and_again_until_it_is_gone(clock):
    late = LateRounds()
    assert late.next() is None
    late.add("r1")
    assert late.next() == "r1"
    late.tried("r1", gone=False)
    assert late.next() is None  # not at once
    clock[0] += 5
    assert late.next() == "r1"
    late.tried("r1", gone=True)
    clock[0] += 5
    assert late.next() is None
    assert "r1" in late  # its answers go nowhere all the same


def test_one_that_never_arrived_is_given_up_and_old_ones_are_forgotten(clock):
    late = LateRounds()
    late.add("r1")
    clock[0] += 61
    late.tried("r1", gone=False)
    clock[0] += 61
    assert late.next() is None
    for i in range(10_001):
        late.add(f"x{i}")
    assert "r1" not in late
    assert "x10000" in late
