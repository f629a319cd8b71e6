"""The crossing probability against brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shortlist import DKW, crossing_probability
from shortlist.boundaries import Held, Quantile
from shortlist.boundaries.crossing import crossing
from shortlist.errors import InvalidParameter


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
        (lambda: crossing_probability(Quantile(), math.nan, 10), "coverage is nan"),
        (lambda: crossing_probability("dkw", 0.9, 10), "boundary is 'dkw'; it must be a boundary"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message.replace("(", r"\(")):
        make()
