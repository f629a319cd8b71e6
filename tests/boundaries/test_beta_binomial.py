"""The horizon-free boundary against its definition, for a million rounds and for tiny numbers."""

import math
import re

import numpy as np
import pytest
from scipy import special

import shortlist
from shortlist import BetaBinomial, Binomial, crossing_probability
from shortlist.errors import InvalidParameter
from tests.policies import brute_force


@pytest.mark.parametrize(
    ("delta", "relative_mean", "weight", "first_cut", "coverage"),
    [
        (0.05, 0.8, 100.0, 0.0, 0.9),
        (0.05, 1.0, 50.0, 0.0, 0.9),
        (0.3, 0.7, 4.0, 0.0, 0.5),
        (0.5, 1.0, 20.0, 0.0, 0.25),
        (0.01, 0.8, 100.0, 0.1, 0.9),
        (0.01, 0.8, 100.0, 0.1, 0.8),
        (0.3, 0.7, 4.0, 0.25, 0.5),
        (0.5, 1.0, 20.0, 0.9, 0.25),
    ],
)
def test_beta_binomial_is_its_definition(delta, relative_mean, weight, first_cut, coverage):
    limits = BetaBinomial(delta, relative_mean, weight, first_cut).limits(coverage, 160).tolist()
    assert limits == brute_force.beta_binomial_limits(delta, relative_mean, weight, first_cut, coverage, 160)
    assert max(limits) > 0


def test_beta_binomial_stays_accurate_for_a_million_rounds():
    """The multiplied martingale is still the Beta function's to ten digits, and k still its argument."""
    boundary, coverage, rounds = BetaBinomial(0.05, relative_mean=1.0, weight=50.0, first_cut=0.0), 0.9, 1_000_000
    limits = boundary.limits(coverage, rounds)
    a, b, _, p0, bar = boundary.constants(coverage)
    n = np.arange(99, rounds, 997) + 1.0

    def log_e(k):
        return special.betaln(a + k, b + n - k) - special.betaln(a, b) - k * math.log(p0) - (n - k) * math.log(coverage)

    k = limits[n.astype(int) - 1]
    slack = 1e-7  # betaln's own rounding at 10^6
    assert (log_e(k) >= math.log(bar) - slack).all()
    assert (log_e(k + 1) < math.log(bar) + slack).all()


def test_tiny_deltas_do_not_overflow():
    for coverage in (1e-6, 0.5, 0.9, 0.999999):
        for boundary in (BetaBinomial(1e-200), Binomial(1e-200, 10**6), BetaBinomial(1e-200, 1.0, 2.0)):
            assert crossing_probability(boundary, coverage, 3000) <= 1e-200


def test_both_parts_of_the_martingale_are_needed():
    """Negative control: a point part that is added to the beta part instead of mixed with it spends more than delta."""
    honest = BetaBinomial(0.3, first_cut=0.5)

    class Added(BetaBinomial):
        def start(self, coverage):
            assert coverage
            return 1.0, self.first_cut

    assert crossing_probability(honest, 0.9, 3000) <= 0.3
    assert crossing_probability(Added(0.3, first_cut=0.5), 0.9, 3000) > 0.3


@pytest.mark.parametrize("weight", [1.21e-16, 1e-17, 1e-300, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
def test_no_prior_spends_more_than_delta(weight, coverage):
    """A tiny prior weight must not be lost beside 1: rounded away, it once spent 0.089 of 0.05."""
    assert shortlist.crossing_probability(BetaBinomial(0.05, weight=weight), coverage, 2000) <= 0.05


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BetaBinomial(0), "delta is 0; it must lie strictly between 0 and 1"),
        (lambda: BetaBinomial(0.05, relative_mean=1.5), "relative_mean is 1.5; it must be in"),
        (lambda: BetaBinomial(0.05, relative_mean=0.0), "relative_mean is 0.0"),
        (lambda: BetaBinomial(0.05, weight=math.inf), "weight is inf"),
        (lambda: BetaBinomial(0.05, first_cut=1.0), "first_cut is 1.0; it must be in [0, 1)"),
        (lambda: BetaBinomial(0.05, first_cut=-0.1), "first_cut is -0.1; it must be in [0, 1)"),
        (lambda: BetaBinomial(1e-300), "delta is 1e-300; it must be at least 1e-200"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        make()
