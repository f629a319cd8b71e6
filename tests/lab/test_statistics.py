"""Bands over runs."""

import numpy as np
import pytest

from shortlist.lab.statistics import half_width, mean_and_band


def test_bands_are_students():
    values = np.random.default_rng(0).normal(size=(10, 3))
    half = half_width(values)
    assert half == pytest.approx(2.262 * values.std(axis=0, ddof=1) / 10**0.5)
    _, low, high = mean_and_band(values)
    assert (high - low) / 2 == pytest.approx(half)
    assert np.isnan(half_width(values[:1])).all()
    assert (mean_and_band(values[:1])[1] == values[0]).all()
    assert half_width(np.array([*[0.0] * 30, *[1.0] * 30])) == pytest.approx(2.001 * 0.504 / 60**0.5, rel=0.01)
