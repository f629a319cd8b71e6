"""The rounds that a lister keeps."""

import numpy as np
import pytest

from shortlist.errors import InvalidIds, RoundClosed, UnknownRound
from shortlist.listers._rounds import Rounds, check_right, scores_of
from shortlist.rounds.events import Listed


def a_list(number, ids=None):
    return Listed(number, ids, [0.1, 0.2], [1, 0], 0.0, 0, 2)


def test_rounds_are_found_by_their_number():
    rounds = Rounds(next_id=5)
    rounds.answers.extend([None, 1])  # 3 and 4 are kept
    assert rounds.oldest == 3
    assert rounds.index(np.int64(4), 2) == 1
    with pytest.raises(RoundClosed, match="answers are taken from round 3 on"):
        rounds.index(2, 2)
    for wrong in (5, -1, True, "4", None):
        with pytest.raises(UnknownRound):
            rounds.index(wrong, 2)


def test_scores_are_given_back_as_they_came():
    assert scores_of(np.array([0.5, 0.25]), [1, 0]) == (0.25, 0.5)
    assert scores_of(np.array([[0.5, 1.0], [0.25, 2.0]]), [1]) == ((0.25, 2.0),)


def test_what_cannot_have_been_a_candidate_is_refused():
    check_right(a_list(0), 1)
    check_right(a_list(0), None)
    check_right(a_list(0, ["a", "b"]), "elsewhere")
    with pytest.raises(InvalidIds, match="positions 0 to 1"):
        check_right(a_list(0), 2)
    with pytest.raises(InvalidIds, match="ids are like 'a'"):
        check_right(a_list(0, ["a", "b"]), 1)
