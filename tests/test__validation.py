"""What comes in from outside, checked once."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister
from shortlist import _validation as check
from shortlist.errors import InvalidParameter, InvalidScores, NoCandidates


def test_float32_coverage_is_the_decimal_that_was_written():
    assert Shortlister(coverage=np.float32(0.9)).policy == AnytimeSPS(0.9)


def test_a_miss_rate_is_that_of_the_decimal():
    assert check.miss_rate(0.9) == Fraction(1, 10)
    assert 1 - 0.9 != 0.1  # why


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, math.inf, True, "0.9", None])
def test_bad_probabilities_are_named(value):
    with pytest.raises(InvalidParameter, match=r"coverage is .*strictly between 0 and 1, for example"):
        check.check_probability("coverage", value, 0.9)


@pytest.mark.parametrize("value", [Fraction(1, 4), np.float64(0.25), np.float32(0.25), 0.25])
def test_numbers_of_any_kind_are_plain_floats(value):
    number = check.check_probability("coverage", value, 0.9)
    assert (number, type(number)) == (0.25, float)


def test_counts():
    assert check.check_count("keep", np.int64(3)) == 3
    assert type(check.check_count("keep", np.int64(3))) is int
    for value, message in ((2.0, "keep is 2.0; it must be a whole number"), (0, "at least 1"), (2**60, "too large")):
        with pytest.raises(InvalidParameter, match=message):
            check.check_count("keep", value)


@pytest.mark.parametrize("scores", [[0.5, -0.0], np.array([0.5, -0.0]), np.array([0.5, -0.0], np.float32), (0.5, 0)])
def test_scores_are_a_copy_with_one_zero(scores):
    values = check.check_scores(scores)
    assert values.dtype == np.float64
    assert values.tolist() == [0.5, 0.0]
    assert math.copysign(1.0, values[1]) == 1.0
    assert values is not scores


def test_large_scores_whose_squares_overflow_are_still_finite():
    assert check.check_scores(np.array([1e300, -1e300])).tolist() == [1e300, -1e300]
    with pytest.raises(InvalidScores, match=r"scores\[1\] is inf"):
        check.check_scores(np.array([1e300, np.inf]))


def test_an_empty_list_must_be_allowed():
    assert check.check_scores([], allow_empty=True).size == 0
    with pytest.raises(NoCandidates, match="allow_empty=True"):
        check.check_scores([], allow_empty=False)
    with pytest.raises(NoCandidates, match=r"at least one candidate$"):
        check.check_scores([])


def test_true_scores_may_be_minus_infinity_and_nothing_else():
    assert check.check_true_scores([0.5, -math.inf]).tolist() == [0.5, -math.inf]
    assert check.check_true_scores([]).size == 0
    for bad in (math.inf, math.nan):
        with pytest.raises(InvalidScores, match=r"true_scores\[1\] is"):
            check.check_true_scores([0.5, bad])


def test_a_table_is_aligned_with_the_scorers_of_the_rounds_before():
    values = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert check.align_table(values, ("a", "b"), ("a", "b")) is values
    turned = check.align_table(values, ("b", "a"), ("a", "c", "b"))
    assert np.array_equal(turned, [[np.nan, np.nan, 1.0], [3.0, np.nan, 2.0]], equal_nan=True)
    assert np.array_equal(check.align_table(np.array([1.0]), ("b",), ("a", "b")), [[np.nan, 1.0]], equal_nan=True)
    assert check.align_table(np.empty(0), ("",), ("a", "b")).shape == (0, 2)
    assert check.align_table(np.empty((0, 2)), ("a", "b"), ("",)).shape == (0,)
    for scorers, expected in ((("",), ("a",)), (("a",), ("",)), (("a", "c"), ("a", "b")), (("",), ("a", "b"))):
        with pytest.raises(InvalidScores, match="those of the first round were"):
            check.align_table(np.ones((1, len(scorers))), scorers, expected)


def test_an_empty_list_has_the_scorers_of_the_rounds_before():
    for empty in ([], np.empty(0)):
        values, scorers = check.check_table(empty, ("a", "b"), allow_empty=True)
        assert (values.shape, scorers) == ((0, 2), ("a", "b"))
    assert check.check_table([], allow_empty=True)[1] == ("",)
