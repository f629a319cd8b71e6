"""What every boundary does: rise by steps of one, below n."""

import itertools

import numpy as np
import pytest

from shortlist import DKW, BetaBinomial, Binomial, Calibrated
from shortlist.boundaries import Held, Quantile
from shortlist.errors import InvalidParameter

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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Quantile().limits(1.0, 10), "coverage is 1.0"),
        (lambda: Quantile().limits(0.9, -1), "rounds is -1"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message.replace("(", r"\(")):
        make()
