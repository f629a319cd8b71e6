"""The tasks that ship: what is drawn from them, and their data."""

from pathlib import Path

import numpy as np
import pytest

from shortlist import AnytimeSPS, metrics
from shortlist.errors import InvalidParameter
from shortlist.lab.list_baselines import ReciprocalRankFusion
from shortlist.lab.lister_replay import learn
from shortlist.lab.lists import lists_of
from shortlist.lab.run import law_of
from shortlist.lab.scored_lists import Lists, score_lists
from shortlist.lab.tasks import (
    TASKS,
    data_file,
    load_task,
    read_bids,
    read_scores,
)
from shortlist.scores import Raw, Relative

SHARED = Path(__file__).parents[4] / "shared" / "data"


shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the raw data (../shared/data) is not on this machine")


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", TASKS)
def test_streams_come_from_the_law(name):
    """A large stream's miscoverage at many thresholds is the law's, within six standard errors: false alarm 1e-8."""
    task = load_task(name)
    law, stream = law_of(task), task.draw(rng(), 200_000)
    cuts = np.quantile(stream.true_scores, [0.01, 0.05, 0.1, 0.3, 0.5, 0.9])
    expected = law.miscoverage(cuts)
    measured = (stream.true_scores[:, None] < cuts).mean(axis=0)
    assert np.abs(measured - expected).max() < 6 * 0.5 / 200_000**0.5
    assert stream.true_scores.dtype == np.float64
    assert task.source


@pytest.mark.parametrize("name", TASKS)
def test_the_same_seed_draws_the_same(name):
    task = load_task(name)
    first, again, other = (task.draw(rng(seed), 500).true_scores for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes() != other.tobytes()


def test_unknown_tasks_are_refused():
    with pytest.raises(InvalidParameter, match="task is 'speech'; it must be one of images"):
        load_task("speech")


def test_the_data_that_ships_is_small():
    assert sum(path.stat().st_size for path in data_file("").iterdir()) < 8_000_000


@shared
def test_the_data_that_ships_is_the_raw_data():
    with np.load(SHARED / "squad" / "squad_minilm_scores_block100.npz") as raw:
        scores = read_scores(data_file("retrieval.npz"))
        assert scores.candidate_scores.tobytes() == raw["scores_bm25"].astype(np.float16).tobytes()
        assert np.abs(scores.candidate_scores - raw["scores_bm25"]).max() < 3e-4
        assert not scores.true_columns.any()
    with np.load(SHARED / "imagenet" / "imagenet_val5k_efficientnet_lite0.npz") as raw:
        logits, labels = raw["logits"], raw["labels"]
    scores = read_scores(data_file("images.npz"))
    rows = {row.tobytes(): i for i, row in enumerate(logits)}
    found = [rows[row.tobytes()] for row in scores.candidate_scores]
    assert len(set(found)) == 2500
    assert (logits[found, labels[found]] == scores.true_scores).all()
    assert read_bids(data_file("auctions.csv")).counts.sum() == 10_681
    scores = read_scores(data_file("tools.npz"))
    with np.load(SHARED / "tools" / "metatool_scores.npz") as raw:
        drawn = np.sort(np.random.default_rng(0).choice(8000, size=2000, replace=False))
        assert (scores.tables == np.stack([raw["dense"][drawn], raw["bm25"][drawn]], axis=2)).all()
        assert (scores.true_columns == raw["right"][drawn]).all()


@shared
def test_half_precision_changes_no_list_length_by_one_percent():
    """At the optimal threshold of each score, against the full precision: one scorer, rank fusion, a learned score."""
    full = []
    for name in ("minilm", "bm25"):
        with np.load(SHARED / "squad" / f"squad_{name}_scores_block100.npz") as raw:
            full.append(raw["scores_bm25"].astype(np.float64))
    exact = Lists(np.stack(full, axis=2), np.zeros(len(full[0]), dtype=np.intp), ("dense", "bm25"))
    shipped = lists_of(load_task("retrieval"))
    fused = learn(exact, np.arange(500), AnytimeSPS(0.9))
    ways = [("first", Raw()), ("first", Relative()), ("all", ReciprocalRankFusion()), ("all", fused)]
    for scorers, score in ways:
        lengths = []
        for lists in (exact, shipped):
            scored = score_lists(lists.first if scorers == "first" else lists, score)
            best = metrics.optimal_threshold(scored.true, 0.9)
            lengths.append((scored.scores >= best).sum(axis=1).mean())
        assert lengths[1] == pytest.approx(lengths[0], rel=0.01), score
