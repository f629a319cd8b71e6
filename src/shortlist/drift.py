r"""An alarm for a world that has changed: the e-detector over misses.

**Idea.** While the threshold is at or below the optimal one, lists miss with probability at most
p0 = 1 - coverage. If misses become more frequent, bets on "more than that" win, and their winnings
ring the alarm.

**Rule** (Shiryaev-Roberts). For each of a few ratios r, with q = r p0 / (c + r p0),

$$M_r \leftarrow (M_r + 1) \cdot \begin{cases} q / p_0 & \text{after a miss} \\
(1 - q) / c & \text{otherwise} \end{cases}$$

and an alarm when the mean of the M_r reaches A; then all go back to 0.

**Promise.** While misses come with probability at most p0, the mean distance between false alarms is
at least A, and P(a false alarm within n rounds) <= n / A.

**What to feed it.** Rounds in the order they were shown, each once, when it joins the count; a round
that is unanswered then is *not* a miss, and a later answer changes nothing. (Fed in order of
arrival, or with silence as misses, it alarms falsely.)

**Cost.** O(1) a round.
"""

import functools
from dataclasses import dataclass, field
from typing import Final

from shortlist._validation import check_count, check_probability, miss_rate

__all__ = ["RATIOS", "DriftDetector", "DriftState"]

RATIOS: Final = (1.25, 1.5, 2.0, 3.0, 6.0)
"""How many times the allowed odds of a miss the bets are on."""


@dataclass(slots=True)
class DriftState:
    """The capital of each bet."""

    capital: list[float] = field(default_factory=lambda: [0.0] * len(RATIOS))


@dataclass(frozen=True)
class DriftDetector:
    """Watches the misses of one threshold.

    Parameters
    ----------
    coverage
        The coverage that the threshold promises.
    false_alarm_rounds
        A, the mean distance between false alarms that is promised.

    Examples
    --------
    >>> detector = DriftDetector(coverage=0.9, false_alarm_rounds=1000)
    >>> state = detector.init()
    >>> strengths = [detector.update(state, missed=i % 3 == 0) for i in range(60)]
    >>> [i for i, strength in enumerate(strengths) if strength]
    [30]

    References
    ----------
    Shin, Ramdas and Rinaldo, E-detectors: a nonparametric framework for sequential change detection,
    New England Journal of Statistics in Data Science, 2023.
    """

    coverage: float
    false_alarm_rounds: int = 1_000_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "coverage", check_probability("coverage", self.coverage, 0.9))
        object.__setattr__(self, "false_alarm_rounds", check_count("false_alarm_rounds", self.false_alarm_rounds))

    @functools.cached_property
    def _factors(self) -> tuple[list[float], list[float]]:
        """What each bet's capital is multiplied with after a round that was not missed, and after a miss."""
        p0 = float(miss_rate(self.coverage))
        odds = [ratio * p0 / (self.coverage + ratio * p0) for ratio in RATIOS]
        return [(1.0 - q) / self.coverage for q in odds], [q / p0 for q in odds]

    def init(self) -> DriftState:
        """Return a fresh state."""
        return DriftState()

    def update(self, state: DriftState, missed: bool) -> float | None:
        """Take one round; return the alarm's strength, mean capital over A, or None."""
        factors = self._factors[1 if missed else 0]
        state.capital = [(capital + 1.0) * factor for capital, factor in zip(state.capital, factors, strict=True)]
        level = self.level(state)
        if level < 1.0:
            return None
        state.capital = [0.0] * len(RATIOS)
        return level

    def level(self, state: DriftState) -> float:
        """Return how near the alarm is: 0 at the start, 1 when it rings."""
        return sum(state.capital) / len(RATIOS) / self.false_alarm_rounds
