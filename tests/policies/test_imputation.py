"""What a miss means to a rule that needs a score."""

import math

import pytest

from shortlist import MVP, SAOCP, ConformalPID, DtACI, ScaleFreeOGD, ThresholdTracking
from shortlist.errors import InvalidParameter
from shortlist.policies import MISS
from shortlist.policies.imputation import judge

COVERAGE, P0 = 0.9, 0.1


def test_what_a_miss_means_is_one_of_three():
    for kind in (ThresholdTracking, ScaleFreeOGD, ConformalPID, DtACI, SAOCP, MVP):
        with pytest.raises(InvalidParameter, match='miss is \'lost\'; it must be "dropped", "threshold" or "beyond"'):
            kind(COVERAGE, miss="lost")


@pytest.mark.parametrize(
    ("miss", "counts"),
    [("dropped", (False, False)), ("threshold", (True, False)), ("beyond", (True, True))],
)
def test_a_miss_without_a_score(miss, counts):
    code = ThresholdTracking(COVERAGE, miss=miss).miss_code
    assert judge(MISS, True, code) == counts
    for missed in (True, False):  # where the score is known, nothing has to stand in for it
        assert judge(0.5, missed, code) == (True, missed)


def test_the_range_of_scores_is_checked():
    assert ConformalPID(COVERAGE, top=5, scale=2).init().threshold == 3.0
    with pytest.raises(InvalidParameter, match="top is inf; it must be the highest score there is"):
        ConformalPID(COVERAGE, top=math.inf)
    with pytest.raises(InvalidParameter, match="scale is 0; it must be above 0"):
        ConformalPID(COVERAGE, scale=0)
