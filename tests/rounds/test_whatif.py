"""What half the misses would have been."""

import numpy as np
import pytest
from scipy import stats

from shortlist import AnytimeSPS, Greedy, Shortlister, replay


def run(lister, rounds=4_000, look=1.0, seed=0):
    """Play rounds in which a share of those who do not find it ask for more; return the true scores."""
    rng, true_scores = np.random.default_rng(seed), []
    for _ in range(rounds):
        scores = rng.random(10)
        true_scores.append(scores[0])
        shown = lister.propose(scores)
        if 0 not in shown.members and rng.random() < look:
            lister.more(shown.round_id)
            lister.hit(shown.round_id, 0)
        else:
            lister.reveal(shown.round_id, 0)
    return np.array(true_scores)


def test_everybody_looks_further_so_all_is_known():
    lister = Shortlister(0.9, score="raw")
    true_scores = run(lister)
    thresholds = replay(AnytimeSPS(0.95, 0.01), true_scores)
    covered = true_scores >= thresholds  # as a run of its own
    asked = lister.summary().if_asked
    assert (asked.coverage, asked.known, asked.unknown) == (0.95, 4_000, 0)
    assert asked.threshold == replay(AnytimeSPS(0.95, 0.01), np.append(true_scores, 0.0))[-1] > 0
    expected = stats.binomtest(int(covered.sum()), 4_000).proportion_ci(method="wilson")
    assert asked.interval == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("look", [0.0, 0.5])
def test_what_nobody_looked_into_widens_the_interval_to_both_sides(look):
    lister = Shortlister(0.9, score="raw")
    true_scores = run(lister, look=look)
    asked = lister.summary().if_asked
    assert asked.unknown > 50
    assert asked.known + asked.unknown == 4_000
    truth = np.mean(true_scores >= replay(AnytimeSPS(0.95, 0.01), true_scores))
    assert asked.interval[0] < truth < asked.interval[1]
    assert asked.interval[1] - asked.interval[0] > asked.unknown / 4_000


def test_it_lives_through_files_restarts_and_warm_starts(tmp_path):
    lister = Shortlister(0.9, score="raw")
    lister.warm_start([0.5] * 200)
    assert lister.summary().if_asked.threshold == 0.5
    run(lister, 300)
    lister.save(tmp_path / "lister.json")
    again = Shortlister.load(tmp_path / "lister.json")
    assert again.summary().if_asked == lister.summary().if_asked
    again.restart()
    assert again.summary().if_asked.threshold == -np.inf
    run(again, 2_000, seed=1)
    assert again.summary().if_asked.threshold > 0


def test_it_is_not_said_where_misses_are_not_reported_or_coverage_is_not_asked_for():
    assert Shortlister(explore_share=0.1).summary().if_asked is None
    assert Shortlister(unanswered="ignore").summary().if_asked is None
    assert Shortlister(policy=Greedy(0.9)).summary().if_asked is None
