"""Auctions: bids, their law, and the reserve price."""

import numpy as np
import pytest

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.tasks import (
    AuctionTask,
    BidTable,
    data_file,
    read_bids,
)


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
