"""Ways of making lists: whole runs as arrays are what a lister shows round by round."""

import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister
from shortlist.lab.list_baselines import VARIANTS, ReciprocalRankFusion, compare, label_of_variant
from shortlist.lab.lists import lists_of
from shortlist.lab.scored_lists import Lists
from shortlist.lab.tasks import load_task

DELTA = 0.05


def ragged(rounds=900, seed=0):
    """Lists of 1 to 12 candidates by three scorers, with gaps; in some the right one is not there."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(rounds, 12))
    values = truth[:, :, None] * [2.0, 1.0, 0.0] + rng.normal(size=(rounds, 12, 3))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[np.arange(12) >= rng.integers(1, 13, size=rounds)[:, None]] = np.nan
    values[:, 0, 0] = rng.normal(size=rounds)  # everybody has at least one candidate, by the first scorer
    there = ~np.isnan(values).all(axis=2)
    right = np.where(there, truth + rng.gumbel(size=truth.shape) / 2, -np.inf).argmax(axis=1)
    return Lists(values, np.where(rng.random(rounds) < 0.03, -1, right), ("dense", "bm25", "noise"))


def shown_by(lister, lists, rows, scorers):
    """Return the length of each list that a lister shows, and whether the right one was in it."""
    sizes, covered = [], []
    for row in rows:
        there = ~np.isnan(lists.values[row]).all(axis=1)
        table = lists.values[row][there]
        scores = {name: table[:, j] for j, name in enumerate(lists.scorers)} if scorers > 1 else table[:, 0]
        shown = lister.propose(scores, ids=np.flatnonzero(there).tolist())
        right = int(lists.right[row])
        sizes.append(len(shown.members))
        covered.append(right in shown.members)
        if right in shown.members:
            lister.hit(shown.round_id, right)
        else:
            lister.miss(shown.round_id)
    return sizes, covered


@pytest.mark.parametrize("name", ["retrieval", "tools", "ragged"])
@pytest.mark.parametrize("variant", ["raw", "relative", "rrf", "auto", "auto-all", "default"])
def test_it_is_what_a_lister_shows_round_by_round(name, variant):
    lists = ragged() if name == "ragged" else lists_of(load_task(name))
    rows = np.random.default_rng(3).integers(len(lists.values), size=800)
    way = compare(lists, rows, 0.9, DELTA)[variant]
    of = lists if variant in ("rrf", "auto-all", "default") else lists.first
    score = {"rrf": ReciprocalRankFusion(), "default": "auto"}.get(variant, variant.partition("-")[0])
    strict = Shortlister(policy=AnytimeSPS(0.9, DELTA), score=score, miss_budget=None)
    lister = Shortlister(0.9) if variant == "default" else strict
    sizes, covered = shown_by(lister, of, rows, len(of.scorers))
    assert way.sizes.tolist() == sizes
    assert way.covered.tolist() == covered
    assert min(sizes[-50:]) < of.counts[rows[-50:]].max()  # something was cut


def test_rank_fusion_is_its_formula():
    table = np.array([[3.0, 1.0], [3.0, np.nan], [1.0, 5.0], [np.nan, 5.0]])
    by_hand = [1 / 61 + 1 / 63, 1 / 61, 1 / 63 + 1 / 61, 1 / 61]
    assert ReciprocalRankFusion()(table).tolist() == pytest.approx(by_hand, abs=1e-15)
    assert ReciprocalRankFusion()(np.stack([table, table[::-1]]))[1].tolist() == pytest.approx(by_hand[::-1])


def test_top_k_is_the_smallest_that_covers_as_much():
    """By brute force, in lists without ties; and with nothing but ties, where order is chance."""
    lists = lists_of(load_task("retrieval"))
    rows = np.random.default_rng(1).integers(len(lists.values), size=3000)
    ways = compare(lists, rows, 0.9, DELTA)
    jitter = np.random.default_rng(2).random(lists.values.shape[:2]) * 1e-9  # breaks ties at random
    made = (lists.values[:, :, 0] + jitter)[rows]
    ranks = (made > made[:, :1]).sum(axis=1)
    recall = [(ranks < k).mean() for k in range(1, 52)]
    k = int(ways["top-k"].sizes[0])
    assert ways["top-k"].score == f"top {k} by dense"
    assert recall[k - 2] - 1e-3 < ways["default"].coverage <= recall[k - 1] + 1e-3
    assert ways["top-k"].coverage == pytest.approx((ranks < k).mean(), abs=2e-3)
    alike = Lists(np.ones((200, 10, 1)), np.zeros(200, dtype=np.intp))
    equal = compare(alike, np.arange(200), 0.9, DELTA)["top-k"]
    assert (equal.score, equal.coverage) == ("top 10", 1.0)  # all ten must be shown


def test_autocut_cuts_at_the_largest_gap():
    values = np.array([[9.0, 8.0, 2.0, 1.0], [5.0, 1.0, np.nan, np.nan], [3.0, 3.0, 3.0, 3.0], [7.0, 7.0, 4.0, 1.0]])
    lists = Lists(values[:, :, None], np.array([1, 1, 3, -1]))
    way = compare(lists, np.array([0, 1, 2, 3, 0]), 0.9, DELTA)["autocut"]
    assert way.sizes.tolist() == [2, 1, 4, 2, 2]
    assert way.covered.tolist() == [1.0, 0.0, 1.0, 0.0, 1.0]


def test_every_way_has_a_name_and_its_scorers():
    one = compare(ragged().first, np.arange(200), 0.9, DELTA)
    assert list(one) == ["sps", "raw", "relative", "auto", "default", "top-k", "autocut"]
    several = compare(ragged(), np.arange(200), 0.9, DELTA)
    assert tuple(several) == VARIANTS
    names = [label_of_variant(variant, ["dense", "bm25"]) for variant in VARIANTS]
    assert len(set(names)) == len(VARIANTS)
    assert label_of_variant("top-k", ["dense", "bm25"]) == "fixed top-k by dense"
