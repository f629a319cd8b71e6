"""The binomial boundary and the calibrated one against their definitions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shortlist import Binomial, Calibrated, crossing_probability
from shortlist.boundaries import expected_regret
from shortlist.boundaries.base import as_array, walk_limits
from shortlist.boundaries.binomial import binomial
from shortlist.boundaries.crossing import crossing
from shortlist.boundaries.exact_regret import regret_of_limits
from shortlist.errors import InvalidParameter
from tests.policies import brute_force


@pytest.mark.parametrize(("delta", "coverage"), [(0.05, 0.9), (0.5, 0.5), (0.9, 0.3)])
def test_binomial_is_its_definition(delta, coverage):
    limits = Binomial(delta, 100).limits(coverage, 120).tolist()
    assert limits[:100] == brute_force.binomial_limits(delta, coverage, 100, 100)
    assert set(limits[100:]) == {limits[99]}


@pytest.mark.parametrize("delta", [1e-10, 1e-13, 1e-30, 1e-190])
@pytest.mark.parametrize("coverage", [0.7, 0.9, 0.95])
def test_binomial_is_exact_at_tiny_deltas(delta, coverage):
    limits = Binomial(delta, 1000).limits(coverage, 1000)
    n, p0 = np.arange(1, 1001), float(1 - Fraction(str(coverage)))
    assert (stats.binom.cdf(limits, n, p0) <= delta / 1000 * (1 + 1e-9)).all()
    assert (stats.binom.cdf(limits + 1, n, p0) > delta / 1000 * (1 - 1e-6)).all()
    assert crossing_probability(Calibrated(delta, 1000), coverage, 1000) <= delta


def test_binomial_stays_exact_for_long():
    limits = Binomial(0.05, 100_000).limits(0.9, 100_000)
    n = np.arange(99, 100_000, 499) + 1
    k = limits[n - 1]
    assert (stats.binom.cdf(k, n, 0.1) <= 0.05 / 100_000).all()
    assert (stats.binom.cdf(k + 1, n, 0.1) > 0.05 / 100_000 * (1 - 1e-6)).all()


@pytest.mark.parametrize(("delta", "coverage"), [(0.05, 0.9), (2e-3, 0.8), (0.05, 0.99), (0.3, 0.5), (0.5, 0.2)])
def test_calibrated_has_a_level_in_proportion_to_n(delta, coverage):
    boundary = Calibrated(delta, 1000)
    limits, slope = boundary.limits(coverage, 1200), boundary.constants(coverage)[4]
    n, p0 = np.arange(1, 1001), float(1 - Fraction(str(coverage)))
    assert (stats.binom.cdf(limits[:1000], n, p0) <= slope * n * (1 + 1e-9)).all()
    assert (stats.binom.cdf(limits[:1000] + 1, n, p0) > slope * n * (1 - 1e-6)).all()
    assert set(limits[1000:].tolist()) == {limits[999]}


@pytest.mark.parametrize(
    ("coverage", "rounds", "delta", "flat"),
    [(0.9, 1000, 0.05, 7.0604), (0.9, 10_000, 0.01, 20.0082), (0.9, 10_000, 0.05, 36.6030)],
)
def test_calibrated_has_less_regret_than_with_a_flat_level(coverage, rounds, delta, flat):
    """The flat level that spends the same delta, by bisection: more than 2 % worse, which is why the level rises."""

    def limits(level):
        constants = (float(1 - Fraction(str(coverage))), coverage, level, float(rounds), 0.0)
        return as_array(walk_limits(binomial, constants, (1.0, 1.0)), rounds)

    low, high = delta / rounds, delta
    for _ in range(16):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if crossing(limits(middle), coverage) <= delta else (low, middle)
    found = regret_of_limits(limits(low), coverage, rounds)
    assert found == pytest.approx(flat, rel=2e-3)
    assert expected_regret(Calibrated(delta, rounds), coverage, rounds) < 0.98 * found


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Binomial(1.0, 10), "delta is 1.0"),
        (lambda: Calibrated(0.1, 0), "horizon is 0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message.replace("(", r"\(")):
        make()
