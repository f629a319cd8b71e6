"""The error budget on whole runs: the lists of a `shortlist.Shortlister` whose answers are prompt.

With one right answer in each list, base thresholds do not depend on the budget. So they are computed
first, for a whole run; the budget is then applied to the lengths of the base lists and the ranks of the right answers.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist._replay import replay
from shortlist.policies import Policy
from shortlist.rounds.budget import Budget
from shortlist.rounds.settings import DEFAULT_BUDGET, Settings
from shortlist.rounds.tracker import make_tracker

__all__ = ["MISS_BUDGET", "Bases", "Spent", "spend", "thresholds_of"]

Array = NDArray[np.float64]
Sizes = NDArray[np.int64]

#: The size of the budget as shipped.
MISS_BUDGET: Final = int(DEFAULT_BUDGET)


@dataclass(frozen=True, eq=False)
class Bases:
    """The base lists of a run: the candidates that reach the threshold.

    Parameters
    ----------
    lengths
        The length of each list.
    places
        How many candidates come before the right answer, best first; all of them if it is absent.
    counts
        The number of candidates of each round.
    """

    lengths: Sizes
    places: Sizes
    counts: Sizes


@dataclass(frozen=True, eq=False)
class Spent:
    """The lists that are shown with a budget.

    Parameters
    ----------
    lengths
        The length of each list.
    covered
        Whether the right answer is in it.
    """

    lengths: Sizes
    covered: NDArray[np.bool_]


def thresholds_of(policy: Policy, true: Array, begin: int = 0, *, false_alarm_rounds: int | None = None) -> Array:
    """Return the base threshold of each round, with everything shown before round `begin`.

    Parameters
    ----------
    policy
        The policy.
    true
        The comparable score of the right answer in each round, minus infinity if it is absent.
    begin
        The first round that counts.
    false_alarm_rounds
        Restart at drift alarms with this setting; None for no alarms.
    """
    thresholds = np.full(true.size, -np.inf)
    if begin >= true.size:
        return thresholds
    if false_alarm_rounds is None:
        thresholds[begin:] = replay(policy, true[begin:])
        return thresholds
    tracker = make_tracker(Settings(policy=policy, on_drift="restart", false_alarm_rounds=false_alarm_rounds))
    for i, score in enumerate(true[begin:].tolist(), start=begin):
        if tracker.state.must_restart:
            tracker.restart()
        thresholds[i] = tracker.threshold
        tracker.show(i, tracker.threshold, tracker.epoch)
        if score == -np.inf:
            tracker.miss(i)
        else:
            tracker.hit(i, score)  # below the threshold it is a miss
    return thresholds


def spend(bases: Bases, size: int, coverage: float, *, lengthened: bool = True) -> Spent:
    """Return the lists that are shown with a budget.

    Parameters
    ----------
    bases
        The base lists.
    size
        The size of the budget, in misses.
    coverage
        The target coverage.
    lengthened
        Whether lists can be anything between the base list and everything; False for a reserve price.
    """
    budget = Budget(size, coverage)
    lengths, covered = [], []
    rounds = zip(bases.lengths.tolist(), bases.places.tolist(), bases.counts.tolist(), strict=True)
    for base, rank, count in rounds:
        more = budget.more(count) if lengthened else count * budget.is_full
        length = min(count, base + more)
        missed = rank >= length
        budget.take(missed=missed, everything=length == count)
        lengths.append(length)
        covered.append(not missed)
    return Spent(np.array(lengths, dtype=np.int64), np.array(covered, dtype=bool))
