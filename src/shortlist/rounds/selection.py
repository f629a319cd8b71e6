"""Which candidates are shown, and in which order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import Array
from shortlist.rounds.settings import Settings

__all__ = ["Positions", "Selection", "all_best_first", "best_first", "select"]

Positions = NDArray[np.intp]


class Selection(NamedTuple):
    """What to show of a list."""

    #: The candidates to show, best first.
    positions: Positions
    #: How many of them reach the threshold: the first `reached`.
    reached: int
    #: Whether some that reach it are left out.
    truncated: bool
    #: How many of them the error budget adds: the last `added`; in shadow mode, of those that would be shown.
    added: int = 0
    #: How many would be shown, if `at_most` leaves some of them out.
    asked: int | None = None


def best_first(positions: Positions, values: Array, comparable: Array) -> Positions:
    """Return positions by comparable score, then by raw score if there is one, then in the order given."""
    if positions.size < 2:
        return positions
    if comparable is values or values.ndim > 1:
        return positions[(-comparable[positions]).argsort(kind="stable")]
    return positions[np.lexsort((-values[positions], -comparable[positions]))]


def all_best_first(values: Array, comparable: Array, reached: NDArray[np.bool_]) -> Positions:
    """Return the positions of all candidates, best first."""
    order = best_first(np.arange(len(values)), values, comparable)
    # What reaches the threshold comes first, even if a user's own score does not preserve the order.
    return np.concatenate([order[reached[order]], order[~reached[order]]])


def select(
    values: Array,
    comparable: Array,
    reached: NDArray[np.bool_],
    settings: Settings,
    more: int = 0,
    first: int | None = None,
    limits: Sequence[int] | None = None,
) -> Selection:
    """Return what to show.

    What reaches the threshold, of which only the best `first` if that is given; or more: the `more` candidates that
    the error budget adds, up to `at_least`, or all of them in shadow mode; or less: `at_most`. For this list alone,
    `limits` are an `at_least` and an `at_most` of the caller's.
    """
    kept = reached.nonzero()[0]
    base, count = kept.size, len(values)
    if first is not None:
        base = min(base, first)
    least, most = settings.at_least, settings.at_most
    if limits is not None:
        least, most = max(least, limits[0]), limits[1] if most is None else min(most, limits[1])
    usual = base if base >= least else min(least, count)
    asked = max(usual, min(base + more, count))
    page = asked if most is None else min(asked, most)
    if asked == base and not settings.shadow:
        order = best_first(kept, values, comparable)
    else:
        order = all_best_first(values, comparable, reached)
        if settings.shadow:
            return Selection(order, asked, False, asked - usual)
    if page < asked:
        return Selection(order[:page], min(base, page), page < base, max(0, page - usual), asked)
    return Selection(order[:asked], base, False, asked - usual)
