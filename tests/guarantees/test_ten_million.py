"""Ten million rounds: the state stays small, and the window changes nothing."""

import numpy as np

from shortlist import AnytimeSPS, BetaBinomial, OrderStatistic, replay
from shortlist.rounds.codec import to_json


def test_ten_million_rounds_replayed_with_and_without_a_window():
    """False alarm: the threshold passes 0.1 with probability 1e-7 at most."""
    scores = np.random.default_rng(11).random(10_000_000)
    with_window = replay(AnytimeSPS(coverage=0.9, delta=1e-7), scores)
    without = replay(OrderStatistic(0.9, BetaBinomial(1e-7), window=False), scores)
    assert with_window.tobytes() == without.tobytes()
    assert 0.099 < with_window[-1] <= 0.1


def test_a_million_rounds_streamed_end_in_a_small_state(tmp_path):
    """The state that `make soak` grows to ten million rounds, here to one."""
    policy = AnytimeSPS(coverage=0.9)
    state = policy.init()
    scores = np.random.default_rng(12).random(1_000_000)
    for score in scores.tolist():
        policy.update(state, score)
    assert state.threshold == replay(policy, np.append(scores, 0.0))[-1]
    (tmp_path / "state.json").write_text(to_json(state))
    assert (tmp_path / "state.json").stat().st_size < 500_000
    assert state.low + len(state.values) < state.rounds == 1_000_000  # the others are above the window
