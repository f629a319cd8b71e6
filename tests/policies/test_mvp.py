"""MVP, as far as it goes by hand; `test_field` compares long streams with its formula."""

import pytest

from shortlist import MVP
from shortlist.errors import InvalidParameter
from shortlist.policies.mvp import choose
from tests.policies.streaming import thresholds


def test_it_begins_in_the_first_bucket():
    """The end of the first of ten buckets: a radius just below a tenth."""
    assert thresholds(MVP(0.9, buckets=10), []) == [1.0 - (0.1 - 0.0001)]


def test_where_all_buckets_cover_too_much_the_radius_is_nothing_and_the_other_way_round():
    assert choose([1.0, 1.0, 5.0, 5.0], 2, 0.1, 0.5) == (0.0, 0)
    assert choose([-1.0, -1.0, 5.0, 5.0], 2, 0.1, 0.5) == (1.0, 1)


def test_between_two_that_disagree_chance_decides():
    values = [-1.0, 1.0, 5.0, 5.0]
    assert choose(values, 2, 0.1, 0.4) == (0.5 - 0.0005, 0)
    assert choose(values, 2, 0.1, 0.6) == (0.5, 1)


def test_the_same_seed_draws_the_same():
    scores = [i * 617 % 1000 / 1000 for i in range(300)]
    first, again, other = (thresholds(MVP(0.9, seed=seed), scores) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(("name", "value"), [("buckets", 1), ("eta", 0), ("seed", 0)])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InvalidParameter, match=f"{name} is {value}; it must be"):
        MVP(0.9, **{name: value})
