"""Promise and regret in simulation: fixed seeds, a stated false-alarm probability, a negative control.

A count of failed runs is judged by the exact binomial test against the probability that theory
allows, at a false-alarm probability of 1e-6; the rules broken on purpose must fail the same test.
Regret has a heavy tail (a run that passes the optimum costs hundreds), so means are compared over
the runs that did not pass, and those that did are counted.
"""

import numpy as np
import pytest
from scipy import stats

from shortlist import SPS, AnytimeSPS, BetaBinomial, Calibrated, OrderStatistic, crossing_probability, metrics, replay
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
    """The regret of each stream, NaN where it passes tau* = 0.1, and how many do."""
    ends = []
    for scores in streams:
        thresholds = replay(policy, scores)
        end = metrics.regret(thresholds, metrics.Uniform(), COVERAGE)[-1]
        ends.append(end if thresholds[-1] <= 0.1 else np.nan)
    return np.array(ends), int(np.isnan(ends).sum())


def standard_errors(differences):
    """Return how many standard errors the mean of paired differences lies above 0."""
    found = differences[~np.isnan(differences)]
    return found.mean() / (found.std(ddof=1) / len(found) ** 0.5)


@pytest.fixture(scope="module")
def sps(streams):
    return results(SPS(COVERAGE, ROUNDS), streams)


def test_sps_has_the_regret_that_theory_computes(sps):
    """51.0 to the digit, with six standard errors for luck: false alarm 2e-9; its crossing probability is 1.5e-25."""
    regret, passed = sps
    assert abs(regret.mean() - 51.0) < 0.1 + 6 * regret.std() / RUNS**0.5
    assert passed == 0


def test_anytime_has_less_than_half_of_the_regret_of_sps(streams, sps):
    """Measured ratio 0.450; 0.46 is eight standard errors away, so a false alarm of three has the odds of 3e-7."""
    delta = 2 / ROUNDS
    regret, passed = results(AnytimeSPS(COVERAGE, delta), streams)
    assert standard_errors(0.46 * sps[0] - regret) > 3
    assert not too_many(passed, RUNS, crossing_probability(BetaBinomial(delta), COVERAGE, ROUNDS))


def test_calibrated_has_still_less(streams):
    """On the same streams, by 0.7: 150 standard errors of the paired difference, of which six are asked for."""
    delta = 2 / ROUNDS
    regret, passed = results(OrderStatistic(COVERAGE, Calibrated(delta, ROUNDS)), streams)
    anytime, _ = results(AnytimeSPS(COVERAGE, delta), streams)
    assert standard_errors(anytime - regret) > 6
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
