"""Tasks: the score sets that ship, what is drawn from them, and their laws."""

import math
from pathlib import Path

import numpy as np
import pytest

from shortlist import metrics
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.run import law_of
from shortlist.lab.tasks import (
    TASKS,
    AuctionTask,
    BidTable,
    Stream,
    data_file,
    load_task,
    read_bids,
    read_scores,
)

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


@pytest.mark.parametrize("name", ["images", "retrieval", "auctions"])
def test_list_lengths_are_counted_right(name):
    task = load_task(name)
    stream = task.draw(rng(3), 400)
    table, rows = stream.candidates
    for thresholds in (
        rng(4).choice(stream.true_scores, 400),
        np.full(400, -np.inf),
        np.full(400, np.inf),
        stream.true_scores,
    ):
        sizes = stream.set_sizes(thresholds)
        assert sizes.tolist() == metrics.set_size(thresholds, table[rows]).tolist()
    assert (stream.set_sizes(stream.true_scores) >= 1).all()  # the right answer is among the candidates


def test_the_optimal_thresholds_are_those_of_the_prototype():
    """Mean list lengths at the optimal threshold, and the reserve price, as measured elsewhere."""
    for name, length in (("images", 3.27), ("retrieval", 11.2)):
        task = load_task(name)
        best = law_of(task).optimal_threshold(0.9)
        sizes = metrics.set_size(
            np.full(len(task.scores.true_scores), best), task.scores.candidate_scores.astype(np.float64)
        )
        assert sizes.mean() == pytest.approx(length, rel=0.03)
    law = law_of(load_task("auctions"))
    assert law.optimal_threshold(0.9) == 180.0
    assert float(law.miscoverage(180.0)) == pytest.approx(0.0915, abs=5e-5)


def test_revenue_has_the_papers_three_cases():
    stream = Stream(np.array([10.0] * 5), second_bids=np.array([6.0] * 5))
    revenue = stream.revenue(np.array([-math.inf, 6.0, 8.0, 10.0, 10.5]))
    assert revenue.tolist() == [6.0, 6.0, 8.0, 10.0, 0.0]
    assert Stream(np.zeros(2)).revenue(np.zeros(2)) is None
    assert Stream(np.zeros(2)).set_sizes(np.zeros(2)) is None


def test_the_law_of_the_highest_bid_is_exact():
    task = AuctionTask(BidTable(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 2])), "a test", bidders=2)
    values, weights = task.population
    assert values.tolist() == [1.0, 2.0, 3.0]
    assert weights.tolist() == [1 / 16, 3 / 16, 12 / 16]


def test_bids_by_item_add_up():
    path = data_file("auctions.csv")
    whole = read_bids(path)
    items = ("Cartier wristwatch", "Palm Pilot M515 PDA", "Xbox game console")
    parts = [read_bids(path, item) for item in items]
    assert whole.counts.sum() == 10_681 == sum(part.counts.sum() for part in parts)
    with pytest.raises(InvalidParameter, match="there are no bids on 'Ferrari'; there are bids on: Cartier"):
        read_bids(path, "Ferrari")


@pytest.mark.parametrize(
    "row",
    ["x,one,1", "x,1.0,many", "x,1.0,0", "x,nan,1", "x,1.0"],
    ids=["value", "count", "zero", "nan", "short"],
)
def test_bad_bids_are_refused(row, tmp_path):
    path = tmp_path / "bids.csv"
    path.write_text(f"item,value,count\nx,1.0,1\n{row}\n")
    with pytest.raises(InvalidScores, match="row 2"):
        read_bids(path)


def test_unknown_tasks_are_refused():
    with pytest.raises(InvalidParameter, match="task is 'speech'; it must be one of images"):
        load_task("speech")


def test_the_data_that_ships_is_small():
    assert sum(path.stat().st_size for path in data_file("").iterdir()) < 6_000_000


@shared
def test_the_data_that_ships_is_the_raw_data():
    with np.load(SHARED / "squad" / "squad_minilm_scores_block100.npz") as raw:
        scores = read_scores(data_file("retrieval.npz"))
        assert np.abs(scores.candidate_scores - raw["scores_bm25"]).max() < 3e-4
    with np.load(SHARED / "imagenet" / "imagenet_val5k_efficientnet_lite0.npz") as raw:
        logits, labels = raw["logits"], raw["labels"]
    scores = read_scores(data_file("images.npz"))
    rows = {row.tobytes(): i for i, row in enumerate(logits)}
    found = [rows[row.tobytes()] for row in scores.candidate_scores]
    assert len(set(found)) == 2500
    assert (logits[found, labels[found]] == scores.true_scores).all()
    assert read_bids(data_file("auctions.csv")).counts.sum() == 10_681
