r"""An alarm for distribution shift: the e-detector over misses.

**Idea.** While the threshold is at or below the optimal one, lists miss with probability at most
p0 = 1 - coverage. If misses become more frequent, bets on a higher rate win, and their capital
raises the alarm.

**Rule** (Shiryaev-Roberts). For each of a few ratios r, with q = r p0 / (c + r p0),

$$M_r \leftarrow (M_r + 1) \cdot \begin{cases} q / p_0 & \text{after a miss} \\
(1 - q) / c & \text{otherwise} \end{cases}$$

and an alarm when the mean of the M_r reaches A; then all are reset to 0.

**Guarantee.** While misses occur with probability at most p0, the mean time between false alarms is
at least A rounds, and P(a false alarm within n rounds) <= n / A.

**What to feed it.** Rounds in the order they were shown, each once, when it enters the sample; a round
that is still unanswered by then is *not* a miss, and a later answer changes nothing. (Fed in order of
arrival, or with silence as misses, it raises false alarms.)

**Cost.** O(1) per round.
"""

import functools
from dataclasses import dataclass, field
from typing import Final

from shortlist._validation import check_count, check_probability, miss_rate

__all__ = ["RATIOS", "DriftDetector", "DriftState"]

RATIOS: Final = (1.25, 1.5, 2.0, 3.0, 6.0)
"""The bets: multiples of the allowed odds of a miss."""


@dataclass(slots=True)
class DriftState:
    """The capital of each bet."""

    capital: list[float] = field(default_factory=lambda: [0.0] * len(RATIOS))


@dataclass(frozen=True)
class DriftDetector:
    """Monitors the misses of one threshold.

    Parameters
    ----------
    coverage
        The coverage that the threshold guarantees.
    false_alarm_rounds
        A, the guaranteed mean number of rounds between false alarms.

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
        """The factors of each bet's capital after a round without a miss, and after a miss."""
        p0 = float(miss_rate(self.coverage))
        odds = [ratio * p0 / (self.coverage + ratio * p0) for ratio in RATIOS]
        return [(1.0 - q) / self.coverage for q in odds], [q / p0 for q in odds]

    def init(self) -> DriftState:
        """Return a fresh state.

        Returns
        -------
        DriftState
            The state before the first round, without capital.
        """
        return DriftState()

    def update(self, state: DriftState, missed: bool) -> float | None:
        """Take one round; return the strength of the alarm if there is one.

        Parameters
        ----------
        state
            The state, changed in place; an alarm resets it.
        missed
            Whether the right answer was not in the list.

        Returns
        -------
        float | None
            The mean capital divided by A, at least 1, if the alarm is raised; otherwise None.
        """
        factors = self._factors[1 if missed else 0]
        state.capital = [(capital + 1.0) * factor for capital, factor in zip(state.capital, factors, strict=True)]
        level = self.level(state)
        if level < 1.0:
            return None
        state.capital = [0.0] * len(RATIOS)
        return level

    def level(self, state: DriftState) -> float:
        """Return how close the alarm is: 0 at the start, 1 when it is raised.

        Parameters
        ----------
        state
            The state to read.

        Returns
        -------
        float
            The mean capital divided by A.
        """
        return sum(state.capital) / len(RATIOS) / self.false_alarm_rounds
