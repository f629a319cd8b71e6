"""The expected regret against every path, against integrals and against simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from shortlist import DKW, SPS, AnytimeSPS, BetaBinomial, Calibrated, OrderStatistic, metrics, replay
from shortlist.boundaries import Held, Quantile, expected_regret
from shortlist.boundaries.crossing import crossing
from shortlist.boundaries.exact_regret import first_crossings, regret_of_limits
from shortlist.errors import InvalidParameter

UNIFORM = metrics.Uniform()


def enumerated(limits, rounds, p0, lambda1, lambda2):
    """The mean over all orders of ranks: with n uniform scores, the r-th smallest has the law Beta(r, n + 1 - r).

    The threshold in force at round t is a score of one rank among the first t - 1; for a linear piece of phi
    the mean over the law of that rank is an incomplete beta function.
    """
    total = 0.0
    for n in range(rounds):
        for order in itertools.permutations(range(1, n + 1)):
            seen, rank = [], 0  # rank 0: nothing is cut
            for score, k in zip(order, limits, strict=False):
                seen = sorted([*seen, score])
                rank = max(rank, seen[k]) if k >= 0 else rank
            total += mean_loss(rank, n, p0, lambda1, lambda2) / math.factorial(n)
    return total


def mean_loss(rank, n, p0, lambda1, lambda2):
    if rank == 0:
        return lambda1 * p0
    law = stats.beta(rank, n + 1 - rank)
    mean_below = law.mean() * stats.beta(rank + 1, n + 1 - rank).cdf(p0)  # E[tau; tau <= p0]
    below, above = law.cdf(p0), law.sf(p0)
    return lambda1 * (p0 * below - mean_below) + lambda2 * (law.mean() - mean_below - p0 * above)


@given(
    st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=5),
    st.sampled_from([0.2, 0.5, 0.8, 0.9]),
    st.sampled_from([(0.1, 10.0), (1.0, 1.0), (3.0, 0.5)]),
)
def test_it_is_what_every_order_of_the_scores_gives(steps, coverage, weights):
    limits = [k - 1 for k in itertools.accumulate(steps)]
    expected = enumerated(limits, len(limits) + 1, float(1 - Fraction(str(coverage))), *weights)
    found = regret_of_limits(np.array(limits), coverage, len(limits) + 1, lambda1=weights[0], lambda2=weights[1])
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("boundary", "coverage"),
    [
        (BetaBinomial(0.05), 0.9),
        (DKW(300), 0.6),
        (Quantile(), 0.8),
        (Held(Quantile(), 40), 0.9),
        (BetaBinomial(0.3), 0.3),
    ],
)
def test_it_is_the_integral_of_crossing_probabilities(boundary, coverage):
    """The definition, by quadrature: over u, of how often a walk with steps of probability u has crossed."""
    rounds, p0 = 300, float(1 - Fraction(str(coverage)))
    limits = boundary.limits(coverage, rounds)

    def crossed(u):
        """Return the sum over n < rounds of P(crossed by n), pushed forward round by round."""
        alive, absorbed, total = np.zeros(rounds + 1), 0.0, 0.0
        alive[0] = 1.0
        for n in range(1, rounds):
            alive = (1 - u) * alive + u * np.concatenate([[0.0], alive[:-1]])
            absorbed += alive[: limits[n - 1] + 1].sum()
            alive[: limits[n - 1] + 1] = 0.0
            total += absorbed
        return total

    below, _ = integrate.quad(lambda u: rounds - crossed(u), 0.0, p0, epsabs=1e-9, epsrel=1e-9)
    above, _ = integrate.quad(crossed, p0, 1.0, epsabs=1e-9, epsrel=1e-9, points=[p0 + 0.02, p0 + 0.1])
    found = expected_regret(boundary, coverage, rounds)
    assert found == pytest.approx(0.1 * below + 10.0 * above, rel=1e-7)


@pytest.mark.parametrize("coverage", [0.3, 0.8, 0.9, 0.99])
def test_one_pass_knows_the_crossing_probability_of_every_coverage(coverage):
    """The chances do not depend on the probability of a low score; with it they give what `crossing` gives."""
    limits = BetaBinomial(0.05).limits(0.9, 2000)
    p0 = float(1 - Fraction(str(coverage)))
    crossed = sum(
        float(chances @ stats.binom.pmf(np.arange(lowest, lowest + chances.size), n, p0))
        for n, lowest, chances in first_crossings(limits)
    )
    assert crossed == pytest.approx(crossing(limits, coverage), rel=1e-9)


def simulated(policy, coverage, rounds, runs):
    streams = (np.random.default_rng(child).random(rounds) for child in np.random.SeedSequence(28).spawn(runs))
    return np.array([metrics.regret(replay(policy, scores), UNIFORM, coverage)[-1] for scores in streams])


@pytest.mark.parametrize(
    "policy",
    [
        SPS(0.9, 1000),
        AnytimeSPS(0.9, 2e-3),
        AnytimeSPS(0.9, 0.05),
        OrderStatistic(0.9, Calibrated(0.05, 1000)),
        OrderStatistic(0.9, Quantile()),
    ],
    ids=lambda policy: type(policy.boundary).__name__,
)
def test_it_is_what_simulation_shows(policy):
    """4,000 runs, within 5.5 standard errors: a false alarm has the odds of 4e-8 each, 2e-7 for the five.

    The heavy tail is bounded (no run costs more than 10 x 0.9 x 1,000) and a tenth of runs passes where it matters,
    so the mean of 4,000 is near enough to normal.
    """
    regrets = simulated(policy, 0.9, 1000, 4000)
    exact = expected_regret(policy.boundary, 0.9, 1000)
    assert abs(regrets.mean() - exact) < 5.5 * regrets.std(ddof=1) / 4000**0.5
    wrong = expected_regret(BetaBinomial(0.3), 0.9, 1000)  # negative control: another boundary's is far away
    assert abs(regrets.mean() - wrong) > 5.5 * regrets.std(ddof=1) / 4000**0.5


def test_a_boundary_that_never_moves_costs_what_showing_everything_costs():
    assert expected_regret(DKW(100), 0.9, 100) == pytest.approx(0.1 * 0.1 * 100)
    assert expected_regret(Quantile(), 0.9, 1) == pytest.approx(0.1 * 0.1)


def test_limits_beyond_all_rounds_end_the_count():
    """After one round the threshold is past every score below: all that is left is a uniform threshold."""
    found = regret_of_limits(np.array([1, 1, 2]), 0.5, 4)
    assert found == pytest.approx(0.1 * 0.5 + 3 * 10 * 0.5)  # "past everything" counts as a miss rate of 1


def test_it_needs_no_logarithm_of_tiny_numbers():
    """Where the paper's rule first cuts, 0.99^n has no float: the chances are as they are elsewhere."""
    rounds = 150_000
    limits = np.maximum(-1, np.arange(1, rounds + 1) - 140_001).astype(np.int64)  # cuts where 0.99^n is 1e-611
    limits = np.minimum(limits, 3)
    found = regret_of_limits(limits, 0.99, rounds)
    assert 0 < found < 0.1 * 0.01 * rounds
    assert found > 0.1 * 0.01 * 140_001


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: expected_regret("dkw", 0.9, 10), "boundary is 'dkw'; it must be a boundary"),
        (lambda: expected_regret(Quantile(), 1.0, 10), "coverage is 1.0"),
        (lambda: expected_regret(Quantile(), 0.9, 0), "rounds is 0"),
        (lambda: expected_regret(Quantile(), 0.9, 10, lambda1=-1.0), "lambda1 is -1.0"),
        (lambda: expected_regret(Quantile(), 0.9, 10, lambda2=math.inf), "lambda2 is inf"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()
