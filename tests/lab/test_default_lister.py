"""A lister as shipped under a distribution shift: what it learns, and what it shows."""

import numpy as np
import pytest

from shortlist import AnytimeSPS, ProductLimit, Shortlister
from shortlist.lab.default_lister import shipped
from shortlist.lab.shifted_streams import Shifting, faces
from shortlist.lab.tasks import load_task

POLICY = AnytimeSPS(0.9)


def drawn(name, shift, rounds=1500, seed=0):
    shifting = Shifting(faces(load_task(name), shift), shift)
    return shifting, shifting.draw(np.random.default_rng(seed), rounds)


@pytest.mark.parametrize("policy", [ProductLimit(0.9), POLICY], ids=["default", "delta"])
@pytest.mark.parametrize(("name", "shift"), [("retrieval", "abrupt"), ("tools", "degrading"), ("images", "burst")])
def test_it_is_what_a_lister_shows_round_by_round(name, shift, policy):
    shifting, stream = drawn(name, shift)
    lister, run = Shortlister(policy=policy), shipped(shifting, stream, policy)
    sizes, covered = [], []
    rows = stream.candidates[1]
    lists = shifting.lists(rows)
    for values, right in zip(lists.values[:, :, 0], lists.right.tolist(), strict=True):
        shown = lister.propose(values)
        sizes.append(len(shown.members))
        covered.append(right in shown.members)
        lister.reveal(shown.round_id, right)
    assert run.shown.tolist() == sizes
    assert run.run.covered.tolist() == covered
    if shift != "burst" and policy is POLICY:
        assert (run.shown > run.lengths(run.run.thresholds)).any()


def test_a_reserve_price_is_on_the_bid():
    shifting, stream = drawn("auctions", "abrupt")
    run = shipped(shifting, stream, POLICY)
    assert (run.run.begin, run.score, run.populations(shifting)) == (0, None, None)
    assert (run.true == stream.true_scores).all()
    thresholds, lengthened = run.run.thresholds, run.run.added > 0
    assert lengthened.any()  # once the budget is spent, nothing is reserved
    assert (run.run.covered == ((stream.true_scores >= thresholds) | lengthened)).all()
    assert (run.shown == np.where(lengthened, 5, stream.set_sizes(thresholds))).all()


def test_populations_are_all_questions_through_the_score():
    shifting, stream = drawn("retrieval", "abrupt", rounds=400)
    run = shipped(shifting, stream, POLICY)
    first, second = run.populations(shifting)
    assert (first.size, second.size) == (10_570, 5_285)
    everything = np.concatenate([first, second])
    assert (everything[stream.candidates[1]] == run.true).all()
