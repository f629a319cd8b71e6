"""The rounds of one run: list lengths and revenue."""

import math

import numpy as np
import pytest

from shortlist import metrics
from shortlist.lab.tasks import (
    TaskStream,
    load_task,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", ["images", "retrieval", "auctions"])
def test_list_lengths_are_counted_right(name):
    task = load_task(name)
    stream = task.draw(rng(3), 400)
    table, rows = stream.candidates
    for thresholds in (
        rng(4).choice(stream.true_scores, 400),
        np.full(400, -np.inf),
        np.full(400, np.inf),
        stream.true_scores,
    ):
        sizes = stream.set_sizes(thresholds)
        assert sizes.tolist() == metrics.set_size(thresholds, table[rows]).tolist()
    assert (stream.set_sizes(stream.true_scores) >= 1).all()  # the right answer is among the candidates


def test_revenue_has_the_papers_three_cases():
    stream = TaskStream(np.array([10.0] * 5), second_bids=np.array([6.0] * 5))
    revenue = stream.revenue(np.array([-math.inf, 6.0, 8.0, 10.0, 10.5]))
    assert revenue.tolist() == [6.0, 6.0, 8.0, 10.0, 0.0]
    assert TaskStream(np.zeros(2)).revenue(np.zeros(2)) is None
    assert TaskStream(np.zeros(2)).set_sizes(np.zeros(2)) is None
