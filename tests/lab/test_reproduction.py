"""The experiment against a prototype's figures, computed independently on the same data.

Means over 100 runs must be within four combined standard errors, or 3 %, of the prototype's means
over 10 runs; images within 5 %, for ours are half of its images.
"""

import numpy as np
import pytest

from shortlist import ACI, DLR, SPS, AnytimeSPS, ConservativeETC, ExploreThenCommit, Greedy, Oracle, metrics, replay
from shortlist.lab.run import law_of
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import load_task

ROUNDS, RUNS, COVERAGE = 10_000, 100, 0.9

POLICIES = {
    "sps": SPS(COVERAGE, ROUNDS),
    "anytime": AnytimeSPS(COVERAGE, 2 / ROUNDS),
    "greedy": Greedy(COVERAGE),
    "aci": ACI(COVERAGE, 0.008),
    "dlr": DLR(COVERAGE, start=0.0, exponent=0.6),
    "etc": ExploreThenCommit(COVERAGE, 1000),
    "conservative-etc": ConservativeETC(COVERAGE, 4000, ROUNDS),
}

# regret, coverage, undercoverage count: the prototype's means of ten runs
PROTOTYPE = {
    "images": {
        "sps": (50.8, 0.951, 0),
        "anytime": (22.8, 0.923, 0),
        "greedy": (67_020, 0.230, 9_999),
        "aci": (1_377, 0.899, 6_125),
        "dlr": (32.9, 0.933, 0),
        "etc": (273, 0.909, 2_700),
        "conservative-etc": (68.4, 0.969, 0),
    },
    "retrieval": {
        "sps": (52.0, 0.951, 0),
        "anytime": (23.8, 0.922, 0),
        "greedy": (60_738, 0.293, 9_998),
        "aci": (1_333, 0.899, 6_069),
        "dlr": (674, 0.900, 4_427),
        "etc": (475, 0.908, 5_400),
        "conservative-etc": (69.6, 0.969, 0),
    },
    "auctions": {
        "sps": (44.7, 0.953, 0),
        "anytime": (18.9, 0.926, 0),
        "greedy": (72_388, 0.174, 9_999),
        "aci": (1_249, 0.899, 5_849),
        "dlr": (91.5, 1.000, 0),
        "etc": (396, 0.910, 4_500),
        "conservative-etc": (61.4, 0.970, 0),
    },
}


@pytest.fixture(scope="module", params=list(PROTOTYPE))
def task(request):
    loaded = load_task(request.param)
    spec = Spec()
    return loaded, [loaded.draw(spec.generator(loaded.name, "prototype", run), ROUNDS) for run in range(RUNS)]


@pytest.mark.parametrize("name", list(POLICIES))
def test_the_prototypes_table(task, name):
    loaded, streams = task
    law = law_of(loaded)
    rows = []
    for stream in streams:
        thresholds = replay(POLICIES[name], stream.true_scores)
        rows.append(
            (
                metrics.regret(thresholds, law, COVERAGE)[-1],
                metrics.coverage(thresholds, stream.true_scores)[-1],
                metrics.undercoverage_count(thresholds, law, COVERAGE)[-1],
            )
        )
    means, deviations = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
    expected = np.array(PROTOTYPE[loaded.name][name], dtype=float)
    error = deviations * (1 / RUNS + 1 / 10) ** 0.5
    relative = 0.05 if loaded.name == "images" else 0.03
    rounding = [0.05, 0.0005, 0.5]  # of the prototype's printed digits
    allowed = np.maximum(4 * error, relative * np.abs(expected)) + rounding
    assert (np.abs(means - expected) <= allowed).all(), (means, expected, allowed)
    if expected[2] == 0 and name != "dlr":  # guaranteed by all but DLR, which passes the optimum in 1 of 150 runs
        past = sum(row[2] > 0 for row in rows)
        assert past <= (2 if "anytime" in name else 0)  # of 100 runs, each with 1.25e-4: three have 3e-7


def regret_bound(coverage, rounds):
    """theory.md: lambda1 (p0 + sum over t < T of min(p0, 2 sqrt(log T / t))) + 2 lambda2 c."""
    p0 = 1 - coverage
    t = np.arange(1, rounds)
    learning = 0.1 * (p0 + np.minimum(p0, 2 * np.sqrt(np.log(rounds) / t)).sum())
    return learning, learning + 2 * 10 * coverage


@pytest.mark.parametrize(("coverage", "rounds", "first", "runs"), [(0.8, 10_000, 103.0, 50), (0.9, 100_000, 383.1, 20)])
def test_the_regret_bound_holds_and_is_not_empty(coverage, rounds, first, runs):
    learning, bound = regret_bound(coverage, rounds)
    assert learning == pytest.approx(first, abs=0.05)

    def regret(policy):
        ends = []
        for run in range(runs):
            scores = np.random.default_rng([17, run]).random(rounds)
            ends.append(metrics.regret(replay(policy, scores), metrics.Uniform(), coverage)[-1])
        return np.mean(ends)

    for policy in (SPS(coverage, rounds), AnytimeSPS(coverage, 2 / rounds)):
        assert regret(policy) <= learning < bound
    assert regret(Oracle(-np.inf)) > bound  # negative control: a rule that never cuts breaks it
