"""A limit that is fixed once."""

import itertools
from dataclasses import dataclass

from shortlist._validation import check_count
from shortlist.boundaries.base import Boundary, Constants, walk_limits

__all__ = ["Held", "held"]


def held(n: int, k: int, first: float, second: float, constants: Constants) -> tuple[int, float, float]:
    """Advance a limit that is fixed once."""
    held_until, held_limit, _, _, _ = constants
    if n + 1 >= held_until:
        k = int(held_limit)
    return k, first, second


@dataclass(frozen=True)
class Held(Boundary):
    """-1 until a given round, then fixed at another boundary's value in that round.

    Explore, then commit. Guarantee: that of the other boundary in that single round.

    Parameters
    ----------
    boundary
        The boundary that gives the value.
    rounds
        The round in which it is read.

    Examples
    --------
    >>> from shortlist.boundaries import Quantile
    >>> Held(Quantile(), rounds=100).limits(coverage=0.9, rounds=200)[[98, 99, 199]].tolist()
    [-1, 10, 10]
    """

    advance = staticmethod(held)
    boundary: Boundary
    rounds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", check_count("rounds", self.rounds))

    @property
    def last(self) -> float:
        """The last round in which k can change."""
        return float(self.rounds)

    def constants(self, coverage: float, share: float = 1.0) -> Constants:
        """Return the round, and the limit from that round on: see `Boundary.constants`."""
        inner = self.boundary
        limits = walk_limits(inner.advance, inner.constants(coverage, share), inner.start(coverage))
        decided = next(itertools.islice(limits, self.rounds - 1, None))
        return float(self.rounds), float(decided), 0.0, 0.0, 0.0
