"""Every empirical statement of the paper, under every reading of what it leaves open, and what was measured.

A *claim* is a statement, one way to measure it, one reading of the baselines in it (`readings`), one task. Where the
paper's words leave room, the claim says how they are read: *comparable* is within a factor of 3, *frequently* is more
than a tenth of the rounds. Regret and distance of policies that never pass the optimum are bounded: by those of a
policy that never cuts, the *ceiling*. So *poor* and *very high* are at least three quarters of that ceiling, and *much
more slowly* is farther by at least a quarter of it; no factor is asked for that a safe policy cannot reach.

A statement *holds* if it does under every reading on every task, *fails under every reading tried* if there is none
under which it does on every task, and *depends on the reading* otherwise (`verdicts`). Our own claims come last.
Policies are named by their labels.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._replay import replay
from shortlist._validation import miss_rate
from shortlist.lab.readings import reading_label, readings_of
from shortlist.lab.run import Results, law_of
from shortlist.lab.spec import Spec
from shortlist.lab.statistics import half_width
from shortlist.lab.tasks import ScoredTask
from shortlist.policies import DLR, policy_label

__all__ = ["Claim", "Unjudged", "claims", "measured_on", "size_note", "unjudged"]

Array = NDArray[np.float64]
#: What the paper has.
RUNS, ROUNDS = 10, 10_000
#: Shares of the ceiling.
_MOST, _QUARTER = 0.75, 0.25


@dataclass(frozen=True)
class Claim:
    """One line of ``claims.csv``: `statement` is the paper's own words, `claim` how they are measured."""

    by: str
    statement: str
    claim: str
    reading: str
    task: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Unjudged:
    """A statement that a run cannot judge, and why."""

    statement: str
    why: str


@dataclass(frozen=True)
class _Task:
    """One task's results under one reading, with short names for what claims refer to."""

    results: Results
    name: str
    item: str | None
    #: Policies of the paper, and the names that stand for them.
    reading: Mapping[str, str]

    @property
    def spec(self) -> Spec:
        return self.results.spec

    @property
    def target(self) -> float:
        return self.spec.coverage

    def _source(self, policy: str) -> tuple[Results, str]:
        """Return the results that have a policy under this reading, and its name in them."""
        name = self.reading.get(policy, policy)
        for results in (self.results, *self.results.readings):
            if results.spec.item == self.item and name in results.spec.policies and self._has(results, name):
                return results, name
        raise KeyError((self.name, self.item, name))

    def _has(self, results: Results, policy: str) -> bool:
        return (self.name, policy, 0) in results.curves

    def values(self, policy: str, column: str) -> Array:
        results, name = self._source(policy)
        return results.values(self.name, name, column)

    def curve(self, policy: str, curve: str) -> Array:
        results, name = self._source(policy)
        return results.stack(self.name, name, curve)

    @cached_property
    def law(self) -> metrics.Law:
        results, _ = self._source(next(iter(self.reading)))
        return law_of(results.spec.task(self.name))

    def regret(self, policy: str) -> float:
        return float(self.values(policy, "regret").mean())

    def regret_half_width(self, policy: str) -> float:
        return float(half_width(self.values(policy, "regret")))  # NaN for a single run

    def ratio(self, policy: str, other: str) -> float:
        """Return one regret relative to another; NaN if the other is zero."""
        return self.regret(policy) / self.regret(other) if self.regret(other) else float("nan")

    @cached_property
    def ceiling(self) -> float:
        """The regret of a policy that never cuts."""
        never = np.full(self.spec.rounds, -np.inf)
        return self._regret(never, self.law)

    def _regret(self, thresholds: Array, law: metrics.Law) -> float:
        spec = self.spec
        return float(metrics.regret(thresholds, law, spec.coverage, lambda1=spec.lambda1, lambda2=spec.lambda2)[-1])

    def share(self, policy: str) -> float:
        """Return the regret as a share of that of a policy that never cuts."""
        return self.regret(policy) / self.ceiling if self.ceiling else float("nan")

    def coverage(self, policy: str) -> float:
        return float(self.values(policy, "coverage").mean())

    def coverage_half_width(self, policy: str) -> float:
        return float(half_width(self.values(policy, "coverage")))

    def past(self, policy: str) -> Array:
        return self.values(policy, "undercoverage_count")

    def past_share(self, policy: str) -> float:
        return float(self.past(policy).mean() / self.spec.rounds)

    def growth(self, policy: str) -> float:
        """Return the slope of log regret against log round over the last nine tenths of the rounds."""
        rounds = self.results.rounds
        late = rounds >= rounds[-1] // 10
        regret = self.curve(policy, "regret").mean(axis=0)[late]
        if not (regret > 0).all():
            return float("nan")
        return float(np.polyfit(np.log(rounds[late]), np.log(regret), 1)[0])

    def distance(self, policy: str) -> float:
        """Return how far the miscoverage is from the allowed one in the last tenth of the rounds, as a share.

        Of the distance that a policy that never cuts has.
        """
        late = self.results.rounds > 0.9 * self.results.rounds[-1]
        return _distance(self.law, self.curve(policy, "threshold")[:, late], self.target)

    def on_probabilities(self, policy: str) -> tuple[Array, float]:
        """Return regrets by run, and the distance, if scores are a list's softmax instead of its logits.

        No probability is below 0, so a start below it is 0 there.
        """
        task = self.spec.task(self.name)
        assert isinstance(task, ScoredTask)  # noqa: S101 - see _logits
        logits = np.asarray(task.scores.candidate_scores, dtype=np.float64)
        top = logits.max(axis=1)
        shares = np.exp(task.population[0] - top) / np.exp(logits - top[:, None]).sum(axis=1)
        law = metrics.Population(shares)
        results, name = self._source(policy)
        rule, late = results.spec.policy(name), self.results.rounds > 0.9 * self.results.rounds[-1]
        assert isinstance(rule, DLR)  # noqa: S101 - the only policy that the paper compares so
        rule = dataclasses.replace(rule, start=max(rule.start, 0.0))
        regrets, thresholds = [], []
        for run in range(self.spec.runs):
            drawn = task.draw(self.spec.generator(task.name, "run", run), self.spec.rounds).candidates
            assert drawn is not None  # noqa: S101 - see _logits
            cuts = replay(rule, shares[drawn[1]])
            regrets.append(self._regret(cuts, law))
            thresholds.append(cuts[self.results.rounds - 1][late])
        return np.array(regrets), _distance(law, np.array(thresholds), self.target)


def _distance(law: metrics.Law, thresholds: Array, target: float) -> float:
    allowed = float(miss_rate(target))
    return float(np.abs(law.miscoverage(thresholds) - allowed).mean() / allowed)


def _logits(results: Results, name: str) -> bool:
    """Return whether a task's scores are logits of all classes."""
    return results.spec.scores is None and name == "images"


Measure = Callable[[_Task], tuple[str, bool]]

BASELINES = ("greedy", "aci", "dlr")


@dataclass(frozen=True)
class _Statement:
    """A statement, how it is read, the policies it refers to, and how it is measured.

    `by_what` tells apart ways to measure one statement of which any may be meant; other claims of the same words must
    all hold.
    """

    words: str
    claim: str
    policies: tuple[str, ...]
    measure: Measure
    by: str = "paper"
    by_what: str = ""
    where: Callable[[Results, str], bool] = field(default=lambda _results, _name: True)


def _regrets(task: _Task, *policies: str) -> str:
    return ", ".join(f"{policy_label(policy)} {task.regret(policy):,.1f}" for policy in policies)


def _of_the_ceiling(task: _Task, policy: str) -> str:
    return f"{_regrets(task, policy)}: {task.share(policy):,.2f} of {task.ceiling:,.1f}, the regret of never cutting"


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
        "The ACI algorithm attains a regret level comparable to the greedy algorithm",
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
        f"DLR's regret is at least {_MOST:g} of that of never cutting",
        ("dlr",),
        lambda t: (_of_the_ceiling(t, "dlr"), t.share("dlr") >= _MOST),
    )
    for by_what, measure in (("regret", _degrades_by_regret), ("distance in the last tenth", _degrades_by_distance)):
        yield _Statement(
            "using logits instead of prediction probabilities causes [DLR's] performance to significantly degrade",
            f"DLR's {by_what} is larger on logits than on their softmax",
            ("dlr",),
            measure,
            by_what=by_what,
            where=_logits,
        )
    yield _Statement(
        "our algorithm achieves [the coverage rate] while achieving sublinear regret",
        "SPS's regret has a log-log slope below 1",
        ("sps",),
        _slope("sps"),
    )


def _slope(name: str, *, above: bool = False) -> Measure:
    return lambda t: (f"slope {t.growth(name):.2f}", t.growth(name) > 1 if above else t.growth(name) < 1)


def _degrades_by_regret(task: _Task) -> tuple[str, bool]:
    logits, (shares, _) = task.values("dlr", "regret"), task.on_probabilities("dlr")
    apart = float(logits.mean() - shares.mean()) > float(half_width(logits) + half_width(shares))
    return f"DLR {logits.mean():,.1f} on logits, {shares.mean():,.1f} on their softmax", apart


def _degrades_by_distance(task: _Task) -> tuple[str, bool]:
    logits, (_, shares) = task.distance("dlr"), task.on_probabilities("dlr")
    return f"DLR {logits:.2f} on logits, {shares:.2f} on their softmax", logits > shares


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
        "in the last tenth of the rounds, SPS is at most half as far from the allowed miscoverage as a policy that "
        "never cuts",
        ("sps",),
        lambda t: (f"{t.distance('sps'):.2f} of that distance", t.distance("sps") <= 0.5),
    )
    for words, claim, farther in (
        (
            "DLR and SPS both achieve the desired coverage rate; however, SPS converges more quickly",
            "in the last tenth of the rounds, SPS is nearer to the allowed miscoverage than DLR",
            0.0,
        ),
        (
            "DLR converges much more slowly than our algorithm",
            "in the last tenth of the rounds, DLR is farther from the allowed miscoverage than SPS by at least "
            f"{_QUARTER:g} of the distance of a policy that never cuts",
            _QUARTER,
        ),
    ):
        yield _Statement(
            words,
            claim,
            ("sps", "dlr"),
            lambda t, farther=farther: (  # type: ignore[misc]
                f"SPS {t.distance('sps'):.2f}, DLR {t.distance('dlr'):.2f} of that distance",
                t.distance("dlr") > t.distance("sps") + farther,
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
        f"Con-ETC's regret is at least {_MOST:g} of that of never cutting",
        ("conservative-etc",),
        lambda t: (_of_the_ceiling(t, "conservative-etc"), t.share("conservative-etc") >= _MOST),
    )
    yield _Statement(
        "[Con-ETC] guarantees [a threshold at most the optimal one] with probability at least 1 - 2/T",
        "Con-ETC is never past the optimum",
        ("conservative-etc",),
        _never_past("conservative-etc"),
    )


def _our_statements() -> Iterator[_Statement]:
    ours, usual = "anytime@2/T", "anytime@0.01"
    for claim, policies, measure in (
        (
            f"{policy_label(ours)}, has less than half of SPS's regret",
            (ours, "sps"),
            lambda t: (_times(t, ours, "sps"), t.ratio(ours, "sps") < 0.5),
        ),
        (f"{policy_label(ours)}, is never past the optimum", (ours,), _never_past(ours)),
        (
            f"{policy_label(usual)}, is past the optimum in at most 1 % of the runs (or in one)",
            (usual,),
            lambda t: (
                f"{np.count_nonzero(t.past(usual))} of {t.past(usual).size} runs",
                bool(np.count_nonzero(t.past(usual)) <= max(1, 0.01 * t.past(usual).size)),
            ),
        ),
    ):
        yield _Statement(claim, claim, policies, measure, by="ours")


def _statements(target: float) -> Iterator[_Statement]:
    """Yield every statement, in the paper's order; ours last."""
    yield from _regret_statements(target)
    yield from _coverage_statements(target)
    yield from _undercoverage_statements()
    yield from _appendix_statements(target)
    yield from _our_statements()


def measured_on(results: Results) -> list[tuple[str, str | None, str]]:
    """Return task, item and a name for both, of everything that claims are measured on."""
    spec = results.spec
    tasks = [(name, spec.item, name) for name in spec.task_names]
    items = [reading.spec.item for reading in results.readings if reading.spec.item not in (None, spec.item)]
    return tasks + [("auctions", item, f"auctions: {item}") for item in items]


def _readings(spec: Spec, policies: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield every combination of readings of some policies."""
    for names in itertools.product(*(readings_of(spec, policy) for policy in policies)):
        yield dict(zip(policies, names, strict=True))


def claims(results: Results) -> list[Claim]:
    """Return all claims about policies that were run, under every reading, task by task."""
    return [
        Claim(one.by, one.words, one.claim, _in_words(results.spec, reading, one), shown, measured, bool(holds))
        for one in _statements(results.spec.coverage)
        for reading in _readings(results.spec, one.policies)
        for name, item, shown in measured_on(results)
        if one.where(results, name) and _has(results, name, item, reading)
        for measured, holds in [one.measure(_Task(results, name, item, reading))]
    ]


def _has(results: Results, task: str, item: str | None, reading: Mapping[str, str]) -> bool:
    """Return whether every policy of a reading was run on a task."""
    task_view = _Task(results, task, item, reading)
    try:
        for policy in reading:
            task_view._source(policy)
    except KeyError:
        return False
    return True


def _in_words(spec: Spec, reading: Mapping[str, str], one: _Statement) -> str:
    """Return a reading in words, where there is more than one."""
    open_ones = [reading_label(name) for key, name in reading.items() if len(readings_of(spec, key)) > 1]
    return "; ".join(open_ones + ([f"by {one.by_what}"] if one.by_what else []))


def unjudged(results: Results) -> list[Unjudged]:
    """Return the paper's statements that a run cannot judge: a policy or a task is missing."""
    judged = {claim.statement for claim in claims(results)}
    missing: dict[str, str] = {}
    for one in _statements(results.spec.coverage):
        if one.by == "paper" and one.words not in judged:
            absent = [policy_label(policy) for policy in one.policies if not readings_of(results.spec, policy)]
            why = f"{' and '.join(absent)} {'was' if len(absent) == 1 else 'were'} not run" if absent else ""
            missing[one.words] = why or "it is about images, which were not run"
    return [Unjudged(words, why) for words, why in missing.items()]


def size_note(spec: Spec) -> str:
    """Return why a run is too short to judge the paper; empty if it is not."""
    if spec.runs >= RUNS and spec.rounds >= ROUNDS:
        return ""
    return (
        f"These are {spec.runs} run{'s' * (spec.runs > 1)} of {spec.rounds:,} rounds; the paper has {RUNS} of "
        f"{ROUNDS:,}, so its statements are not judged."
    )
