"""What the paper leaves open: the readings of each policy, and the experiments that they take."""

from shortlist.lab.readings import reading_label, reading_specs, readings_of
from shortlist.lab.spec import Spec


def test_a_policy_without_readings_stands_for_itself():
    assert readings_of(Spec(), "sps") == ("sps",)
    assert readings_of(Spec(policies=("greedy",)), "sps") == ()
    assert readings_of(Spec(), "anytime@0.01") == ("anytime@0.01",)


def test_grids_are_readings():
    """Any exploration of the grid, and both ends of the grid of steps: of those that were asked for."""
    spec = Spec(etc_shares=(0.1, 0.2), aci_steps=(0.01, 0.02, 0.04))
    assert readings_of(spec, "etc") == ("etc", "etc@explore=0.1", "etc@explore=0.2")
    assert readings_of(spec, "aci")[-2:] == ("aci@step=0.01", "aci@step=0.04")
    assert readings_of(Spec(aci_steps=(0.01,)), "aci")[-1] == "aci@step=0.01"


def test_a_reading_has_a_name_of_its_own():
    names = [name for key in ("aci", "dlr", "etc", "conservative-etc") for name in readings_of(Spec(), key)]
    assert len({reading_label(name) for name in names}) == len(names)


def test_every_reading_is_run_on_every_task_and_by_item():
    spec = Spec()
    first, *items = reading_specs(spec)
    assert first.tasks == spec.tasks
    assert [one.item for one in items] == ["cartier", "palm", "xbox"]
    for key in ("aci", "dlr", "etc", "conservative-etc"):
        assert set(readings_of(spec, key)) <= set(spec.policies) | set(first.policies)
        assert all(set(readings_of(spec, key)) <= set(one.policies) for one in items)
    assert all({"sps", "greedy"} <= set(one.policies) for one in items)


def test_where_nothing_is_open_nothing_more_is_run():
    assert list(reading_specs(Spec(policies=("sps", "aci@0.128")))) == []
    (only,) = reading_specs(Spec(tasks=("auctions",), policies=("dlr",), item="palm"))
    assert (only.item, only.policies) == ("palm", ("dlr@start=-1", "dlr@start=-10"))
