"""People who only click: the coin, the order, and which rounds count."""

import math

import numpy as np
import pytest

from shortlist import GroupedShortlister, Shortlister
from shortlist.errors import InvalidParameter
from shortlist.rounds.exploring import coin, share_at, shuffled

SCORES = np.linspace(0, 1, 10)


def test_the_coin_is_a_pure_function_and_fair():
    tosses = np.array([coin("docs", i) for i in range(20_000)])
    assert (tosses == [coin("docs", i) for i in range(20_000)]).all()
    assert (tosses != [coin("labels", i) for i in range(20_000)]).all()
    assert coin("docs", 7) == coin("docs", "7")  # a lister numbers its rounds, a service has texts
    # Each of ten bins has 2,000 on average; more than 300 off has probability 1e-11.
    assert np.abs(np.histogram(tosses, bins=10, range=(0, 1))[0] - 2000).max() < 300


def test_the_order_is_a_permutation_that_knows_nothing_of_the_scores():
    orders = np.array([shuffled("docs", i, 10) for i in range(5_000)])
    assert (np.sort(orders, axis=1) == np.arange(10)).all()
    # Each candidate is first in 500 of them on average; more than 150 off has probability 1e-11.
    assert np.abs(np.bincount(orders[:, 0]) - 500).max() < 150
    assert shuffled("docs", 1, 0).size == 0


def test_the_schedule():
    assert share_at(0.05, 10, -math.inf) == share_at("auto", 10**6, -math.inf) == 0.5  # all lists are complete
    assert share_at(0.05, 10, 0.3) == 0.05
    assert [share_at("auto", t, 0.3) for t in (0, 99, 10**4 - 1)] == [0.2, 0.2, 0.02]


@pytest.mark.parametrize("value", [0, -0.1, 1.5, "often", math.nan, True])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(InvalidParameter, match="explore_share is"):
        Shortlister(explore_share=value)


def play(lister, rounds, click=1.0, seed=0, **options):
    """Let people click what they find, and say nothing otherwise; return the lists."""
    rng, lists = np.random.default_rng(seed), []
    for _ in range(rounds):
        shown = lister.propose(SCORES, **options)
        lists.append(shown)
        right = int(rng.integers(5, 10))
        if right in shown.members and rng.random() < click:
            lister.hit(shown.round_id, right)
    return lists


def test_only_explored_rounds_count_and_only_if_somebody_clicks():
    lister = Shortlister(0.8, score="raw", explore_share=0.2, patience=0)
    lists = play(lister, 2000, click=0.5)
    explored = [shown for shown in lists if shown.explored]
    assert all(shown.complete and shown.threshold == -math.inf for shown in explored)
    assert any(list(shown.members) != sorted(shown.members, reverse=True) for shown in explored)
    summary = lister.summary()
    assert 0.4 * len(explored) < summary.counted < 0.6 * len(explored)
    assert summary.threshold > 0.4
    assert len(lists[-1].members) < 10
    assert (summary.error_budget, summary.drift) == (None, None)


def test_a_silent_round_leaves_the_order_and_a_late_click_enters_when_it_comes():
    lister = Shortlister(0.8, score="raw", explore_share=1.0, patience=3)
    first = next(shown for shown in iter(lambda: lister.propose(SCORES), None) if shown.explored)
    answered = 0
    while answered < 20:
        shown = lister.propose(SCORES)
        if shown.explored:
            lister.hit(shown.round_id, 9)
            answered += 1
    assert lister.summary().counted == 20  # it was waited for, and then no more
    lister.hit(first.round_id, 0)
    assert lister.summary().counted == 21
    other = next(shown for shown in iter(lambda: lister.propose(SCORES), None) if not shown.explored)
    lister.hit(other.round_id, 9)
    assert lister.summary().counted == 21  # what is not explored teaches nothing


def test_the_share_can_change_and_not_be_turned_on_or_off():
    lister = Shortlister(score="raw", explore_share=0.2)
    lister.configure(explore_share="auto")
    with pytest.raises(InvalidParameter, match="not be turned on or off"):
        lister.configure(explore_share=None)
    with pytest.raises(InvalidParameter, match="not be turned on or off"):
        Shortlister(score="raw").configure(explore_share=0.1)
    with pytest.raises(InvalidParameter, match="miss_budget is 20, which needs reported misses"):
        Shortlister(explore_share=0.2, miss_budget=20)


def test_groups():
    grouped = GroupedShortlister(0.8, score="raw", explore_share=0.3)
    play(grouped, 600, group="a")
    assert grouped.threshold("a") > 0.4
