"""Second-price auctions with a reserve price, drawn from a table of real bids.

In each round a few bidders draw private values from the empirical distribution of bids. Those whose
value is at least the reserve price bid it; the others stay silent. The seller looks for the highest
reserve price at which the item still sells with probability `coverage`. So the score is the highest bid,
the threshold is the reserve price, and a miss is an unsold item, which reveals only that no bid reached
the reserve price.
"""

import csv
import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import check_count
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.lab.tasks.base import Array, TaskStream

__all__ = ["AuctionTask", "BidTable", "read_bids"]


@dataclass(frozen=True)
class BidTable:
    """Distinct bids in ascending order, with their counts.

    Attributes
    ----------
    values
        The bids.
    counts
        The count of each.
    """

    values: Array
    counts: NDArray[np.int64]


def read_bids(path: str | os.PathLike[str], item: str | None = None) -> BidTable:
    """Return the bids of a table with the columns ``item``, ``value`` and ``count``.

    Parameters
    ----------
    path
        A CSV file.
    item
        Only the bids on this item; None for all items.

    Returns
    -------
    BidTable
        The distinct bids and their counts.

    Raises
    ------
    InvalidScores
        If a row is not an item, a finite value and a positive count.
    InvalidParameter
        If there are no bids on `item`.
    """
    totals: dict[float, int] = {}
    items = set()
    with Path(path).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        for number, row in enumerate(reader, start=1):
            try:
                value, count = float(row["value"]), int(row["count"])
            except (KeyError, TypeError, ValueError):
                raise InvalidScores(f"{path}: row {number} is not an item, a value and a count: {row}") from None
            if not math.isfinite(value) or count < 1:
                raise InvalidScores(f"{path}: row {number} has the value {value} and the count {count}")
            items.add(row.get("item"))
            if item is None or row.get("item") == item:
                totals[value] = totals.get(value, 0) + count
    if not totals:
        others = ", ".join(sorted(str(name) for name in items)) or "nothing"
        raise InvalidParameter(f"{path}: there are no bids on {item!r}; there are bids on: {others}")
    values = np.array(sorted(totals))
    return BidTable(values, np.array([totals[value] for value in values.tolist()]))


@dataclass(frozen=True)
class AuctionTask:
    """Auctions with a fixed number of bidders, who draw their values independently.

    Parameters
    ----------
    bids
        The bids that values are drawn from.
    source
        A sentence on where the bids come from.
    bidders
        The number of bidders in each auction.
    name
        A word for files and figures.
    title
        The title of its figures.
    """

    bids: BidTable
    source: str
    bidders: int = 5
    name: str = "auctions"
    title: str = "Auctions"

    def __post_init__(self) -> None:
        check_count("bidders", self.bidders, least=2)

    @cached_property
    def population(self) -> tuple[Array, Array | None]:
        """The distinct values and the exact probability of each being the highest bid."""
        below_or_at = np.concatenate([[0], np.cumsum(self.bids.counts)]) / self.bids.counts.sum()
        return self.bids.values, np.diff(below_or_at**self.bidders)

    def draw(self, rng: np.random.Generator, rounds: int) -> TaskStream:
        """Return the rounds of one run: the highest and the second highest bid of each.

        Parameters
        ----------
        rng
            The random generator.
        rounds
            The number of rounds.

        Returns
        -------
        TaskStream
            The rounds.
        """
        edges = np.cumsum(self.bids.counts)
        picks = rng.integers(edges[-1], size=(rounds, self.bidders))
        bids = np.sort(self.bids.values[np.searchsorted(edges, picks, side="right")], axis=1)
        return TaskStream(bids[:, -1], candidates=(bids, np.arange(rounds)), second_bids=bids[:, -2])
