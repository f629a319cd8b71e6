"""What comes in from outside, checked once."""

import numpy as np

from shortlist import AnytimeSPS, Shortlister


def test_float32_coverage_is_the_decimal_that_was_written():
    assert Shortlister(coverage=np.float32(0.9)).policy == AnytimeSPS(0.9)
