"""Promise and regret in simulation: fixed seeds, a stated false-alarm probability, a negative control.

A count of failed runs is judged by the exact binomial test against the probability that theory
allows, at a false-alarm probability of 1e-6; the rules broken on purpose must fail the same test.
"""

import numpy as np
import pytest
from scipy import stats

from shortlist import (
    SPS,
    AnytimeSPS,
    BetaBinomial,
    Calibrated,
    OrderStatistic,
    crossing_probability,
    metrics,
    replay,
)
from shortlist.boundaries import Quantile

COVERAGE, ROUNDS, RUNS = 0.9, 10_000, 2_000
FALSE_ALARM = 1e-6


def too_many(failures, runs, allowed):
    """Whether so many failures are too many to be luck, if each has at most that probability."""
    return bool(stats.binom.sf(failures - 1, runs, allowed) < FALSE_ALARM)


@pytest.fixture(scope="module")
def streams():
    """2,000 paired streams: every policy sees the same scores."""
    return [np.random.default_rng(child).random(ROUNDS) for child in np.random.SeedSequence(20250).spawn(RUNS)]


def results(policy, streams):
    """Mean regret, its standard error, and the number of streams that pass tau* = 0.1."""
    ends, passed = [], 0
    for scores in streams:
        thresholds = replay(policy, scores)
        ends.append(metrics.regret(thresholds, metrics.Uniform(), COVERAGE)[-1])
        passed += bool(thresholds[-1] > 0.1)
    return np.mean(ends), np.std(ends) / len(ends) ** 0.5, passed


@pytest.fixture(scope="module")
def sps(streams):
    return results(SPS(COVERAGE, ROUNDS), streams)


def test_sps_has_the_regret_that_theory_computes(sps):
    regret, error, passed = sps
    assert abs(regret - 51.0) < 0.1 + 5 * error
    assert passed == 0  # its exact crossing probability is 1.5e-25


def test_anytime_has_less_than_half_of_the_regret_of_sps(streams, sps):
    delta = 2 / ROUNDS
    regret, _, passed = results(AnytimeSPS(COVERAGE, delta), streams)
    assert regret <= 0.46 * sps[0]
    assert not too_many(passed, RUNS, crossing_probability(BetaBinomial(delta), COVERAGE, ROUNDS))


def test_calibrated_has_still_less(streams, sps):
    delta = 2 / ROUNDS
    regret, _, passed = results(OrderStatistic(COVERAGE, Calibrated(delta, ROUNDS)), streams)
    assert regret <= 0.445 * sps[0]
    assert not too_many(passed, RUNS, delta)


def test_failures_come_exactly_as_often_as_computed(streams):
    """With a delta large enough to see failures, their number is the exact crossing probability's."""
    boundary = BetaBinomial(0.5)
    exact = crossing_probability(boundary, COVERAGE, 2000)
    policy = OrderStatistic(COVERAGE, boundary)
    failures = sum(replay(policy, scores[:2001])[-1] > 0.1 for scores in streams)
    assert stats.binomtest(failures, RUNS, exact).pvalue > FALSE_ALARM
    assert exact > 0.2  # the test has something to see


def test_a_rule_without_a_margin_fails_the_same_test(streams):
    """Negative control: the empirical quantile passes tau* far more often than delta."""
    policy = OrderStatistic(COVERAGE, Quantile())
    failures = sum(replay(policy, scores[:2001])[-1] > 0.1 for scores in streams[:200])
    assert too_many(failures, 200, 0.05)


def test_the_promise_holds_with_ties(streams):
    """Scores on a grid of five values: P(s >= tau*) is above 0.9, and the bound still holds."""
    boundary = BetaBinomial(0.5)
    exact = crossing_probability(boundary, COVERAGE, 2000)
    policy = OrderStatistic(COVERAGE, boundary)
    failures = 0
    for scores in streams:
        tied = np.searchsorted([0.05, 0.102, 0.5, 0.8], scores[:2001]).astype(float)  # tau* is 1.0
        failures += bool(replay(policy, tied)[-1] > 1.0)
    assert not too_many(failures, RUNS, exact)
