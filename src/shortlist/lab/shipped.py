"""A lister with default settings on a run under distribution shift: learned score, base threshold, error budget.

All methods get the scores of the first scorer. Auctions have no list and nothing to learn: there the score is
the bid, and the threshold is the reserve price.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.budgets import Bases, thresholds_of
from shortlist.lab.comparison import Lists, Rows, Scored, learned, score_lists
from shortlist.lab.shifts import Shifting
from shortlist.lab.tasks import Stream
from shortlist.policies import OrderStatistic
from shortlist.scores import Learned, Raw

__all__ = ["Shipped", "shipped"]

Array = NDArray[np.float64]

#: How many lists are scored in one go.
_BLOCK: Final = 2_000


@dataclass(frozen=True, eq=False)
class Shipped:
    """The lists of one run with the score in use.

    Parameters
    ----------
    scored
        The lists that occur in the run, with their comparable scores.
    rows
        The row of each round in them.
    begin
        The first round after the fit.
    score
        The learned score; None for raw scores.
    """

    scored: Scored
    rows: Rows
    begin: int = 0
    score: Learned | None = None

    @property
    def true(self) -> Array:
        """The comparable score of the right answer in each round."""
        return self.scored.true[self.rows]

    def thresholds(self, policy: OrderStatistic, false_alarm_rounds: int | None = None) -> Array:
        """Return the base thresholds, with restarts if the setting of a drift alarm is given."""
        return thresholds_of(policy, self.true, self.begin, false_alarm_rounds=false_alarm_rounds)

    def bases(self, thresholds: Array) -> Bases:
        """Return the base lists at some thresholds."""
        return self.scored.bases(self.rows, thresholds)

    def populations(self, shifting: Shifting) -> list[Array] | None:
        """Return the comparable true scores of each face's questions; None for raw scores."""
        return None if self.score is None else list(_populations(self.score, shifting))


def _populations(score: Learned, shifting: Shifting) -> Iterator[Array]:
    start = 0
    for one in shifting.sets:
        rows = np.arange(start, start + len(one.true_scores))
        start += rows.size
        blocks = np.array_split(rows, max(1, rows.size // _BLOCK))
        yield np.concatenate([score_lists(shifting.lists(block), score).true for block in blocks])


def shipped(shifting: Shifting, stream: Stream, policy: OrderStatistic) -> Shipped:
    """Return one run of a task under a shift as a lister sees it."""
    assert stream.candidates is not None  # noqa: S101 - every face has candidates
    table, rows = stream.candidates
    if not shifting.sets:
        bids = Lists(table[rows].astype(np.float64)[:, :, None], np.full(rows.size, table.shape[1] - 1))
        return Shipped(score_lists(bids, Raw()), np.arange(rows.size))
    used, which = np.unique(rows, return_inverse=True)
    lists = shifting.lists(used)
    score, begin = learned(lists, which, policy)
    return Shipped(score_lists(lists, score), which, begin, score)
