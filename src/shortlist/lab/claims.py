"""Every empirical statement of the paper, and what was measured.

A statement is tested on each task as strongly as the paper puts it. Where its words leave room ("comparable",
"very high"), the claim says how they are read: comparable is within a factor of 3, very high is beyond it, poor and
much more slowly mean a factor of 2, frequently is more than a tenth of the rounds. Our own claims come last. Policies
are named by their labels.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist._validation import miss_rate
from shortlist.lab.run import Results, law_of
from shortlist.lab.spec import Spec
from shortlist.lab.statistics import half_width
from shortlist.lab.tasks import ScoredTask
from shortlist.policies import policy_label

__all__ = ["Claim", "Totals", "claims", "totals", "totals_in_words"]

Array = NDArray[np.float64]
#: What the paper has.
_RUNS, _ROUNDS = 10, 10_000


@dataclass(frozen=True)
class Claim:
    """One line of ``claims.csv``: `statement` is the paper's own words, `claim` how they are measured."""

    by: str
    statement: str
    claim: str
    task: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Totals:
    """How many claims hold, counted task by task, and how many statements hold on all tasks, on some, on none."""

    holds: int
    measured: int
    on_all: int
    on_some: int
    on_none: int


@dataclass(frozen=True)
class _Task:
    """One task's results, with short names for what claims refer to."""

    results: Results
    name: str

    @property
    def target(self) -> float:
        return self.results.spec.coverage

    def regret(self, policy: str) -> float:
        return float(self.results.values(self.name, policy, "regret").mean())

    def regret_half_width(self, policy: str) -> float:
        return float(half_width(self.results.values(self.name, policy, "regret")))  # NaN for a single run

    def ratio(self, policy: str, other: str) -> float:
        """Return one regret relative to another; NaN if the other is zero."""
        return self.regret(policy) / self.regret(other) if self.regret(other) else float("nan")

    def coverage(self, policy: str) -> float:
        return float(self.results.values(self.name, policy, "coverage").mean())

    def coverage_half_width(self, policy: str) -> float:
        return float(half_width(self.results.values(self.name, policy, "coverage")))

    def past(self, policy: str) -> Array:
        return self.results.values(self.name, policy, "undercoverage_count")

    def past_share(self, policy: str) -> float:
        return float(self.past(policy).mean() / self.results.spec.rounds)

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
        return float(np.abs(law.miscoverage(thresholds) - float(miss_rate(self.target))).mean())

    def on_probabilities(self, policy: str) -> Array:
        """Return the regret of each run if scores are a list's softmax instead of its logits."""
        spec = self.results.spec
        task = spec.task(self.name)
        assert isinstance(task, ScoredTask)  # noqa: S101 - see _logits
        logits = np.asarray(task.scores.candidate_scores, dtype=np.float64)
        top = logits.max(axis=1)
        shares = np.exp(task.population[0] - top) / np.exp(logits - top[:, None]).sum(axis=1)
        law, rule = metrics.Population(shares), spec.policy(policy)
        regrets = []
        for run in range(spec.runs):
            drawn = task.draw(spec.generator(task.name, "run", run), spec.rounds).candidates
            assert drawn is not None  # noqa: S101 - see _logits
            thresholds = replay(rule, shares[drawn[1]])
            regrets.append(metrics.regret(thresholds, law, self.target, lambda1=spec.lambda1, lambda2=spec.lambda2)[-1])
        return np.array(regrets)


def _logits(results: Results, name: str) -> bool:
    """Return whether a task's scores are logits of all classes."""
    return results.spec.scores is None and name == "images"


Measure = Callable[[_Task], tuple[str, bool]]

BASELINES = ("greedy", "aci", "dlr")


@dataclass(frozen=True)
class _Statement:
    """A statement, how it is read, the policies it refers to, and how it is measured."""

    words: str
    claim: str
    policies: tuple[str, ...]
    measure: Measure
    by: str = "paper"
    where: Callable[[Results, str], bool] = lambda _results, _name: True


def _regrets(task: _Task, *policies: str) -> str:
    return ", ".join(f"{policy_label(policy)} {task.regret(policy):,.1f}" for policy in policies)


def _times(task: _Task, policy: str, other: str) -> str:
    return f"{_regrets(task, policy, other)}: {task.ratio(policy, other):.2f} times"


def _regret_statements(target: float) -> Iterator[_Statement]:
    yield _Statement(
        "our algorithm consistently obtains the lowest regret",
        "SPS has the lowest regret of SPS, Greedy, ACI and DLR",
        ("sps", *BASELINES),
        lambda t: (_regrets(t, "sps", *BASELINES), all(t.regret("sps") < t.regret(name) for name in BASELINES)),
    )

    def worse(task: _Task, name: str) -> bool:
        bands = task.regret_half_width(name) + task.regret_half_width("sps")
        return task.regret(name) - task.regret("sps") > bands or task.coverage(name) < target

    yield _Statement(
        "our algorithm significantly outperforms three natural baselines; each baseline either achieves worse "
        "cumulative expected regret or does not satisfy the desired coverage rate",
        f"Greedy, ACI and DLR each have more regret than SPS (95 % bands apart) or cover less than {target}",
        ("sps", *BASELINES),
        lambda t: (
            ", ".join(f"{policy_label(name)} {'yes' if worse(t, name) else 'no'}" for name in BASELINES),
            all(worse(t, name) for name in BASELINES),
        ),
    )
    yield _Statement(
        "ACI attains a regret level comparable to the greedy algorithm",
        "ACI's regret is within a factor of 3 of Greedy's",
        ("aci", "greedy"),
        lambda t: (_times(t, "aci", "greedy"), 1 / 3 <= t.ratio("aci", "greedy") <= 3),
    )
    for name in ("aci", "greedy"):
        yield _Statement(
            "the curves for both ACI and the greedy algorithm appear to be superlinear",
            f"{policy_label(name)}'s regret has a log-log slope above 1",
            (name,),
            _slope(name, above=True),
        )
    yield _Statement(
        "the poor performance of DLR",
        "DLR has at least twice the regret of SPS",
        ("dlr", "sps"),
        lambda t: (_times(t, "dlr", "sps"), t.ratio("dlr", "sps") >= 2),
    )
    yield _Statement(
        "using logits instead of prediction probabilities causes [DLR's] performance to significantly degrade",
        "DLR has more regret on logits than on their softmax (95 % bands apart)",
        ("dlr",),
        _degrades,
        where=_logits,
    )
    yield _Statement(
        "our algorithm achieves sublinear regret", "SPS's regret has a log-log slope below 1", ("sps",), _slope("sps")
    )


def _slope(name: str, *, above: bool = False) -> Measure:
    return lambda t: (f"slope {t.growth(name):.2f}", t.growth(name) > 1 if above else t.growth(name) < 1)


def _degrades(task: _Task) -> tuple[str, bool]:
    logits, shares = task.results.values(task.name, "dlr", "regret"), task.on_probabilities("dlr")
    apart = float(logits.mean() - shares.mean()) > float(half_width(logits) + half_width(shares))
    return f"DLR {logits.mean():,.1f} on logits, {shares.mean():,.1f} on their softmax", apart


def _coverage_statements(target: float) -> Iterator[_Statement]:
    for name in ("aci", "greedy"):
        yield _Statement(
            "both ACI and greedy fail to maintain the desired coverage rate in all three tasks",
            f"{policy_label(name)} covers less than {target} (95 % band below)",
            (name,),
            lambda t, name=name: (  # type: ignore[misc]
                f"{t.coverage(name):.4f} ± {t.coverage_half_width(name):.4f}",
                t.coverage(name) + t.coverage_half_width(name) < target,
            ),
        )
    for name in ("dlr", "sps"):
        yield _Statement(
            "DLR and SPS both achieve the desired coverage rate",
            f"{policy_label(name)} covers at least {target}",
            (name,),
            lambda t, name=name: (f"{t.coverage(name):.4f}", t.coverage(name) >= target),  # type: ignore[misc]
        )
    yield _Statement(
        "our algorithm achieves (and converges to) the desired coverage rate",
        "in the last tenth of the rounds, SPS is at most half as far from the optimal miscoverage as a policy that "
        "shows everything",
        ("sps",),
        lambda t: (
            f"{t.distance('sps'):.4f} of {float(miss_rate(target)):.4f}",
            t.distance("sps") <= float(miss_rate(target)) / 2,
        ),
    )
    for words, claim, factor in (
        (
            "DLR and SPS both achieve the desired coverage rate; however, SPS converges more quickly",
            "in the last tenth of the rounds, SPS is nearer to the optimal miscoverage than DLR",
            1.0,
        ),
        (
            "DLR converges much more slowly than our algorithm",
            "in the last tenth of the rounds, DLR is more than twice as far from the optimal miscoverage as SPS",
            2.0,
        ),
    ):
        yield _Statement(
            words,
            claim,
            ("sps", "dlr"),
            lambda t, factor=factor: (  # type: ignore[misc]
                f"SPS {t.distance('sps'):.4f}, DLR {t.distance('dlr'):.4f}",
                t.distance("dlr") > factor * t.distance("sps"),
            ),
        )


def _never_past(name: str) -> Measure:
    return lambda t: (
        f"{t.past(name).mean():,.1f} rounds per run, {np.count_nonzero(t.past(name))} of {t.past(name).size} runs",
        not t.past(name).any(),
    )


def _undercoverage_statements() -> Iterator[_Statement]:
    for name in ("greedy", "aci"):
        yield _Statement(
            "greedy and ACI frequently undercover",
            f"{policy_label(name)} is past the optimum in more than a tenth of the rounds",
            (name,),
            lambda t, name=name: (f"{t.past_share(name):.1%} of rounds", t.past_share(name) > 0.1),  # type: ignore[misc]
        )
    yield _Statement(
        "ACI['s] prediction set oscillates between being too small and too large",
        "ACI is past the optimum in more than a tenth of the rounds, and not past it in more than a tenth",
        ("aci",),
        lambda t: (f"{t.past_share('aci'):.1%} of rounds past it", 0.1 < t.past_share("aci") < 0.9),
    )
    yield _Statement("our algorithm never undercovers", "SPS is never past the optimum", ("sps",), _never_past("sps"))
    yield _Statement("DLR also does not undercover", "DLR is never past the optimum", ("dlr",), _never_past("dlr"))


def _appendix_statements(target: float) -> Iterator[_Statement]:
    yield _Statement(
        "ETC fails to achieve the desired coverage rate",
        f"ETC covers less than {target} over all rounds, its exploration included",
        ("etc",),
        lambda t: (f"{t.coverage('etc'):.4f}", t.coverage("etc") < target),
    )
    yield _Statement(
        "[ETC] does not account for uncertainty",
        "ETC is past the optimum in some runs",
        ("etc",),
        lambda t: (f"{np.count_nonzero(t.past('etc'))} of {t.past('etc').size} runs", bool(t.past("etc").any())),
    )
    yield _Statement(
        "Con-ETC achieves very high regret",
        "Con-ETC has more than 3 times the regret of SPS",
        ("conservative-etc", "sps"),
        lambda t: (_times(t, "conservative-etc", "sps"), t.ratio("conservative-etc", "sps") > 3),
    )
    yield _Statement(
        "[Con-ETC] guarantees [a threshold at most the optimal one] with probability at least 1 - 2/T",
        "Con-ETC is never past the optimum",
        ("conservative-etc",),
        _never_past("conservative-etc"),
    )


def _our_statements() -> Iterator[_Statement]:
    ours, usual = "anytime@2/T", "anytime@0.01"
    yield _Statement(
        "",
        f"{policy_label(ours)}, has less than half of SPS's regret",
        (ours, "sps"),
        lambda t: (_times(t, ours, "sps"), t.ratio(ours, "sps") < 0.5),
        by="ours",
    )
    yield _Statement("", f"{policy_label(ours)}, is never past the optimum", (ours,), _never_past(ours), by="ours")
    yield _Statement(
        "",
        f"{policy_label(usual)}, is past the optimum in at most 5 % of the runs (or in one)",
        (usual,),
        lambda t: (
            f"{np.count_nonzero(t.past(usual))} of {t.past(usual).size} runs",
            bool(np.count_nonzero(t.past(usual)) <= max(1, 0.05 * t.past(usual).size)),
        ),
        by="ours",
    )


def _statements(target: float) -> Iterator[_Statement]:
    """Yield every statement, in the paper's order; ours last."""
    yield from _regret_statements(target)
    yield from _coverage_statements(target)
    yield from _undercoverage_statements()
    yield from _appendix_statements(target)
    yield from _our_statements()


def claims(results: Results) -> list[Claim]:
    """Return all claims about policies that were run, task by task."""
    run = {(row.task, row.policy) for row in results.rows}
    return [
        Claim(one.by, one.words, one.claim, name, measured, bool(holds))
        for one in _statements(results.spec.coverage)
        for name in results.spec.task_names
        if one.where(results, name) and all((name, policy) in run for policy in one.policies)
        for measured, holds in [one.measure(_Task(results, name))]
    ]


def totals(claims: Sequence[Claim], by: str) -> Totals:
    """Return how many of the paper's claims, or of ours, hold."""
    verdicts: dict[str, list[bool]] = {}
    for claim in claims:
        if claim.by == by:
            verdicts.setdefault(claim.claim, []).append(claim.holds)
    return Totals(
        holds=sum(map(sum, verdicts.values())),
        measured=sum(map(len, verdicts.values())),
        on_all=sum(all(verdict) for verdict in verdicts.values()),
        on_some=sum(any(verdict) and not all(verdict) for verdict in verdicts.values()),
        on_none=sum(not any(verdict) for verdict in verdicts.values()),
    )


def totals_in_words(claims: Sequence[Claim], spec: Spec | None = None) -> list[str]:
    """Return sentences that say how many claims hold, and whether a spec has fewer rounds than the paper."""
    sentences = []
    for by, whose in (("paper", "The paper's"), ("ours", "Our own")):
        total = totals(claims, by)
        if total.measured:
            sentences.append(
                f"{whose} claims: of {total.on_all + total.on_some + total.on_none}, {total.on_all} hold on every task "
                f"measured, {total.on_some} on some and {total.on_none} on none ({total.holds} of {total.measured}, "
                "counted task by task)."
            )
    if sentences and spec is not None and (spec.runs < _RUNS or spec.rounds < _ROUNDS):
        sentences.append(
            f"These are {spec.runs} runs of {spec.rounds:,} rounds; the paper has {_RUNS} of {_ROUNDS:,}, and fewer "
            "can mislead."
        )
    return sentences
