r"""The error budget: a bound on misses that holds under any distribution shift, for any sequence of rounds.

**Idea.** A leaky bucket of misses. Every answered round lets out the share of misses that coverage allows; every miss
of a cut list adds one. As it fills up, lists get longer; before it can overflow, they are complete,
and a complete list cannot miss.

**Rule.** With p0 = 1 - coverage, size H, and m candidates in a list, before the list is shown:

$$D > H - 1 + p_0: \text{everything} \qquad D > h: \text{the base list and the next } \lceil m^u \rceil,
\quad u = \frac{D - h}{H - 1 + p_0 - h} \qquad \text{else: the base list}$$

where the base list is what reaches the threshold. After an answer

$$D \leftarrow \max(0, D + \mathbb{1}[\text{the right answer was not shown}] - p_0)$$

with two exceptions. A miss of a complete list only leaks: the right answer was not among the candidates, and no list
could have contained it. A miss of a page that `at_most` cut shorter than the rule asked never raises D above H.

**Guarantee.** In any W consecutive answered rounds, at most p0 W + H lists miss among those that were cut and showed
all that the rule asked for: for every W, every sequence, every adversary. Proof: D never exceeds H, since above
H - 1 + p0 the list is complete, and below that a miss adds at most 1 - p0; each answered round removes at most p0, and
each such miss adds 1 - p0. With at most q lists unanswered at a time, the bound is p0 W + H + (q - 1) c in the order of
answers.

The guarantee for a stationary distribution is unaffected: what is shown contains the base list, and a pick below the
threshold of its own base list counts as below the threshold, as a miss would.

**Cost.** O(1) per round. D is an integer in units of p0's denominator, so rounding errors never accumulate.
"""

import math
from dataclasses import dataclass
from typing import Final

from shortlist._validation import miss_rate

__all__ = ["Budget", "BudgetState"]

#: Where lists start to grow: h is this many fifths of H - 1. Fewer cost more under a stationary distribution, more cost
#: more after a shift (`make measure NAME=budget`).
_FIFTHS: Final = 3
#: About how many answered rounds the burn rate averages over.
_RECENT: Final = 100


@dataclass(slots=True)
class BudgetState:
    """The state of a bucket."""

    #: D, in units of p0's denominator.
    spent: int = 0
    #: The share of misses in the latest answered rounds: the mean at first, then an exponential average.
    recent: float = 0.0
    #: The answered rounds it averages over.
    answered: int = 0


class Budget:
    """The bucket of one threshold.

    Parameters
    ----------
    size
        H, the number of misses it holds.
    coverage
        The target coverage; the misses it allows leak out.
    state
        The state to continue from.

    Examples
    --------
    >>> budget, growth = Budget(size=3, coverage=0.9), []
    >>> for _ in range(3):
    ...     budget.take(missed=True)
    ...     growth.append(budget.more(100))  # how many of 100 candidates to show beyond the base list
    >>> growth, budget.spent
    ([0, 22, 100], 2.7)
    """

    __slots__ = ("_full", "_leak", "_p0", "_soft", "_unit", "size", "state")

    def __init__(self, size: int, coverage: float, state: BudgetState | None = None) -> None:
        p0 = miss_rate(coverage)
        self.size = size
        self.state = BudgetState() if state is None else state
        self._p0 = float(p0)
        self._leak, self._unit = p0.numerator, p0.denominator
        # In units: above the first everything is shown, above the second lists grow.
        self._full = (size - 1) * self._unit + self._leak
        self._soft = _FIFTHS * (size - 1) * self._unit // 5

    @property
    def spent(self) -> float:
        """D, the number of misses spent."""
        return self.state.spent / self._unit

    @property
    def burn_rate(self) -> float:
        """The recent miss rate as a multiple of the allowed one: above 1 the budget shrinks."""
        return self.state.recent / self._p0

    def more(self, candidates: int, spent: int | None = None) -> int:
        """Return how many of so many candidates to show beyond the base list, at the current level or at `spent`."""
        level = self.state.spent if spent is None else spent
        if level > self._full:
            return candidates
        if level <= self._soft:
            return 0
        growth: float = float(candidates) ** ((level - self._soft) / (self._full - self._soft))
        return math.ceil(growth - 1e-9)  # powers differ in the last bit between machines

    def take(self, *, missed: bool, everything: bool = False, paged: bool = False) -> None:
        """Take an answer.

        Parameters
        ----------
        missed
            Whether the right answer was not in what was shown.
        everything
            Whether every candidate was shown.
        paged
            Whether less was shown than the rule asked.
        """
        state = self.state
        spent = after = max(0, state.spent - self._leak)
        charged = missed and not everything
        if charged:
            after = state.spent + self._unit - self._leak
            if paged:
                after = max(spent, min(self.size * self._unit, after))
        state.spent = after
        state.answered = min(state.answered + 1, _RECENT)
        state.recent += (charged - state.recent) / state.answered
