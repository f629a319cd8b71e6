"""Which candidates are shown, in which order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import Array
from shortlist.rounds.settings import Settings

__all__ = ["Selection", "best_first", "select"]

Positions = NDArray[np.intp]


class Selection(NamedTuple):
    """What to show of a list."""

    #: The candidates to show, best first.
    positions: Positions
    #: How many of them reach the threshold: the first so many.
    reached: int
    #: Whether some that reach it are left out.
    truncated: bool


def best_first(positions: Positions, values: Array, comparable: Array) -> Positions:
    """Return positions by comparable score, then by raw score if there is one, then in the order given."""
    if positions.size < 2:
        return positions
    if comparable is values or values.ndim > 1:
        return positions[(-comparable[positions]).argsort(kind="stable")]
    return positions[np.lexsort((-values[positions], -comparable[positions]))]


def select(values: Array, comparable: Array, reached: NDArray[np.bool_], settings: Settings) -> Selection:
    """Return what to show: what reaches the threshold, or more of it (`at_least`, `shadow`), or less (`at_most`)."""
    kept = reached.nonzero()[0]
    if settings.shadow or kept.size < settings.at_least:
        order = best_first(np.arange(len(values)), values, comparable)
        # What reaches the threshold comes first, even if a score of your own does not keep the order.
        order = np.concatenate([order[reached[order]], order[~reached[order]]])
        if settings.shadow:
            return Selection(order, min(max(kept.size, settings.at_least), len(values)), False)
        return Selection(order[: settings.at_least], kept.size, False)
    order = best_first(kept, values, comparable)
    if settings.at_most is not None and order.size > settings.at_most:
        return Selection(order[: settings.at_most], settings.at_most, True)
    return Selection(order, order.size, False)
