"""The paper's boundary: its floors, exactly."""

import pytest

from shortlist import DKW
from shortlist.errors import InvalidParameter
from tests.policies import brute_force


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99, 0.123456789])
@pytest.mark.parametrize("horizon", [1, 2, 1000, 20_000])
def test_dkw_floors_are_exact(coverage, horizon):
    """The floor in floats is the floor with sixty digits, in every round."""
    limits = DKW(horizon).limits(coverage, horizon + 5)
    checked = [*range(1, min(horizon, 3000) + 1), *range(3000, horizon + 1, 37)]
    assert [int(limits[n - 1]) for n in checked] == [brute_force.decimal_limit(n, coverage, horizon) for n in checked]
    assert (limits[horizon:] == limits[horizon - 1]).all()  # frozen after the horizon


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DKW(-1), "horizon is -1; it must be at least 1"),
        (lambda: DKW(10.5), "horizon is 10.5; it must be a whole number"),
        (lambda: DKW(True), "horizon is True"),
        (lambda: DKW(10**400), "horizon is too large"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message.replace("(", r"\(")):
        make()
