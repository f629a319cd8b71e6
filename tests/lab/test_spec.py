"""What is run: names, settings and random numbers."""

import pytest

from shortlist import ACI, ExploreThenCommit
from shortlist.errors import InvalidParameter
from shortlist.lab.spec import POLICIES, TUNED, Spec


def test_settings_are_chosen_on_streams_of_their_own():
    spec = Spec()
    tuning, reported = (spec.generator("images", kind, 0).random(4).tolist() for kind in ("tuning", "run"))
    assert tuning != reported


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": ("speech",)}, "task is 'speech'; it must be one of images"),
        ({"policies": ("spss",)}, "policy is 'spss'; it must be one of anytime, sps"),
        ({"policies": ()}, "no policy is named"),
        ({"tasks": ("images", "images")}, "a task is named twice"),
        ({"rounds": 5}, "rounds is 5; it must be at least 10"),
        ({"runs": 0}, "runs is 0"),
        ({"coverage": 1.0}, "coverage is 1.0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_specifications_are_refused(change, message):
    with pytest.raises(InvalidParameter) as caught:
        Spec(**change)
    assert message in str(caught.value)


def test_policies_by_name():
    spec = Spec(rounds=100)
    for name in POLICIES:
        spec.policy(name, TUNED.get(name, (None,))[0])
    assert spec.policy("etc", 0.2) == ExploreThenCommit(0.9, 20)
    assert spec.policy("aci", 0.002) == ACI(0.9, 0.002)
