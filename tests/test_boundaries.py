"""Boundaries against their definitions, and the crossing probability against brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import shortlist
from shortlist import DKW, BetaBinomial, Binomial, Calibrated, crossing_probability
from shortlist.boundaries import Held, Quantile
from shortlist.boundaries.crossing import crossing
from shortlist.errors import InvalidParameter
from tests.policies import brute_force
from tests.strategies import COVERAGES

EVERY = [
    DKW(500),
    BetaBinomial(0.05),
    BetaBinomial(0.2, relative_mean=1.0, weight=3.0),
    Binomial(0.05, 500),
    Calibrated(0.05, 500),
    Quantile(),
    Held(DKW(500), 200),
    Held(Quantile(), 200),
]


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99, 0.123456789])
@pytest.mark.parametrize("horizon", [1, 2, 1000, 20_000])
def test_dkw_floors_are_exact(coverage, horizon):
    """The floor in floats is the floor with sixty digits, in every round."""
    limits = DKW(horizon).limits(coverage, horizon + 5)
    checked = [*range(1, min(horizon, 3000) + 1), *range(3000, horizon + 1, 37)]
    assert [int(limits[n - 1]) for n in checked] == [brute_force.decimal_limit(n, coverage, horizon) for n in checked]
    assert (limits[horizon:] == limits[horizon - 1]).all()  # frozen after the horizon


@pytest.mark.parametrize(
    ("delta", "relative_mean", "weight", "coverage"),
    [(0.05, 0.8, 100.0, 0.9), (0.05, 1.0, 50.0, 0.9), (0.3, 0.7, 4.0, 0.5), (0.5, 1.0, 20.0, 0.25)],
)
def test_beta_binomial_is_its_definition(delta, relative_mean, weight, coverage):
    limits = BetaBinomial(delta, relative_mean, weight).limits(coverage, 160).tolist()
    assert limits == brute_force.beta_binomial_limits(delta, relative_mean, weight, coverage, 160)
    assert max(limits) > 0


def test_beta_binomial_stays_accurate_for_a_million_rounds():
    """The multiplied martingale is still the Beta function's to ten digits, and k still its argument."""
    boundary, coverage, rounds = BetaBinomial(0.05, relative_mean=1.0, weight=50.0), 0.9, 1_000_000
    limits = boundary.limits(coverage, rounds)
    a, b, _, p0, bar = boundary.constants(coverage)
    n = np.arange(99, rounds, 997) + 1.0

    def log_e(k):
        return special.betaln(a + k, b + n - k) - special.betaln(a, b) - k * math.log(p0) - (n - k) * math.log(coverage)

    k = limits[n.astype(int) - 1]
    slack = 1e-7  # betaln's own rounding at 10^6
    assert (log_e(k) >= math.log(bar) - slack).all()
    assert (log_e(k + 1) < math.log(bar) + slack).all()


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


@given(COVERAGES, st.integers(1, 400))
def test_quantile_floors_are_exact(coverage, rounds):
    p0 = 1 - Fraction(str(coverage))
    expected = [math.floor(n * p0) for n in range(1, rounds + 1)]
    assert Quantile().limits(coverage, rounds).tolist() == expected


def test_a_coverage_of_seventeen_digits_is_exact_too():
    coverage = 0.1 + 0.2  # 0.30000000000000004
    p0 = 1 - Fraction(str(coverage))
    expected = [math.floor(n * p0) for n in range(1, 2001)]
    assert Quantile().limits(coverage, 2000).tolist() == expected


@pytest.mark.parametrize("boundary", EVERY, ids=repr)
@pytest.mark.parametrize("coverage", [0.3, 0.9])
def test_limits_rise_by_steps_of_one_and_stay_below_n(boundary, coverage):
    limits = boundary.limits(coverage, 800)
    assert limits.dtype == np.int64
    steps = np.diff(limits, prepend=-1)
    assert (steps >= 0).all()
    if not isinstance(boundary, Held):
        assert (steps <= 1).all()
    assert (limits < np.arange(1, 801)).all()
    assert list(itertools.islice(boundary.walk(coverage), 800)) == limits.tolist()
    assert boundary.limits(coverage, 0).size == 0


def enumerate_crossing(limits, p0):
    """Every path of low and high scores, one by one."""
    total = Fraction(0)
    for path in itertools.product((0, 1), repeat=len(limits)):
        counts = itertools.accumulate(path)
        if any(count <= k for count, k in zip(counts, limits, strict=True)):
            total += math.prod((p0 if low else 1 - p0) for low in path)
    return total


@given(
    st.lists(st.sampled_from([0, 0, 0, 1]), min_size=1, max_size=11),
    st.sampled_from([0.2, 0.5, 0.8, 0.9]),
)
def test_crossing_is_what_enumeration_gives(steps, coverage):
    limits = [k - 1 for k in itertools.accumulate(steps)]
    expected = float(enumerate_crossing(limits, 1 - Fraction(str(coverage))))
    assert crossing(np.array(limits), coverage) == pytest.approx(expected, rel=1e-12)


def test_crossing_keeps_its_digits_at_any_size():
    """A single decision after n rounds is a binomial tail, however small."""
    for rounds, coverage in [(60, 0.7), (3685, 0.95), (20_000, 0.5)]:
        limits = Held(DKW(rounds), rounds)
        k = int(limits.limits(coverage, rounds)[-1])
        expected = stats.binom.cdf(k, rounds, float(1 - Fraction(str(coverage))))
        assert expected > 0
        assert crossing_probability(limits, coverage, rounds) == pytest.approx(expected, rel=1e-9, abs=0)


def test_a_boundary_above_everything_is_crossed_for_sure():
    assert crossing(np.array([0]), 0.5) == 0.5
    assert crossing(np.array([1, 2, 3]), 0.5) == 1.0
    assert crossing(np.full(2000, 1999), 0.99) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DKW(-1), "horizon is -1; it must be at least 1"),
        (lambda: DKW(10.5), "horizon is 10.5; it must be a whole number"),
        (lambda: DKW(True), "horizon is True"),
        (lambda: BetaBinomial(0), "delta is 0; it must lie strictly between 0 and 1"),
        (lambda: BetaBinomial(0.05, relative_mean=1.5), "relative_mean is 1.5; it must be in"),
        (lambda: BetaBinomial(0.05, relative_mean=0.0), "relative_mean is 0.0"),
        (lambda: BetaBinomial(0.05, weight=math.inf), "weight is inf"),
        (lambda: Binomial(1.0, 10), "delta is 1.0"),
        (lambda: BetaBinomial(1e-300), "delta is 1e-300; it must be at least 1e-200"),
        (lambda: Calibrated(0.1, 0), "horizon is 0"),
        (lambda: Held(Quantile(), 0), "rounds is 0"),
        (lambda: Quantile().limits(1.0, 10), "coverage is 1.0"),
        (lambda: Quantile().limits(0.9, -1), "rounds is -1"),
        (lambda: crossing_probability(Quantile(), math.nan, 10), "coverage is nan"),
        (lambda: crossing_probability("dkw", 0.9, 10), "boundary is 'dkw'; it must be a boundary"),
        (lambda: DKW(10**400), "horizon is too large"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message.replace("(", r"\(")):
        make()


def test_tiny_deltas_do_not_overflow():
    for coverage in (1e-6, 0.5, 0.9, 0.999999):
        for boundary in (BetaBinomial(1e-200), Binomial(1e-200, 10**6), BetaBinomial(1e-200, 1.0, 2.0)):
            assert crossing_probability(boundary, coverage, 3000) <= 1e-200


@pytest.mark.parametrize("weight", [1.21e-16, 1e-17, 1e-300, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
def test_no_prior_spends_more_than_delta(weight, coverage):
    """A tiny prior weight must not be lost beside 1: rounded away, it once spent 0.089 of 0.05."""
    assert shortlist.crossing_probability(BetaBinomial(0.05, weight=weight), coverage, 2000) <= 0.05
