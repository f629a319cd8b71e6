"""A stream of rounds: what it decides, and what events make of it."""

import math

import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister, replay
from shortlist.errors import (
    InvalidParameter,
    InvalidScores,
    NoCandidates,
)
from tests.listers.inside import policy_state
from tests.listers.playing import answer, teach


def test_a_warm_start_is_as_good_as_rounds():
    scores = np.random.default_rng(6).random(3000)
    warm = Shortlister(0.9)
    warm.warm_start(scores[:2000])
    assert warm.threshold == replay(AnytimeSPS(0.9), scores[:2001])[-1] > 0.05
    assert warm.summary()["rounds"] == 0
    assert warm.summary()["counted"] == 2000
    for score in scores[2000:].tolist():
        answer(warm, warm.propose([score]))
    assert warm.threshold == replay(AnytimeSPS(0.9), np.append(scores, 0.0))[-1]
    with pytest.raises(InvalidParameter, match="1000 rounds have been shown already"):
        warm.warm_start(scores)
    with pytest.raises(InvalidScores, match=r"true_scores\[0\] is nan"):
        Shortlister().warm_start([math.nan])


def test_a_hit_below_the_threshold_teaches_like_a_miss():
    """`at_least` shows more than the threshold allows; what lies below it must not count as seen."""
    listers = [teach(Shortlister(0.8, at_least=at_least), 500) for at_least in (0, 8)]
    assert listers[0].threshold == listers[1].threshold > 0.5
    assert policy_state(listers[0]) == policy_state(listers[1])
    assert listers[1].summary()["misses"] == 0  # all were hits for the person


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", "auto"])
def test_what_a_search_left_out_may_tie_with_the_last_score_it_returned(score):
    """A list is truncated if its last candidate is shown: one that equals it may be missing."""
    lister, rng = Shortlister(0.9, score=score), np.random.default_rng(0)
    marked = []
    for _ in range(400):
        scores = np.round(rng.normal(size=12), 1)
        shown = lister.propose(scores, truncated_below=scores.min())
        last_is_shown = int(scores.argmin()) in shown.members
        # With one more candidate in it, a list's relative scores are others: then that one may reach the threshold too.
        assert shown.truncated == last_is_shown or (shown.truncated and score in ("relative", "auto"))
        marked.append(shown.truncated)
        if shown.members:
            lister.hit(shown.round_id, shown.members[0])
        else:
            lister.miss(shown.round_id)
    assert marked[0]
    assert not all(marked)
    assert 0 < lister.summary()["truncated_share"] < 1


def test_a_threshold_that_equals_the_last_score_is_not_above_it():
    lister = Shortlister(0.9)
    for _ in range(200):
        lister.hit(lister.propose([0.5, 0.9]).round_id, 0)
    assert lister.threshold == 0.5
    for below, truncated in ((0.5, True), (np.nextafter(0.5, 0), False), (0.6, True)):
        assert lister.propose([0.9, 0.8], truncated_below=below).truncated is truncated


@pytest.mark.parametrize("score", ["raw", "margin", "relative", "rank", "adaptive", "auto"])
def test_a_search_that_found_nothing_is_a_round(score, tmp_path):
    lister = Shortlister(0.9, score=score, at_least=1)
    with pytest.raises(NoCandidates, match="allow_empty=True"):
        lister.propose([])
    shown = lister.propose([], ids=[], allow_empty=True)
    assert (shown.members, shown.candidates, shown.complete, shown.truncated) == ((), 0, True, False)
    lister.save(tmp_path / "lister.json")
    lister = Shortlister.load(tmp_path / "lister.json")
    lister.miss(shown.round_id)
    summary = lister.summary()
    assert (summary["rounds"], summary["misses"], summary["counted"], summary["candidate_recall"]) == (1, 1, 1, 0.0)
