"""Which candidates are shown, in which order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import AnytimeSPS, Oracle, Shortlister
from shortlist.rounds.selection import best_first, select
from shortlist.rounds.settings import Settings
from tests.cutting import cut_at
from tests.listers.playing import answer, both_scores


@both_scores
def test_shadow_mode_shows_everything_and_learns_the_same(score):
    rng = np.random.default_rng(5)
    shadow, real = Shortlister(0.9, delta=0.01, score=score, shadow=True), Shortlister(0.9, delta=0.01, score=score)
    hidden = missed = 0
    for _ in range(2000):
        scores = rng.random(10)
        tried = shadow.propose(scores)
        assert len(tried.members) == 10
        shown = real.propose(scores)
        assert tried.members[: tried.reached] == shown.members
        hidden += 10 - len(shown.members)
        missed += 0 not in shown.members
        answer(shadow, tried)
        answer(real, shown)
    assert shadow.threshold == real.threshold > 0.05
    summary = shadow.summary()
    assert summary["hits"] == 2000
    assert summary["hidden_share"] == hidden / 20_000 == real.summary()["hidden_share"]
    assert summary["would_have_missed"] == missed == real.summary()["misses"]
    assert real.summary()["would_have_missed"] is None
    shadow.miss(shadow.propose([0.5]).round_id)
    assert shadow.summary()["would_have_missed"] == missed + 1


@both_scores
def test_shadow_mode_knows_at_least(score):
    lister = Shortlister(0.9, score=score, shadow=True, at_least=20)
    for _ in range(300):
        shown = lister.propose(np.linspace(0, 1, 20))
        assert shown.reached == 20
        lister.hit(shown.round_id, 10)
    assert lister.threshold > -np.inf
    assert (lister.summary()["hidden_share"], lister.summary()["would_have_missed"]) == (0.0, 0)


@both_scores
def test_ties_keep_the_order_given_and_ids_are_handed_back(score):
    lister = Shortlister(score=score)
    assert lister.propose([1, 2, 2, 1]).members == (1, 2, 0, 3)
    assert lister.propose([1.0, 2.0], ids=["a", "b"]).members == ("b", "a")
    assert lister.propose(np.array([1.0, 2.0]), ids=np.array([7, 9])).members == (9, 7)
    assert lister.propose(np.array([1, 2], dtype=np.float32)).scores == (2.0, 1.0)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(-4, 4))
def test_the_list_is_closed_complete_and_sorted(scores, threshold):
    shown = cut_at(threshold).propose(scores)
    assert set(shown.members) == {i for i, score in enumerate(scores) if score >= threshold}
    assert list(shown.members) == sorted(shown.members, key=lambda i: (-scores[int(i)], i))


def test_at_least_and_at_most():
    lister = cut_at(0.5, at_least=2, at_most=3)
    few = lister.propose([0.1, 0.9, 0.2])
    assert (few.members, few.truncated) == ((1, 2), False)
    many = lister.propose([0.9, 0.8, 0.7, 0.6])
    assert (many.members, many.truncated) == ((0, 1, 2), True)
    assert lister.propose([0.1]).members == (0,)


def test_best_first_is_by_comparable_score_then_by_raw_score_then_as_given():
    values, comparable = np.array([1.0, 3.0, 2.0, 3.0]), np.array([5.0, 4.0, 5.0, 4.0])
    assert best_first(np.arange(4), values, comparable).tolist() == [2, 0, 1, 3]
    assert best_first(np.arange(4), values, values).tolist() == [1, 3, 2, 0]


def test_what_reaches_the_threshold_comes_first_even_where_a_score_turns_the_order():
    values = np.array([0.9, 0.5, 0.1])
    reached = np.array([False, False, True])
    chosen = select(values, values, reached, Settings.of(Oracle(0.0), {"at_least": 2}))
    assert (chosen.positions.tolist(), chosen.reached, chosen.truncated) == ([2, 0], 1, False)


@pytest.mark.parametrize(
    ("options", "more", "expected"),
    [
        # positions, reached, truncated, added, asked; two of six candidates reach the threshold
        ({}, 0, (2, 2, False, 0, None)),
        ({}, 3, (5, 2, False, 3, None)),
        ({}, 6, (6, 2, False, 4, None)),
        ({"at_least": 4}, 0, (4, 2, False, 0, None)),
        ({"at_least": 4}, 1, (4, 2, False, 0, None)),  # they are shown in any case
        ({"at_least": 4}, 3, (5, 2, False, 1, None)),
        ({"at_most": 4}, 1, (3, 2, False, 1, None)),
        ({"at_most": 4}, 2, (4, 2, False, 2, None)),
        ({"at_most": 4}, 3, (4, 2, False, 2, 5)),  # what reaches the threshold is there: not truncated
        ({"at_most": 1}, 0, (1, 1, True, 0, 2)),
        ({"at_most": 1}, 6, (1, 1, True, 0, 6)),
        ({"shadow": True}, 0, (6, 2, False, 0, None)),
        ({"shadow": True}, 3, (6, 5, False, 3, None)),
        ({"shadow": True, "at_least": 4}, 3, (6, 5, False, 1, None)),
    ],
)
def test_what_the_error_budget_adds(options, more, expected):
    values = np.array([0.1, 0.9, 0.3, 0.8, 0.2, 0.4])
    positions, *rest = select(values, values, values >= 0.8, Settings(policy=AnytimeSPS(0.9), **options), more)
    assert (positions.size, *rest) == expected
    assert positions.tolist() == [1, 3, 5, 2, 4, 0][: positions.size]
