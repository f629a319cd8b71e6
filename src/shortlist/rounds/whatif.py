"""What a higher target would have covered: one with half the misses.

A second threshold is learned alongside the one in use, at a coverage of 1 - (1 - coverage) / 2: 0.95 for 0.9. No list
is cut with it. Whether its list would have had the right answer is known if that was found: in the list, in what
`more` showed, in shadow mode. For an unresolved miss it is unknown; counted as missed it gives the lower end of the
interval, counted as covered the upper end.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

from shortlist._shares import wilson
from shortlist._validation import miss_rate
from shortlist.policies import SPS, AnytimeSPS
from shortlist.rounds.events import Absent, Hit, Listed, Miss
from shortlist.rounds.settings import Settings
from shortlist.rounds.tracker import Tracker, TrackerState

__all__ = ["IfAsked", "WhatIf", "WhatIfState", "make_what_if"]


class IfAsked(NamedTuple):
    """What a higher target coverage would have covered, as far as it is known.

    Attributes
    ----------
    coverage
        The higher target.
    threshold
        Its threshold; an unresolved miss counts as below it, too.
    known
        The number of answered rounds for which it is known whether its list would have had the right answer.
    unknown
        The number for which it is not: misses that were not resolved.
    interval
        The 95 % Wilson interval of the share that it would have covered: the lower end if all unknown rounds were
        missed, the upper end if none was. None if there is no answer.
    """

    coverage: float
    threshold: float
    known: int
    unknown: int
    interval: tuple[float, float] | None


@dataclass(slots=True)
class WhatIfState:
    """The state of a `WhatIf`."""

    tracker: TrackerState
    covered: int = 0
    missed: int = 0
    unknown: int = 0


class WhatIf:
    """The threshold of a higher coverage, learned alongside the one in use.

    Parameters
    ----------
    tracker
        The tracker of the threshold.
    state
        The state to continue from.
    """

    def __init__(self, tracker: Tracker, state: WhatIfState | None = None) -> None:
        self.tracker = tracker
        self.state = WhatIfState(tracker.state) if state is None else state

    def show(self, event: Listed) -> None:
        """Record a round that counts."""
        self.tracker.show(event.round_id, self.tracker.threshold, event.epoch)

    def hit(self, event: Hit) -> None:
        """Take a pick: its score is known, wherever it was found."""
        covered = event.score >= self.tracker.state.policy.open[event.round_id][2]
        self.state.covered += covered
        self.state.missed += not covered
        self.tracker.hit(event.round_id, event.score)

    def miss(self, event: Miss | Absent) -> None:
        """Take a miss; a miss of a complete list is one at any threshold."""
        everything = event.everything or event.complete
        self.state.missed += everything
        self.state.unknown += not everything
        self.tracker.miss(event.round_id, truncated=event.truncated)

    def figures(self) -> IfAsked:
        """Return what it would have covered."""
        state = self.state
        resolved, unknown = state.covered + state.missed, state.unknown
        of = resolved + unknown
        interval = (wilson(state.covered, of)[0], wilson(state.covered + unknown, of)[1]) if of else None
        return IfAsked(self.tracker.coverage, self.tracker.threshold, resolved, unknown, interval)


def make_what_if(settings: Settings, share: float, state: WhatIfState | None = None) -> WhatIf | None:
    """Return the learner of the threshold with half the misses; None if misses are not known as such."""
    policy: Any = settings.policy
    if type(policy) not in (AnytimeSPS, SPS) or settings.unanswered != "miss":
        return None
    coverage = float(1 - miss_rate(policy.coverage) / 2)
    if coverage >= 1.0:
        return None  # there is no float between
    higher = dataclasses.replace(policy, coverage=coverage)
    tracker = Tracker(dataclasses.replace(settings, policy=higher), share, None if state is None else state.tracker)
    tracker.detector = None  # it restarts with the one in use
    return WhatIf(tracker, state)
