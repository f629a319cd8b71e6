"""What is run: names, settings and random numbers."""

import pytest

from shortlist import ACI, ExploreThenCommit
from shortlist.errors import InvalidParameter
from shortlist.lab.spec import POLICIES, Spec


def test_settings_are_chosen_on_streams_of_their_own():
    spec = Spec()
    tuning, reported = (spec.generator("images", kind, 0).random(4).tolist() for kind in ("tuning", "run"))
    assert tuning != reported


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": ("speech",)}, "task is 'speech'; it must be one of images"),
        ({"policies": ("spss",)}, "policy is 'spss'; it must be one of anytime, product-limit, sps"),
        ({"policies": ()}, "no policy is named"),
        ({"tasks": ("images", "images")}, "a task is named twice"),
        ({"rounds": 5}, "rounds is 5; it must be at least 10"),
        ({"runs": 0}, "runs is 0"),
        ({"coverage": 1.0}, "coverage is 1.0"),
        ({"seed": -1}, "seed is -1"),
        ({"lambda1": 0}, "lambda1 is 0; it must be a number above 0"),
        ({"lambda2": float("inf")}, "lambda2 is inf; it must be a number above 0"),
        ({"bidders": 1}, "bidders is 1; it must be at least 2"),
        ({"bidders": 3, "tasks": ("images",)}, "bidders is given, for the task auctions, which is not run"),
        ({"aci_steps": ()}, "aci_steps is empty; it must hold different numbers above 0"),
        ({"aci_steps": (0.1, 0.1)}, "aci_steps is 0.1, 0.1; it must hold different numbers above 0"),
        ({"aci_steps": (0.1,), "policies": ("sps",)}, "aci_steps is given, for the policy aci, which is not run"),
        ({"etc_shares": (0.5, 1.0)}, "etc_shares is 0.5, 1; it must hold different shares of the rounds"),
        ({"etc_shares": (-0.5,)}, "a value of etc_shares is -0.5; it must be a number above 0"),
        ({"etc_shares": (0.5,), "policies": ("aci",)}, "etc_shares is given, for the policies etc or"),
    ],
)
def test_bad_specifications_are_refused(change, message):
    with pytest.raises(InvalidParameter) as caught:
        Spec(**change)
    assert message in str(caught.value)


def test_policies_by_name():
    spec = Spec(rounds=100)
    for name in POLICIES:
        spec.policy(name, spec.grids.get(name, (None,))[0])
    assert spec.policy("etc", 0.2) == ExploreThenCommit(0.9, 20)
    assert spec.policy("aci", 0.002) == ACI(0.9, 0.002)


def test_grids_are_those_of_the_experiment():
    spec = Spec(aci_steps=(0.01, 0.02), etc_shares=(0.5,), policies=("sps", "aci", "aci@0.5", "etc"))
    assert spec.grids == {"aci": (0.01, 0.02), "etc": (0.5,)}
    assert set(Spec().grids) == {"aci", "etc", "conservative-etc"}


def test_bidders_reach_the_auctions_and_nothing_else():
    spec = Spec(bidders=2)
    assert spec.task("auctions").bidders == 2
    assert Spec().task("auctions").bidders == 5
    assert spec.task("images") is Spec().task("images")
