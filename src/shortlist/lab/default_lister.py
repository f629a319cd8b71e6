"""A lister with default settings on a run under distribution shift: learned score, threshold, error budget.

All methods get the scores of the first scorer. Auctions have no list and nothing to learn: there the score is
the bid, the threshold is the reserve price, and a seller's lister has one candidate, the highest bid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from shortlist.lab.lister_replay import ListerRun, run_lister
from shortlist.lab.scored_lists import Array, Lists, Rows, Scored, Sizes, lengths_at, score_lists
from shortlist.lab.shifted_streams import Shifting
from shortlist.lab.tasks import TaskStream
from shortlist.policies import Policy
from shortlist.rounds.settings import OnDrift, Settings
from shortlist.scores import Learned, Raw

__all__ = ["Shipped", "shipped"]

#: How many lists are scored in one go.
_BLOCK: Final = 2_000


@dataclass(frozen=True, eq=False)
class Shipped:
    """One run of a lister, and its lists with the score in use.

    Parameters
    ----------
    scored
        The lists that occur in the run, with their comparable scores.
    rows
        The row of each round in them.
    run
        What the lister did.
    score
        The learned score; None for raw scores.
    """

    scored: Scored
    rows: Rows
    run: ListerRun
    score: Learned | None = None

    @property
    def true(self) -> Array:
        """The comparable score of the right answer in each round."""
        return self.scored.true[self.rows]

    def lengths(self, thresholds: Array) -> Sizes:
        """Return how many candidates reach the thresholds."""
        return lengths_at(self.scored, self.rows, thresholds)

    @property
    def shown(self) -> Sizes:
        """How many candidates were shown; in auctions, how many bidders reach the reserve price."""
        if self.score is not None:
            return self.run.lengths
        return np.where(self.run.added > 0, self.scored.lists.counts[self.rows], self.lengths(self.run.thresholds))

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


def shipped(shifting: Shifting, stream: TaskStream, policy: Policy, *, on_drift: OnDrift | None = None) -> Shipped:
    """Return one run of a task under a shift as a lister sees it."""
    assert stream.candidates is not None  # noqa: S101 - every face has candidates
    table, rows = stream.candidates
    every = np.arange(rows.size)
    if not shifting.sets:
        bids = Lists(table[rows].astype(np.float64)[:, :, None], np.full(rows.size, table.shape[1] - 1))
        highest = Lists(stream.true_scores[:, None, None], np.zeros(rows.size, dtype=np.intp))
        run = run_lister(highest, every, Settings(policy=policy, score=Raw(), on_drift=on_drift))
        return Shipped(score_lists(bids, Raw()), every, run)
    used, which = np.unique(rows, return_inverse=True)
    lists = shifting.lists(used)
    run = run_lister(lists, which, Settings(policy=policy, on_drift=on_drift))
    assert run.score is not None  # noqa: S101 - it is learned
    return Shipped(score_lists(lists, run.score), which, run, run.score)
