"""What the paper does not show: regret against the horizon, and against the coverage.

Scores are uniform here: an order-statistic policy's regret depends on ranks alone, so the figures
hold for every distribution without ties.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from shortlist import metrics
from shortlist._replay import replay
from shortlist.lab.executors import Unit
from shortlist.lab.spec import Spec
from shortlist.policies import OrderStatistic, Policy, make_policy

__all__ = [
    "COVERAGES",
    "HORIZONS",
    "SWEPT",
    "CoverageRow",
    "HorizonRow",
    "coverage_row",
    "fitted_slope",
    "horizon_row",
    "units",
]

SWEPT: Final = ("sps", "anytime@2/T")
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


def units(spec: Spec) -> list[Unit]:
    """Return the units of both sweeps, the longest first."""
    horizons: list[Unit] = [
        (horizon_row, (spec, policy, rounds, run))
        for rounds in reversed(HORIZONS)
        for policy in SWEPT
        for run in range(RUNS)
    ]
    coverages: list[Unit] = [
        (coverage_row, (spec, policy, coverage, run))
        for coverage in COVERAGES
        for policy in SWEPT
        for run in range(RUNS)
    ]
    return horizons + coverages


def horizon_row(spec: Spec, policy: str, rounds: int, run: int) -> HorizonRow:
    """Return one run of the sweep over horizons."""
    regret = _regret(spec, make_policy(policy, 0.9, rounds), 0.9, rounds, [spec.seed, 1, rounds, run])
    return HorizonRow(policy, rounds, run, regret)


def coverage_row(spec: Spec, policy: str, coverage: float, run: int) -> CoverageRow:
    """Return one run of the sweep over coverages."""
    rule = make_policy(policy, coverage, spec.rounds)
    assert isinstance(rule, OrderStatistic)  # noqa: S101 - for the type checker
    cuts = np.flatnonzero(rule.boundary.limits(coverage, spec.rounds) >= 0)
    regret = _regret(spec, rule, coverage, spec.rounds, [spec.seed, 2, round(coverage * 1000), run])
    return CoverageRow(policy, coverage, run, regret, int(cuts[0]) + 1 if cuts.size else 0)


def _regret(spec: Spec, policy: Policy, coverage: float, rounds: int, entropy: list[int]) -> float:
    scores = np.random.default_rng(np.random.SeedSequence(entropy)).random(rounds)
    thresholds = replay(policy, scores)
    regrets = metrics.regret(thresholds, metrics.Uniform(), coverage, lambda1=spec.lambda1, lambda2=spec.lambda2)
    return float(regrets[-1])


def fitted_slope(rows: list[HorizonRow], policy: str, least: int = 10_000) -> float:
    """Return the slope of log regret against log horizon, from `least` rounds on."""
    horizons = sorted({row.rounds for row in rows if row.policy == policy and row.rounds >= least})
    means = [
        np.mean([row.regret for row in rows if (row.policy, row.rounds) == (policy, horizon)]) for horizon in horizons
    ]
    return float(np.polyfit(np.log(horizons), np.log(means), 1)[0])
