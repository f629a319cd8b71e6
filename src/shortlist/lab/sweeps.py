"""What the paper does not show: regret against the horizon, and against the coverage.

Scores are uniform here: the regret of policies that depend on ranks alone is the same for every distribution without
ties. Swept are the paper's policy, ours and the user's own, of those that are run.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist.lab.executors import Unit
from shortlist.lab.spec import Spec
from shortlist.policies import PAPER, Policy

__all__ = [
    "COVERAGES",
    "HORIZONS",
    "CoverageRow",
    "HorizonRow",
    "coverage_row",
    "fitted_slope",
    "horizon_row",
    "swept",
    "units",
]

HORIZONS: Final = (1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000)
COVERAGES: Final = (0.8, 0.9, 0.95, 0.99)
RUNS: Final = 5


@dataclass(frozen=True)
class HorizonRow:
    """The regret of one run of a given length, at coverage 0.9."""

    policy: str
    rounds: int
    run: int
    regret: float


@dataclass(frozen=True)
class CoverageRow:
    """The regret of one run at a given coverage, and the round of the first cut (0: never)."""

    policy: str
    coverage: float
    run: int
    regret: float
    first_cut: int


def swept(spec: Spec) -> tuple[str, ...]:
    """Return the policies of the sweeps: ours and the paper's, of those that are run, and the user's own.

    >>> swept(Spec()), swept(Spec(policies=("greedy",)))
    (('anytime@2/T', 'sps'), ())
    """
    return tuple(name for name in spec.policies if name in ("sps", "anytime@2/T") or name not in PAPER)


def units(spec: Spec) -> list[Unit]:
    """Return the units of both sweeps, the longest first."""
    horizons: list[Unit] = [
        (horizon_row, (spec, policy, rounds, run))
        for rounds in reversed(HORIZONS)
        for policy in swept(spec)
        for run in range(RUNS)
    ]
    coverages: list[Unit] = [
        (coverage_row, (spec, policy, coverage, run))
        for coverage in COVERAGES
        for policy in swept(spec)
        for run in range(RUNS)
    ]
    return horizons + coverages


def horizon_row(spec: Spec, policy: str, rounds: int, run: int) -> HorizonRow:
    """Return one run of the sweep over horizons."""
    rule = spec.policy(policy, coverage=0.9, rounds=rounds)
    return HorizonRow(policy, rounds, run, _regret(spec, _thresholds(rule, rounds, [spec.seed, 1, rounds, run]), 0.9))


def coverage_row(spec: Spec, policy: str, coverage: float, run: int) -> CoverageRow:
    """Return one run of the sweep over coverages."""
    thresholds = _thresholds(
        spec.policy(policy, coverage=coverage), spec.rounds, [spec.seed, 2, round(coverage * 1000), run]
    )
    cuts = np.flatnonzero(thresholds > -np.inf)  # the threshold in force at the next round
    return CoverageRow(
        policy, coverage, run, _regret(spec, thresholds, coverage), max(1, int(cuts[0])) if cuts.size else 0
    )


def _thresholds(policy: Policy, rounds: int, entropy: list[int]) -> NDArray[np.float64]:
    return replay(policy, np.random.default_rng(np.random.SeedSequence(entropy)).random(rounds))


def _regret(spec: Spec, thresholds: NDArray[np.float64], coverage: float) -> float:
    regrets = metrics.regret(thresholds, metrics.Uniform(), coverage, lambda1=spec.lambda1, lambda2=spec.lambda2)
    return float(regrets[-1])


def fitted_slope(rows: list[HorizonRow], policy: str, least: int = 10_000) -> float:
    """Return the slope of log regret against log horizon, from `least` rounds on."""
    horizons = sorted({row.rounds for row in rows if row.policy == policy and row.rounds >= least})
    means = [
        np.mean([row.regret for row in rows if (row.policy, row.rounds) == (policy, horizon)]) for horizon in horizons
    ]
    return float(np.polyfit(np.log(horizons), np.log(means), 1)[0])
