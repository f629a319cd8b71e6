"""What the boundaries promise, computed exactly: no simulation, no noise."""

import numpy as np
import pytest

from shortlist import DKW, AnytimeSPS, BetaBinomial, Binomial, Calibrated, crossing_probability
from shortlist.boundaries import Quantile
from shortlist.boundaries.base import as_array, walk_limits
from shortlist.boundaries.crossing import crossing

# coverage, rounds, first cut of SPS / anytime at 2/T / anytime at 0.05, exact crossing of SPS / anytime
TABLE = [
    (0.8, 10**4, 231, 87, 45, 1.43e-13, 7.81e-5),
    (0.9, 10**3, 691, 119, 73, 3.30e-26, 4.53e-4),
    (0.9, 10**4, 922, 149, 73, 1.54e-25, 8.28e-5),
    (0.9, 10**5, 1152, 177, 73, 2.92e-29, 9.90e-6),
    (0.95, 10**4, 3685, 256, 119, 1.25e-55, 8.89e-5),
    (0.99, 10**5, None, 1239, 410, 0.0, 1.27e-5),
]


def first_cut(boundary, coverage, rounds):
    cuts = np.flatnonzero(boundary.limits(coverage, rounds) >= 0)
    return int(cuts[0]) + 1 if cuts.size else None


def the_tables_prior(delta):
    return BetaBinomial(delta, relative_mean=1.0, weight=50.0, first_cut=0.0)


@pytest.mark.parametrize(("coverage", "rounds", "sps", "anytime", "default", "p_sps", "p_anytime"), TABLE)
def test_the_table(coverage, rounds, sps, anytime, default, p_sps, p_anytime):
    assert first_cut(DKW(rounds), coverage, rounds) == sps
    assert first_cut(the_tables_prior(2 / rounds), coverage, rounds) == anytime
    assert first_cut(the_tables_prior(0.05), coverage, rounds) == default
    assert crossing_probability(DKW(rounds), coverage, rounds) == pytest.approx(p_sps, rel=0.01, abs=0)
    assert crossing_probability(the_tables_prior(2 / rounds), coverage, rounds) == pytest.approx(p_anytime, rel=0.01)


# coverage, rounds, then first cut and exact crossing at delta 0.05 and 0.01 without a share for the first cut, and at
# 0.01 (the default) and 0.005 with a tenth
FIRST_CUTS = [
    (0.8, 10**4, (39, 0.03837), (54, 0.00750), (31, 0.00765), (34, 0.00382)),
    (0.9, 10**3, (71, 0.02486), (97, 0.00421), (65, 0.00464), (72, 0.00220)),
    (0.9, 10**4, (71, 0.03429), (97, 0.00666), (65, 0.00689), (72, 0.00340)),
    (0.95, 10**4, (122, 0.03174), (168, 0.00609), (130, 0.00645), (145, 0.00318)),
    (0.99, 10**4, (432, 0.03094), (616, 0.00593), (581, 0.00632), (655, 0.00312)),
]


@pytest.mark.parametrize(("coverage", "rounds", "before", "without", "default", "half"), FIRST_CUTS)
def test_a_tenth_for_the_first_cut(coverage, rounds, before, without, default, half):
    boundaries = (
        BetaBinomial(0.05, first_cut=0.0),
        BetaBinomial(0.01, first_cut=0.0),
        AnytimeSPS(coverage).boundary,
        BetaBinomial(0.005),
    )
    for boundary, (first, crossed) in zip(boundaries, (before, without, default, half), strict=True):
        assert first_cut(boundary, coverage, rounds) == first
        assert crossing_probability(boundary, coverage, rounds) == pytest.approx(crossed, abs=5.1e-6)


def test_the_default_cuts_no_later_than_a_five_times_larger_delta_without_it():
    assert first_cut(AnytimeSPS(0.9).boundary, 0.9, 100) == 65
    assert first_cut(BetaBinomial(0.05, first_cut=0.0), 0.9, 100) == 71


@pytest.mark.parametrize("rounds", [10**3, 10**4, pytest.param(10**5, marks=pytest.mark.soak)])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_no_boundary_spends_more_than_its_budget(coverage, rounds):
    delta = 2 / rounds
    for boundary in (
        DKW(rounds),
        BetaBinomial(delta),
        the_tables_prior(delta),
        BetaBinomial(0.05),
        Binomial(delta, rounds),
        Calibrated(delta, rounds),
    ):
        budget = getattr(boundary, "delta", 2 / rounds)
        spent = crossing_probability(boundary, coverage, rounds)
        assert spent <= budget, boundary
        if isinstance(boundary, Calibrated):
            assert spent >= 0.995 * budget, "calibration leaves budget unused"


def test_the_empirical_quantile_crosses_for_sure():
    """Negative control: greedy's boundary has no budget that it would keep."""
    assert crossing_probability(Quantile(), 0.9, 1000) > 0.9


@pytest.mark.parametrize("share", [1 / 2, 1 / 12, 1e-3])
def test_a_share_of_delta_is_all_that_is_spent(share):
    """Walked at a share of its budget, no boundary spends more than that share."""
    coverage, rounds = 0.9, 3000
    for boundary, budget in (
        (BetaBinomial(0.05), 0.05),
        (Binomial(0.05, rounds), 0.05),
        (Calibrated(0.05, rounds), 0.05),
    ):
        constants, memory = boundary.constants(coverage, share), boundary.start(coverage)
        limits = as_array(walk_limits(boundary.advance, constants, memory), rounds)
        spent = crossing(limits, coverage)
        assert 0 < spent <= share * budget, boundary
    # The paper's band leaves so much unused that its own formula has to be checked: delta is 2/T^2 a round.
    _, log_term, *_ = DKW(rounds).constants(coverage, share)
    assert 2 * np.exp(-2 * log_term) == pytest.approx(share * 2 / rounds**2, rel=1e-12, abs=0)
