"""Histograms of list lengths, in flat columns."""

import math

from hypothesis import given
from hypothesis import strategies as st

from shortlist.service.engine.lengths import Lengths


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_quantiles_are_within_a_tenth(lengths, share):
    counted = Lengths()
    counted.begin()
    for length in lengths:
        counted.add(length)
    exact = sorted(lengths)[max(0, math.ceil(share * len(lengths) - 1e-9) - 1)]
    found = counted.quantile(0, share)
    assert exact / 1.11 <= found <= exact * 1.11 or math.isclose(found, exact)


@given(st.lists(st.lists(st.integers(0, 10_000), max_size=20), min_size=2, max_size=12), st.floats(0.01, 1.0))
def test_merged_blocks_are_as_if_they_had_been_one(blocks, share):
    apart, together = Lengths(), Lengths()
    for place, block in enumerate(blocks):
        apart.begin()
        if place % 2 == 0:
            together.begin()
        for length in block:
            apart.add(length)
            together.add(length)
    merged = apart.merged([range(first, min(first + 2, len(blocks))) for first in range(0, len(blocks), 2)])
    assert merged == together
    assert merged.quantile(0, share) == together.quantile(0, share)
