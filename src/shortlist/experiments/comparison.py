"""All policies side by side on scores with a known law."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shortlist import metrics
from shortlist.boundaries import Calibrated
from shortlist.policies import (
    ACI,
    DLR,
    SPS,
    AnytimeSPS,
    ConservativeETC,
    ExploreThenCommit,
    Greedy,
    OrderStatistic,
    Policy,
)
from shortlist.replay import replay

__all__ = ["Row", "compare", "policies"]


@dataclass(frozen=True)
class Row:
    """What one policy achieved, averaged over the runs."""

    policy: str
    regret: float
    coverage: float
    undercoverage_count: float
    threshold: float


def policies(coverage: float, rounds: int) -> dict[str, Policy]:
    """Return every policy of the paper, and ours, by name."""
    delta = 2 / rounds
    return {
        "sps": SPS(coverage, rounds),
        "anytime@2/T": AnytimeSPS(coverage, delta),
        "anytime@0.05": AnytimeSPS(coverage, 0.05),
        "calibrated@2/T": OrderStatistic(coverage, Calibrated(delta, rounds)),
        "greedy": Greedy(coverage),
        "aci@0.008": ACI(coverage, 0.008),
        "dlr": DLR(coverage),
        "etc@1000": ExploreThenCommit(coverage, 1000),
        "conservative-etc@4000": ConservativeETC(coverage, 4000, rounds),
    }


def compare(coverage: float, rounds: int, runs: int, seed: int) -> Iterator[Row]:
    """Yield one row a policy; all see the same uniform scores."""
    law = metrics.Uniform()
    seeds = np.random.SeedSequence(seed).spawn(runs)
    streams = [np.random.default_rng(child).random(rounds) for child in seeds]
    for name, policy in policies(coverage, rounds).items():
        thresholds = [replay(policy, scores) for scores in streams]
        yield Row(
            policy=name,
            regret=float(np.mean([metrics.regret(path, law, coverage)[-1] for path in thresholds])),
            coverage=float(
                np.mean(
                    [
                        metrics.coverage(path, scores)[-1]
                        for path, scores in zip(thresholds, streams, strict=True)
                    ]
                )
            ),
            undercoverage_count=float(
                np.mean([metrics.undercoverage_count(path, law, coverage)[-1] for path in thresholds])
            ),
            threshold=float(np.mean([path[-1] for path in thresholds])),
        )
