"""Hypothesis strategies shared by the tests."""

import math

from hypothesis import strategies as st

COVERAGES = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.8, 0.9])

#: One true score: often tied, sometimes huge or tiny, sometimes absent.
SCORE = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(0, 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-1e308, 1e308, 5e-324, -0.0, 0.0]),
    st.just(-math.inf),
)

SCORES = st.lists(SCORE, max_size=150)
