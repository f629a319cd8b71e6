"""At least one of each policy, for the tests that run through all of them.

A policy of the registry that is not in the list is built as the registry builds it; add one here only if another
setting tests more.
"""

from shortlist import (
    ACI,
    DKW,
    DLR,
    MVP,
    SAOCP,
    SPS,
    AnytimeSPS,
    BetaBinomial,
    Binomial,
    Calibrated,
    ConformalPID,
    ConservativeETC,
    DtACI,
    ExploreThenCommit,
    Greedy,
    Oracle,
    OrderStatistic,
    ProductLimit,
    ScaleFreeOGD,
    ThresholdTracking,
)
from shortlist.boundaries import Held, Quantile
from shortlist.policies import REGISTRY

_CHOSEN = [
    SPS(coverage=0.7, horizon=400),
    AnytimeSPS(coverage=0.8, delta=0.2),
    Greedy(coverage=0.9),
    ACI(coverage=0.9, step=0.05),
    ACI(coverage=0.9, step=0.05, levels="clipped"),
    ACI(coverage=0.9, step=0.05, levels="hits"),
    DLR(coverage=0.9),
    ExploreThenCommit(coverage=0.9, explore=30),
    ConservativeETC(coverage=0.5, explore=60, horizon=100),
    Oracle(threshold=0.25),
    OrderStatistic(coverage=0.8, boundary=BetaBinomial(0.3, relative_mean=1.0, weight=10), window=False),
    OrderStatistic(coverage=0.8, boundary=Binomial(0.3, horizon=200)),
    OrderStatistic(coverage=0.8, boundary=Calibrated(0.3, horizon=200)),
    OrderStatistic(coverage=0.5, boundary=Held(DKW(100), rounds=70)),
    OrderStatistic(coverage=0.8, boundary=Quantile()),
    ProductLimit(coverage=0.8, window=60),
    *(
        policy
        for miss in ("dropped", "threshold", "beyond")
        for policy in (
            ThresholdTracking(coverage=0.9, step=0.02, miss=miss),
            ScaleFreeOGD(coverage=0.9, miss=miss),
            ConformalPID(coverage=0.9, step=0.02, miss=miss),
            DtACI(coverage=0.8, interval=50, miss=miss),
            SAOCP(coverage=0.9, lifetime=4, miss=miss),
            MVP(coverage=0.9, buckets=10, seed=3, miss=miss),
        )
    ),
]

POLICIES = [
    *_CHOSEN,
    *(
        entry.build(coverage=0.8, rounds=100)
        for entry in REGISTRY.values()
        if entry.policy not in {type(policy) for policy in _CHOSEN}
    ),
]
