"""People who only click: the coin, the order, and which rounds count."""

import math

import numpy as np
import pytest

from shortlist import GroupedShortlister, ProductLimit, Shortlister
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
    assert share_at("auto", 10**6, -math.inf) == 0.2  # until the first cut
    assert share_at(0.05, 10, -math.inf) == share_at(0.05, 10, 0.3) == 0.05
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
    lister = Shortlister(0.8, score="raw", explore_share=0.5, patience=3)
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


def test_until_the_first_cut_other_lists_are_the_best_ten():
    lister, rng = Shortlister(0.8, score="raw", explore_share=0.3), np.random.default_rng(0)
    for _ in range(60):
        scores = rng.random(30)
        shown = lister.propose(scores)
        assert shown.threshold == -math.inf
        if shown.explored:
            assert shown.complete
        else:
            assert list(shown.members) == np.argsort(-scores)[:10].tolist()
            assert not shown.truncated
    few = lister.propose(rng.random(4))  # as many as there are
    assert len(few.members) == 4


def test_the_share_can_change_and_not_be_turned_off():
    lister = Shortlister(score="raw", explore_share=0.2)
    lister.configure(explore_share="auto")
    with pytest.raises(InvalidParameter, match="not be turned off"):
        lister.configure(explore_share=None)
    with pytest.raises(InvalidParameter, match="can be turned on only where there is no delta"):
        Shortlister(delta=0.01, score="raw").configure(explore_share=0.1)
    with pytest.raises(InvalidParameter, match="miss_budget is 20, which needs reported misses"):
        Shortlister(explore_share=0.2, miss_budget=20)
    with pytest.raises(InvalidParameter, match="leave miss_budget out; or ask for the guarantee"):
        Shortlister(policy=ProductLimit(0.9), explore_share=0.2)


@pytest.mark.parametrize("fits", [0, 2])
def test_it_can_be_turned_on_and_the_score_stays(fits):
    """A new epoch by the other rule, from nothing but the score so far; open rounds count for nothing."""
    lister, rng = Shortlister(0.8), np.random.default_rng(0)
    for _ in range(40 if fits else 5):
        shown = lister.propose(scores := rng.random(30))
        lister.reveal(shown.round_id, int(scores.argmax()))
    open_round = lister.propose(rng.random(30))
    score = lister.learned
    assert (score is not None) == bool(fits)
    lister.configure(explore_share=0.3)
    summary = lister.summary()
    assert (summary.epoch, summary.counted, summary.threshold) == (1, 0, -math.inf)
    assert summary.policy == {"kind": "anytime", "coverage": 0.8, "window": True, "delta": 0.01}
    assert (summary.error_budget, lister.settings.unanswered) == (None, "ignore")
    lister.hit(open_round.round_id, open_round.members[0])
    assert lister.summary().counted == 0
    for _ in range(400):
        shown = lister.propose(scores := rng.random(30))
        if (best := int(scores.argmax())) in shown.members:
            lister.hit(shown.round_id, best)
    assert lister.threshold > -math.inf
    if fits:
        assert lister.learned is score


def test_a_score_of_too_few_picks_is_learned_again():
    """Frozen, a fit on 15 picks would stay for good; until the next one, on 30, lists are ordered by it."""
    lister, rng = Shortlister(0.8), np.random.default_rng(0)
    while lister.learned is None:
        shown = lister.propose(scores := rng.random(30))
        lister.reveal(shown.round_id, int(scores.argmax()))
    assert lister.learned.rounds == 15
    first = lister.learned
    lister.configure(explore_share=0.3)
    assert (lister.learned, lister.summary().fit_picks) == (first, 0)
    explored = 0
    while lister.learned is first:
        shown = lister.propose(scores := rng.random(30))
        assert shown.threshold == -math.inf
        explored += shown.explored
        if (best := int(scores.argmax())) in shown.members:
            lister.hit(shown.round_id, best)
    assert lister.learned.rounds == 30
    assert lister.summary().counted == 0


def test_groups():
    grouped = GroupedShortlister(0.8, score="raw", explore_share=0.3)
    play(grouped, 600, group="a")
    assert grouped.threshold("a") > 0.4


def test_it_is_turned_on_for_groups_with_a_part_of_delta_each(tmp_path):
    """A file that is read back, and groups that come later, have the same parts; a score is learned once, by all."""
    grouped = GroupedShortlister(0.8)
    for group in "ab":
        play(grouped, 8, group=group)
    grouped.configure(explore_share=0.3)
    grouped.save(tmp_path / "groups.json")
    loaded = GroupedShortlister.load(tmp_path / "groups.json")
    for each in (grouped, loaded):
        play(each, 200, group="new", seed=3)
        play(each, 300, group="b", seed=4)
        deltas = [each.summary(group).policy["delta"] for group in ("a", "b", "new")]
        assert deltas == [0.01 / 2, 0.01 / 6, 0.01 / 12]
        assert each.threshold("b") > -math.inf
    assert [dict(each.summary("b")) for each in (grouped, loaded)] == [dict(grouped.summary("b"))] * 2
    assert grouped.learned == loaded.learned is not None
