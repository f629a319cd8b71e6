"""One list through a score."""

import math

import numpy as np
import pytest

from shortlist.errors import InvalidScores
from shortlist.scores import to_score
from shortlist.scores.comparable import comparable, highest_missing, true_comparable

VALUES = np.array([0.2, 0.9, 0.5])


def test_raw_scores_are_compared_as_they_are():
    assert comparable(None, VALUES) is VALUES
    assert comparable(None, np.empty(0)).shape == (0,)


def test_a_score_of_ones_own_is_checked_and_cannot_write_into_the_list():
    def spoil(values):
        values[:] = -1
        return values

    assert comparable(to_score(spoil), VALUES).tolist() == [-1, -1, -1]
    assert VALUES.tolist() == [0.2, 0.9, 0.5]
    with pytest.raises(InvalidScores, match="one finite number for each"):
        comparable(to_score(lambda values: values[:1]), VALUES)
    with pytest.raises(InvalidScores, match="one finite number for each"):
        comparable(to_score(lambda values: values * math.inf), VALUES)
    with pytest.raises(InvalidScores, match="returned no numbers for 3 scores"):
        comparable(to_score(lambda values: ["a"] * len(values)), VALUES)


def test_a_fixed_score_is_of_one_scorer():
    with pytest.raises(InvalidScores, match="2 scores per candidate, and score is 'raw'"):
        comparable(None, np.zeros((3, 2)))


def test_what_is_missing_is_as_high_as_it_can_be():
    assert highest_missing(None, 0.1, VALUES, VALUES) == 0.1
    margin = to_score("margin")
    made = comparable(margin, VALUES)
    assert highest_missing(margin, 0.5, VALUES, made) == made[2]  # it may tie with the last one
    assert highest_missing(None, 0.1, np.empty(0), np.empty(0)) == 0.1  # nothing came: it may be anything below


def test_a_right_answer_that_is_not_among_the_candidates_is_below_everything():
    assert true_comparable(None, VALUES, (2,)) == 0.5
    assert true_comparable(None, VALUES, (1, 0)) == 0.2  # both are needed: the lowest counts
    assert true_comparable(None, VALUES, ()) == -math.inf
