"""The Shortlister: what it shows, what it learns, and what it refuses."""

import math
import re

import numpy as np
import pytest

from shortlist import AnytimeSPS, ProductLimit, Shortlister, ShortlistError, metrics
from shortlist.errors import (
    DuplicateIds,
    InvalidIds,
    InvalidScores,
    NoCandidates,
)
from tests.listers.inside import everything, policy_state
from tests.listers.playing import answer, both_guarantees, both_scores, teach


@both_guarantees
def test_the_contracts_example(delta):
    lister = Shortlister(coverage=0.9, delta=delta)
    assert lister.policy == (AnytimeSPS(coverage=0.9, delta=delta) if delta else ProductLimit(coverage=0.9))
    assert lister.settings.miss_budget == 20
    shown = lister.propose([0.2, 0.9, 0.4])
    assert re.fullmatch("[0-9a-f]{10}-0", shown.round_id)
    assert (shown.threshold, shown.members) == (-math.inf, (1, 2, 0))
    assert (shown.scores, shown.reached) == ((0.9, 0.4, 0.2), 3)
    assert not shown.truncated
    lister.hit(shown.round_id, 1)
    assert lister.threshold == -math.inf
    assert lister.summary()["hits"] == 1


@both_scores
def test_it_learns_what_its_policy_learns(score):
    """Raw from the first round on; with auto from the fit on, of the frozen score, and of no earlier round."""
    lister, policy = Shortlister(0.9, delta=0.01, score=score), AnytimeSPS(0.9)
    state = policy.init()
    rng = np.random.default_rng(3)
    frozen = np.asarray if score == "raw" else None
    for i in range(1500):
        scores = rng.random(5)
        answer(lister, lister.propose(scores))
        if frozen is None:
            assert i < 30
            frozen = lister.learned
        else:
            policy.update(state, float(frozen(scores)[0]))
    assert lister.summary()["counted"] == state.rounds == (1500 if score == "raw" else 1470)
    assert lister.threshold == state.threshold > 0.05


def test_answers_late_in_any_order_teach_the_same():
    rng = np.random.default_rng(4)
    ends = []
    for order in (np.arange(600), rng.permutation(600)):
        lister = Shortlister(0.9, score="raw", patience=1000)
        stream = np.random.default_rng(5).random((600, 5))
        shown = [lister.propose(scores) for scores in stream]
        assert lister.summary()["open"] == 600
        for i in order.tolist():
            lister.hit(shown[i].round_id, 0)
        ends.append(policy_state(lister))
        assert lister.summary()["open"] == 0
    assert ends[0] == ends[1]
    assert ends[0].threshold > 0


BAD_PROPOSALS = [
    (([0.1, math.nan],), InvalidScores, "scores[1] is nan; scores must be finite"),
    (([math.inf],), InvalidScores, "scores[0] is inf"),
    (([-math.inf, 1],), InvalidScores, "scores[0] is -inf"),
    (([],), NoCandidates, "scores are empty"),
    (([[0.1, 0.2]],), InvalidScores, "scores have the shape (1, 2), without names: if these are 2 candidates"),
    (({"dense": [0.1]},), InvalidScores, "the scores are of 'dense', and those of the first round were of one scorer"),
    (([[[0.1], [0.2]]],), InvalidScores, "scores have the shape (1, 2, 1)"),
    ((0.5,), InvalidScores, "scores are of type float; give a list"),
    (("abc",), InvalidScores, "scores are of type str"),
    ((None,), InvalidScores, "scores are of type NoneType"),
    ((np.array(0.5),), InvalidScores, "scores have the shape ()"),
    ((np.ma.array([0.1, 0.9], mask=[0, 1]),), InvalidScores, "scores are a masked array"),
    ((["high", "low"],), InvalidScores, "they must be numbers"),
    (([True, False],), InvalidScores, "scores are of type bool"),
    (([None, 1.0],), InvalidScores, "they must be numbers"),
    (([1j],), InvalidScores, "they must be numbers"),
    (([[1.0], [1.0, 2.0]],), InvalidScores, "cannot be read"),
    (([0.1, 0.2], ["a", "a"]), DuplicateIds, "id 'a' is given twice"),
    (([0.1, 0.2], ["a"]), InvalidIds, "there are 1 ids for 2 scores"),
    (([0.1], [None]), InvalidIds, "id None is a NoneType; ids must be strings or integers"),
    (([0.1], [1.5]), InvalidIds, "id 1.5 is a float"),
    (([0.1], [True]), InvalidIds, "id True is a bool"),
    (([0.1, 0.2], {"a", "b"}), InvalidIds, "ids are of type set; give a list"),
    (([0.1, 0.2], "ab"), InvalidIds, "ids are of type str"),
    (([0.1], 5), InvalidIds, "ids are of type int"),
    (([0.1], [10**5000]), InvalidIds, "must fit in 64 bits"),
    (([0.1], ["\ud800"]), InvalidIds, "cannot be stored as UTF-8"),
]


@pytest.mark.parametrize(
    ("arguments", "error", "message"), BAD_PROPOSALS, ids=[message for _, _, message in BAD_PROPOSALS]
)
def test_bad_proposals_are_named_and_change_nothing(arguments, error, message):
    lister = teach(Shortlister(), 100)
    before = everything(lister)
    with pytest.raises(error) as caught:
        lister.propose(*arguments)
    assert message in str(caught.value)
    assert isinstance(caught.value, ShortlistError)
    assert isinstance(caught.value, ValueError)
    assert everything(lister) == before


@both_scores
def test_coverage_is_held_on_the_real_retrieval_scores(score):
    """False alarm: 1e-7 for the threshold, and twelve standard errors for the coverage seen."""
    from shortlist.lab.tasks import load_task  # noqa: PLC0415 - only here

    task = load_task("retrieval")
    rows = np.random.default_rng(9).integers(len(task.scores.true_scores), size=3000)
    lists = task.scores.candidate_scores.astype(np.float64)
    lister = Shortlister(0.9, 1e-7, score=score)
    for row in rows.tolist():
        answer(lister, lister.propose(lists[row]))  # the right passage is the first candidate
    frozen = lister.learned
    best = metrics.optimal_threshold((lists if frozen is None else frozen(lists))[:, 0], 0.9)
    assert lister.threshold <= best
    assert lister.summary()["coverage_seen"] >= 0.9
