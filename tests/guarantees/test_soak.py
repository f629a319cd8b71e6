"""Long runs, with their figures printed: ``make soak``."""

import time

import numpy as np
import pytest

from shortlist import AnytimeSPS, BetaBinomial, OrderStatistic, replay
from shortlist.rounds.codec import to_json

pytestmark = pytest.mark.soak


def test_ten_million_rounds_streamed(tmp_path):
    """Cost a round at the end against the start, size of the state, the same bits as no window."""
    rounds, block = 10_000_000, 10_000
    policy = AnytimeSPS(coverage=0.9)
    state = policy.init()
    scores = np.random.default_rng(13).random(rounds)
    costs = []
    for start in range(0, rounds, block):
        part = scores[start : start + block].tolist()
        before = time.perf_counter()
        for score in part:
            policy.update(state, score)
        costs.append((time.perf_counter() - before) / block)
    early, late = np.median(costs[:20]), np.median(costs[-20:])
    print(f"\nup to round 200,000: {early * 1e6:.2f} us a round; last 200,000: {late * 1e6:.2f} us")
    print(f"ratio {late / early:.2f}; first 10,000 rounds: {costs[0] * 1e6:.2f} us")
    (tmp_path / "state.json").write_text(to_json(state))
    size = (tmp_path / "state.json").stat().st_size
    print(f"saved state: {size:,} bytes")
    assert size < 1_000_000
    without = OrderStatistic(0.9, policy.boundary, window=False)
    assert state.threshold == replay(without, np.append(scores, 0.0))[-1]


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_the_window_changes_nothing_at_other_coverages(coverage, seed):
    scores = np.random.default_rng(seed).standard_normal(10_000_000)
    boundary = BetaBinomial(0.05)
    windowed = replay(OrderStatistic(coverage, boundary), scores)
    whole = replay(OrderStatistic(coverage, boundary, window=False), scores)
    assert windowed.tobytes() == whole.tobytes()
