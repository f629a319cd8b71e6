r"""Lists as they are kept for the fit of a learned score: at most 128 candidates of each, however long the list is.

A fit sees the other candidates of a list only through sums. Mean and spread of each scorer's values, which z-scores are
made of, are kept exactly. The sum of exp(score) over all candidates is estimated: the best 64 are kept, and 64 drawn at
random from the other m - 64 stand for all of those, each with the weight (m - 64)/64. The pick is always kept, with
weight 1; if it is one of the others, the drawn ones stand for m - 65. So the estimate is unbiased, and size and time of
a fit are bounded: picks x 129 x scorers.

The draw is a pure function of the stream's seed and the round's name. A list of up to 128 candidates is kept whole,
and its fit has the same bits as without any of this.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from shortlist.scores.fixed import Array, spread_out

__all__ = ["MOST_KEPT", "Example", "KeptList", "fill", "keep", "scale_of"]

#: The most candidates that are kept of a list, besides the pick.
MOST_KEPT: Final = 128
#: How many of them are the best of the list; the others are drawn at random.
_BEST: Final = 64


class Example(NamedTuple):
    """A list, and the position of the pick."""

    #: One number per candidate, or one row of numbers, NaN where a scorer has none.
    values: Array
    position: int
    #: How many candidates of the list each of these stands for; None if the list is kept whole.
    weights: Array | None = None
    #: For each scorer, what `scale_of` returned for the whole list; None as above.
    scale: Array | None = None


class KeptList(NamedTuple):
    """A list that may become an example when it is answered."""

    values: Array
    #: Which candidates these are; None if all.
    positions: list[int] | None = None
    #: How many of them, the first, stand for themselves alone; the others were drawn.
    best: int = 0
    #: How many candidates the list has.
    size: int = 0
    scale: Array | None = None

    @property
    def unpicked(self) -> Example:
        """The list as an example in which nothing was picked: its position means nothing."""
        if self.positions is None:
            return Example(self.values, 0)
        others = len(self.positions) - self.best
        weights = np.ones(len(self.positions))
        weights[self.best :] = (self.size - self.best) / max(1, others)
        return Example(self.values, 0, weights, self.scale)

    def example(self, position: int, row: Any = None) -> Example:
        """Return the example of a pick, by its position in the list, and its values, if it may not be kept."""
        if self.positions is None:
            return Example(self.values, position)
        positions, values = self.positions, self.values
        others = len(positions) - self.best
        if position in positions:
            picked = positions.index(position)
            standing = self.size - self.best - (picked >= self.best)
            weights = np.where(
                np.arange(len(positions)) < self.best, 1.0, standing / max(1, others - (picked >= self.best))
            )
            weights[picked] = 1.0
        else:
            picked = len(positions)
            values = np.concatenate([values, np.array(row, dtype=np.float64)[None]])
            weights = np.ones(picked + 1)
            weights[self.best : picked] = (self.size - self.best - 1) / others
        return Example(values, picked, weights, self.scale)


def keep(values: Array, best_first: list[int], draw: Any) -> KeptList:
    """Return a list as it is kept.

    Parameters
    ----------
    values
        Its scores.
    best_first
        The positions of candidates, best first; empty if they are in random order.
    draw
        Called with a number of candidates; returns their positions in random order.
    """
    count = len(values)
    if count <= MOST_KEPT:
        return KeptList(values)
    best = best_first[:_BEST]
    is_other = np.ones(count, dtype=bool)
    is_other[best] = False
    others = is_other.nonzero()[0]
    positions = [*best, *others[draw(len(others))[: MOST_KEPT - len(best)]].tolist()]
    return KeptList(values[positions], positions, len(best), count, scale_of(values))


def fill(column: Array) -> tuple[Array, Any]:
    """Return a scorer's values with gaps filled by the list's lowest (0 if all are missing), and where the gaps are."""
    if not np.isnan(np.maximum.reduce(column, axis=None)):  # it passes NaN on
        return column, None
    gaps = np.isnan(column)
    lowest = np.minimum.reduce(np.where(gaps, np.inf, column), axis=-1, keepdims=True)
    return np.where(gaps, np.where(np.isfinite(lowest), lowest, 0.0), column), gaps


def scale_of(values: Array) -> Array:
    """Return for each scorer half its lowest value, half its range, and mean and deviation in units of the range."""
    columns = values[:, None] if values.ndim == 1 else values
    rows = []
    for column in columns.T:
        filled, _ = fill(column)
        _, deviation, half = spread_out(filled)
        low = np.minimum.reduce(filled, keepdims=True) / 2
        unit = (filled / 2 - low) / np.where(half > 0, half, 1.0)
        rows.append([low.item(), half.item(), (np.add.reduce(unit) / len(unit)).item(), deviation.item()])
    return np.array(rows)
