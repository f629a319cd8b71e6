"""Every setting: its default, its check, and which of them exclude each other."""

import dataclasses
import inspect
import math

import pytest

from shortlist import AnytimeSPS, Greedy, GroupedShortlister, Policy, Shortlister
from shortlist.errors import (
    InvalidParameter,
)
from shortlist.rounds.settings import CONFIGURABLE, PAIRS, SETTINGS, Settings


def test_drift_settings_are_checked():
    for make, message in (
        (lambda: Shortlister(delta=0.01, on_drift="panic"), "on_drift is 'panic'"),
        (
            lambda: Shortlister(delta=0.01, on_drift="report", unanswered="ignore"),
            'use unanswered="miss", and no explore_share',
        ),
        (lambda: Shortlister(on_drift="report", explore_share=0.1), 'use unanswered="miss", and no explore_share'),
        (lambda: Shortlister(on_drift="report"), "which follows a shift by itself"),
        (lambda: Shortlister(miss_budget=None), "whose guarantee is the error budget, and miss_budget is None"),
        (lambda: Shortlister(delta=0.01, shadow="no"), "shadow is 'no'"),
        (lambda: Shortlister(delta=0.01, on_drift="report", patience=0), "no miss would ever be seen"),
    ):
        with pytest.raises(InvalidParameter) as caught:
            make()
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shortlister(coverage=0), "coverage is 0; it must lie strictly between 0 and 1"),
        (lambda: Shortlister(coverage=1), "coverage is 1;"),
        (lambda: Shortlister(coverage=1.5), "coverage is 1.5; it must lie strictly between 0 and 1"),
        (lambda: Shortlister(coverage=math.nan), "coverage is nan;"),
        (lambda: Shortlister(coverage="0.9"), "coverage is '0.9'; it must be a number"),
        (lambda: Shortlister(coverage=True), "coverage is True;"),
        (lambda: Shortlister(delta=0), "delta is 0; it must lie strictly between 0 and 1"),
        (lambda: Shortlister(policy="sps"), "policy is 'sps'; it must be a policy"),
        (lambda: Shortlister(0.9, policy=Greedy(0.9)), "give either them or a policy, not both"),
        (lambda: Shortlister(unanswered="drop"), "unanswered is 'drop'"),
        (lambda: Shortlister(policy=Greedy(0.9)), "policy is Greedy(coverage=0.9), which has no guarantee"),
        (lambda: Shortlister(patience=-1), "patience is -1; it must be at least 0"),
        (lambda: Shortlister(at_most=0), "at_most is 0; it must be at least 1"),
        (lambda: Shortlister(at_least=5, at_most=3), "at_most is 3, but at_least is 5"),
        (lambda: Shortlister(keep=0), "keep is 0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert message in str(caught.value)


def test_defaults_are_written_once():
    """Every lister's signature has the settings with their defaults, and its docstring or signature describes them."""
    defaults = {name: field.default for name, field in SETTINGS.items()}
    for kind in (Shortlister, GroupedShortlister):
        parameters = inspect.signature(kind).parameters
        assert {name: parameters[name].default for name in defaults} == defaults


def test_defaults_depend_on_whether_misses_are_reported():
    settings = Settings.of(AnytimeSPS(0.9), {})
    assert (settings.score, settings.unanswered, settings.miss_budget) == ("auto", "miss", 20)
    exploring = Settings.of(AnytimeSPS(0.9), {"explore_share": 0.1})
    assert (exploring.unanswered, exploring.miss_budget) == ("ignore", None)
    assert Settings.of(AnytimeSPS(0.9), {"miss_budget": None}).miss_budget is None
    with pytest.raises(InvalidParameter, match="miss_budget is 0; it must be"):
        Settings.of(AnytimeSPS(0.9), {"miss_budget": 0})


def test_every_pair_names_two_settings_and_allows_the_defaults():
    names = {field.name for field in dataclasses.fields(Settings)}
    for pair in PAIRS:
        assert {pair.first, pair.second} <= names
        assert not pair.excludes(Settings(policy=AnytimeSPS(0.9)))


def test_only_some_settings_may_change():
    settings = Settings(policy=AnytimeSPS(0.9))
    assert settings.changed(at_most=3, patience=7) == dataclasses.replace(settings, at_most=3, patience=7)
    for name in ("score", "keep", "policy"):
        with pytest.raises(InvalidParameter, match=f"{name} is fixed when a lister is created; {CONFIGURABLE[0]}"):
            settings.changed(**{name: "raw"})
    for name in ("coverage", "delta"):
        with pytest.raises(InvalidParameter, match=f"{name} is fixed"):
            settings.changed(**{name: 0.5})
    with pytest.raises(TypeError, match="there is no setting 'atmost'; there are miss_budget, explore_share, patience"):
        settings.changed(atmost=3)


@pytest.mark.parametrize("lister", [Shortlister, GroupedShortlister])
def test_a_misspelled_setting_is_named_with_those_that_exist(lister):
    with pytest.raises(TypeError, match=r"there is no setting 'patients'; there are coverage.*patience"):
        lister(patients=3)


def test_a_policy_that_a_file_could_not_tell_from_ours_is_refused():
    @dataclasses.dataclass(frozen=True)
    class Bolder(AnytimeSPS):
        pass

    with pytest.raises(InvalidParameter, match="has the key 'anytime', which is that of AnytimeSPS: choose another"):
        Settings(policy=Bolder(0.9))

    class Nameless(Policy):
        rule = Greedy.rule

        def init(self):
            return Greedy(0.9).init()

    with pytest.raises(InvalidParameter, match="Nameless has no key"):
        Settings(policy=Nameless())
