"""Every empirical statement of the paper's results, and what was measured.

A claim is tested on each task as the paper states it; where its words leave room ("comparable",
"frequently"), the reading is written into the claim. Ours come last.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import miss_rate
from shortlist.lab.run import Results, law_of
from shortlist.lab.statistics import half_width

__all__ = ["Claim", "claims"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Claim:
    """One line of ``claims.csv``."""

    claim: str
    task: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class _Task:
    """One task's results, with short words for what claims speak of."""

    results: Results
    name: str

    def regret(self, policy: str) -> float:
        return float(self.results.values(self.name, policy, "regret").mean())

    def ratio(self, policy: str, other: str) -> float:
        """Return one regret relative to another; NaN where the other has none at all."""
        return self.regret(policy) / self.regret(other) if self.regret(other) else float("nan")

    def coverage(self, policy: str) -> float:
        return float(self.results.values(self.name, policy, "coverage").mean())

    def coverage_half_width(self, policy: str) -> float:
        return float(half_width(self.results.values(self.name, policy, "coverage")))  # NaN for a single run

    def past(self, policy: str) -> Array:
        return self.results.values(self.name, policy, "undercoverage_count")

    def growth(self, policy: str) -> float:
        """Return the slope of log regret against log round over the last nine tenths of the rounds."""
        rounds = self.results.rounds
        late = rounds >= rounds[-1] // 10
        regret = self.results.stack(self.name, policy, "regret").mean(axis=0)[late]
        if not (regret > 0).all():
            return float("nan")
        return float(np.polyfit(np.log(rounds[late]), np.log(regret), 1)[0])

    def distance(self, policy: str) -> float:
        """How far the miscoverage is from 1 - coverage in the last tenth of the rounds, on average."""
        law = law_of(self.results.spec.task(self.name))
        late = self.results.rounds > 0.9 * self.results.rounds[-1]
        thresholds = self.results.stack(self.name, policy, "threshold")[:, late]
        p0 = float(miss_rate(self.results.spec.coverage))
        return float(np.abs(law.miscoverage(thresholds) - p0).mean())

    def swings(self, policy: str) -> float:
        """Return the share of rounds spent past the optimum."""
        return float(self.past(policy).mean() / self.results.spec.rounds)


_BASELINES = ("greedy", "aci", "dlr")
Statement = tuple[str, tuple[str, ...], Callable[[_Task], tuple[str, bool]]]


def _statements(coverage: float, rounds: int) -> Iterator[Statement]:
    """Yield each claim, the policies it speaks of, and how to measure it."""
    yield (
        "SPS has the lowest regret of SPS, greedy, ACI and DLR",
        ("sps", *_BASELINES),
        lambda t: (
            ", ".join(f"{name} {t.regret(name):,.1f}" for name in ("sps", *_BASELINES)),
            all(t.regret("sps") < t.regret(name) for name in _BASELINES),
        ),
    )
    yield (
        "SPS's regret is sublinear (log-log slope below 0.95)",
        ("sps",),
        lambda t: (f"slope {t.growth('sps'):.2f}", t.growth("sps") < 0.95),
    )
    yield (
        "ACI's regret is comparable to greedy's (within a factor of 3)",
        ("aci", "greedy"),
        lambda t: (
            f"ACI {t.regret('aci'):,.0f}, greedy {t.regret('greedy'):,.0f}",
            t.regret("greedy") / 3 <= t.regret("aci") <= 3 * t.regret("greedy"),
        ),
    )
    for name in ("greedy", "aci"):
        yield (
            f"{name}'s regret grows superlinearly (log-log slope above 1)",
            (name,),
            lambda t, name=name: (f"slope {t.growth(name):.2f}", t.growth(name) > 1),  # type: ignore[misc]
        )
    yield (
        "DLR has more regret than SPS, for want of tuning to the scores",
        ("dlr", "sps"),
        lambda t: (
            f"DLR {t.regret('dlr'):,.1f}, SPS {t.regret('sps'):,.1f}",
            t.regret("dlr") > t.regret("sps"),
        ),
    )
    for name in ("greedy", "aci"):
        yield (
            f"{name} fails to reach the coverage rate {coverage} (its 95 % band is below)",
            (name,),
            lambda t, name=name: (  # type: ignore[misc]
                f"{t.coverage(name):.4f} ± {t.coverage_half_width(name):.4f}",
                t.coverage(name) + t.coverage_half_width(name) < coverage,
            ),
        )
    for name in ("sps", "dlr"):
        yield (
            f"{name} reaches the coverage rate {coverage}",
            (name,),
            lambda t, name=name: (f"{t.coverage(name):.4f}", t.coverage(name) >= coverage),  # type: ignore[misc]
        )
    yield (
        "SPS converges faster than DLR (nearer to the optimal miscoverage in the last tenth)",
        ("sps", "dlr"),
        lambda t: (
            f"distance SPS {t.distance('sps'):.4f}, DLR {t.distance('dlr'):.4f}",
            t.distance("sps") < t.distance("dlr"),
        ),
    )
    for name in ("greedy", "aci"):
        yield (
            f"{name} frequently undercovers (in more than a tenth of the rounds)",
            (name,),
            lambda t, name=name: (  # type: ignore[misc]
                f"{t.past(name).mean():,.0f} of {rounds:,} rounds",
                t.past(name).mean() > rounds / 10,
            ),
        )
    yield (
        "ACI swings between lists too short and too long (each in more than a tenth of the rounds)",
        ("aci",),
        lambda t: (f"{t.swings('aci'):.0%} of rounds past the optimum", 0.1 < t.swings("aci") < 0.9),
    )
    for name in ("sps", "dlr"):
        yield (
            f"{name} never undercovers",
            (name,),
            lambda t, name=name: (  # type: ignore[misc]
                f"{t.past(name).mean():,.1f} rounds a run; {np.count_nonzero(t.past(name))} of "
                f"{t.past(name).size} runs",
                not t.past(name).any(),
            ),
        )
    yield (
        f"ETC fails to reach the coverage rate {coverage} over all rounds",
        ("etc",),
        lambda t: (f"{t.coverage('etc'):.4f}", t.coverage("etc") < coverage),
    )
    yield (
        "ETC undercovers in some runs, for it does not account for uncertainty",
        ("etc",),
        lambda t: (
            f"{np.count_nonzero(t.past('etc'))} of {t.past('etc').size} runs",
            bool(t.past("etc").any()),
        ),
    )
    yield (
        "Con-ETC has more regret than SPS, for it stops learning",
        ("conservative-etc", "sps"),
        lambda t: (
            f"Con-ETC {t.regret('conservative-etc'):,.1f}, SPS {t.regret('sps'):,.1f}",
            t.regret("conservative-etc") > t.regret("sps"),
        ),
    )
    yield (
        "Con-ETC never undercovers",
        ("conservative-etc",),
        lambda t: (
            f"{t.past('conservative-etc').mean():,.1f} rounds a run",
            not t.past("conservative-etc").any(),
        ),
    )
    yield (
        "ours: AnytimeSPS at delta = 2/T has less than half of SPS's regret, and never undercovers",
        ("anytime@2/T", "sps"),
        lambda t: (
            f"{t.regret('anytime@2/T'):,.1f} / {t.regret('sps'):,.1f} = "
            f"{t.ratio('anytime@2/T', 'sps'):.2f}; past the optimum "
            f"{t.past('anytime@2/T').mean():,.1f} rounds a run",
            t.regret("anytime@2/T") < 0.5 * t.regret("sps") and not t.past("anytime@2/T").any(),
        ),
    )
    yield (
        "ours: AnytimeSPS at delta = 0.05 undercovers in at most 5 % of the runs",
        ("anytime@0.05",),
        lambda t: (
            f"{np.count_nonzero(t.past('anytime@0.05'))} of {t.past('anytime@0.05').size} runs",
            bool(np.count_nonzero(t.past("anytime@0.05")) <= max(1, 0.05 * t.past("anytime@0.05").size)),
        ),
    )


def claims(results: Results) -> list[Claim]:
    """Return all claims about policies that were run, task by task."""
    spec, found = results.spec, []
    run = {(row.task, row.policy) for row in results.rows}
    for text, policies, measure in _statements(spec.coverage, spec.rounds):
        for name in spec.task_names:
            if all((name, policy) in run for policy in policies):
                measured, holds = measure(_Task(results, name))
                found.append(Claim(text, name, measured, bool(holds)))
    return found
