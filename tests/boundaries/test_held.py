"""A boundary that decides once."""

import pytest

from shortlist import DKW
from shortlist.boundaries import Held, Quantile
from shortlist.errors import InvalidParameter


@pytest.mark.parametrize(("boundary", "rounds"), [(DKW(2000), 1500), (Quantile(), 70), (Quantile(), 1)])
def test_nothing_until_its_round_and_the_others_limit_from_then_on(boundary, rounds):
    limits = Held(boundary, rounds).limits(0.9, rounds + 500)
    decided = int(boundary.limits(0.9, rounds)[-1])
    assert (limits[: rounds - 1] == -1).all()
    assert (limits[rounds - 1 :] == decided).all()
    assert decided >= 0
    assert Held(boundary, rounds).last == rounds


def test_it_may_end_before_the_other_has_decided():
    assert (Held(DKW(2000), 700).limits(0.9, 3000) == -1).all()  # DKW(2000) allows a first low score in round 761


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Held(Quantile(), 0), "rounds is 0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message.replace("(", r"\(")):
        make()
