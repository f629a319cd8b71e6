"""The e-detector: its formula, its promise, its speed, and what it must be fed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shortlist import DriftDetector
from shortlist.drift import RATIOS
from shortlist.errors import InvalidParameter


def distances(detector, probability, streams, seed, limit):
    """Rounds to the first alarm when misses come with a given probability."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(streams):
        state, rounds, alarm = detector.init(), 0, None
        while alarm is None and rounds < limit:
            for missed in (rng.random(1000) < probability).tolist():
                rounds += 1
                alarm = detector.update(state, missed)
                if alarm is not None:
                    break
        found.append(rounds)
    return np.array(found)


def keeps_its_promise(found, promised):
    """Whether the mean distance may be at least what is promised: a false-alarm probability of 1e-6.

    For waiting times that are exponential with the promised mean, whose mean over n streams is a Gamma variable: exact.
    """
    return bool(found.mean() >= promised * stats.gamma.ppf(1e-6, len(found)) / len(found))


def within(found, rounds):
    """Return how many streams rang within so many rounds."""
    return int(np.count_nonzero(found <= rounds))


def test_the_formula_written_out():
    detector, state = DriftDetector(0.9, 10**9), None
    state = detector.init()
    rng = np.random.default_rng(0)
    capital = [Fraction(0)] * 5
    p0, c = Fraction(1, 10), Fraction(9, 10)
    for missed in (rng.random(200) < 0.15).tolist():
        detector.update(state, missed)
        for i, r in enumerate(map(Fraction, RATIOS)):
            q = r * p0 / (c + r * p0)
            capital[i] = (capital[i] + 1) * (q / p0 if missed else (1 - q) / c)
    assert state.capital == pytest.approx([float(value) for value in capital], rel=1e-12)
    assert detector.level(state) == pytest.approx(float(sum(capital) / 5 / 10**9), rel=1e-12)


def test_an_alarm_has_a_strength_and_starts_afresh():
    detector = DriftDetector(0.9, 1000)
    state = detector.init()
    strengths = [detector.update(state, missed=True) for _ in range(6)]
    first = next(i for i, strength in enumerate(strengths) if strength is not None)
    assert strengths[first] >= 1.0
    state = detector.init()
    for _ in range(first + 1):
        detector.update(state, missed=True)
    assert state == detector.init()


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_false_alarms_are_as_rare_as_promised(coverage):
    """At the boundary, misses with probability exactly p0, A = 1,000: measured 1,100 to 1,400. False alarm 2e-6.

    The mean distance is at least A, and within 200 rounds at most a fifth rings: an exact binomial test at 1e-6.
    """
    found = distances(DriftDetector(coverage, 1000), 1 - coverage, 500, seed=1, limit=10**6)
    assert keeps_its_promise(found, 1000)
    assert within(found, 200) <= stats.binom.isf(1e-6, 500, 200 / 1000)


@pytest.mark.parametrize("coverage", [0.9])
def test_false_alarms_are_as_rare_as_promised_at_ten_thousand(coverage):
    """False alarm 1e-6."""
    found = distances(DriftDetector(coverage, 10_000), 1 - coverage, 150, seed=2, limit=10**6)
    assert keeps_its_promise(found, 10_000)


def test_a_detector_that_rings_too_early_breaks_the_promise():
    """Negative controls: half the bar, and a fifth of it."""
    assert not keeps_its_promise(distances(DriftDetector(0.9, 500), 0.1, 500, seed=3, limit=10**6), 1000)
    found = distances(DriftDetector(0.9, 200), 0.1, 500, seed=3, limit=10**6)
    assert within(found, 200) > stats.binom.isf(1e-6, 500, 200 / 1000)


@pytest.mark.soak
@pytest.mark.parametrize("promised", [1000, 10_000])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_false_alarms_at_length(coverage, promised):
    found = distances(DriftDetector(coverage, promised), 1 - coverage, 1000, seed=4, limit=10**7)
    error = found.std() / len(found) ** 0.5
    print(f"\ncoverage {coverage}, A = {promised:,}: mean {found.mean():,.0f} +- {error:,.0f}")
    assert keeps_its_promise(found, promised)


def test_a_jump_is_noticed_soon():
    """Miss rate 0.1 to 0.2 at A = 100,000: median delay at most 220 rounds; smaller jumps take longer.

    Of 3,000 other streams 34 % took longer than 220 rounds at 0.2, and 32 % longer than 700 at 0.15, so that each
    median of 400 is too long with probability P(Bin(400, 0.34) >= 200) = 4e-11 at most.
    """
    detector = DriftDetector(0.9, 100_000)
    medians = {rate: np.median(distances(detector, rate, 400, seed=5, limit=10**5)) for rate in (0.15, 0.2, 0.3, 0.5)}
    assert medians[0.2] <= 220
    assert medians[0.5] < medians[0.3] < medians[0.2] < medians[0.15] < 700


def test_capital_stays_positive_and_finite():
    for coverage in (0.001, 0.5, 0.999):
        detector = DriftDetector(coverage, 2**53)
        state = detector.init()
        for i in range(3000):
            detector.update(state, missed=i % 2 == 0)
            assert all(0 < value < math.inf for value in state.capital) or state == detector.init()


@pytest.mark.parametrize(("change", "message"), [({"coverage": 1}, "coverage is 1"), ({"false_alarm_rounds": 0}, "0")])
def test_bad_parameters_are_named(change, message):
    with pytest.raises(InvalidParameter, match=message):
        DriftDetector(**({"coverage": 0.9} | change))
