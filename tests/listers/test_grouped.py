"""A threshold per group: each learns on its own, and one delta covers all."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from shortlist import AnytimeSPS, GroupedShortlister, crossing_probability
from shortlist.errors import InvalidIds, InvalidParameter, InvalidScores, NotShown
from tests.listers.inside import everything
from tests.listers.playing import both_guarantees, both_scores


def teach(lister, rounds, groups, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        group = groups[int(rng.integers(len(groups)))]
        shown = lister.propose(rng.random(4), group=group)
        if 0 in shown.members:
            lister.hit(shown.round_id, 0)
        else:
            lister.miss(shown.round_id)
    return lister


@both_scores
def test_each_group_learns_as_if_alone(score):
    """With auto from the fit on, which all groups share."""
    lister = GroupedShortlister(0.9, delta=0.05, score=score)
    rng, frozen = np.random.default_rng(0), np.asarray if score == "raw" else None
    alone = {"a": AnytimeSPS(0.9, 0.05 / 2), "b": AnytimeSPS(0.9, 0.05 / 6)}
    states = {group: policy.init() for group, policy in alone.items()}
    for i in range(2000):
        group = "a" if i == 0 else "ab"[int(rng.integers(2))]
        scores = rng.random(4) * (3 if group == "b" else 1)
        shown = lister.propose(scores, group=group)
        assert shown.group == group
        if 0 in shown.members:
            lister.hit(shown.round_id, 0)
        else:
            lister.miss(shown.round_id)
        if frozen is None:
            frozen = lister.learned
        else:
            alone[group].update(states[group], float(frozen(scores)[0]))
    assert lister.groups == ("a", "b")
    for group, state in states.items():
        assert lister.threshold(group) == state.threshold > 0
    assert lister.threshold("c") == -np.inf
    assert lister.summary("a")["counted"] + lister.summary("b")["counted"] == (2000 if score == "raw" else 1970)
    assert lister.summary()["rounds"] == 2000


def test_delta_is_shared_by_any_number_of_groups():
    """What each boundary may spend, exactly, for the first groups, and as promised for the rest."""
    delta, groups = 0.05, 10_000
    budgets = [delta / (j * (j + 1)) for j in range(1, groups + 1)]
    exact = [crossing_probability(AnytimeSPS(0.9, budget).boundary, 0.9, 1000) for budget in budgets[:60]]
    assert all(spent <= budget for spent, budget in zip(exact, budgets, strict=False))
    assert sum(exact) + sum(budgets[60:]) <= delta


def resident():
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which is not here")
def test_ten_thousand_groups_at_length():
    """Ten thousand groups of a thousand rounds: failures, exact sum, memory, time."""
    delta, groups, rounds = 0.05, 10_000, 1000
    spent = sum(
        crossing_probability(AnytimeSPS(0.9, delta / (j * (j + 1))).boundary, 0.9, rounds) for j in range(1, groups + 1)
    )
    print(f"\nexact crossing probabilities of {groups:,} groups sum to {spent:.5f}, of delta {delta}")
    assert spent <= delta
    lister, rng, before, start = (
        GroupedShortlister(0.9, delta, score="raw"),
        np.random.default_rng(0),
        resident(),
        time.perf_counter(),
    )
    for _ in range(rounds):
        for group, score in enumerate(rng.random((groups, 1))):
            shown = lister.propose(score, group=group)
            if shown.members:
                lister.hit(shown.round_id, 0)
            else:
                lister.miss(shown.round_id)
    seconds, memory = time.perf_counter() - start, resident() - before
    failures = sum(lister.threshold(group) > 0.1 for group in range(groups))
    print(
        f"{groups * rounds:,} rounds in {seconds:,.0f} s, {seconds / groups / rounds * 1e6:.1f} us each; "
        f"{memory / groups / 1024:.1f} KB a group; {failures} groups past the optimum"
    )
    assert failures <= 2  # P(any) is at most 0.05; three would have a probability below 1e-4
    assert memory / groups < 20 * 1024


def test_alarms_and_open_rounds_of_a_group_are_named_by_their_own_ids(constants):
    constants(alarm=1000)
    lister = GroupedShortlister(0.9, delta=0.01, score="raw", on_drift="report")
    for _ in range(150):
        lister.hit(lister.propose([0.5], group="b").round_id, 0)
    assert lister.threshold("b") == 0.5  # from here on a miss is a miss of the threshold
    missed = []
    while len(missed) < 100 and not lister.summary("b")["drift"]["alarm_count"]:
        lister.hit(lister.propose([0.5], group="a").round_id, 0)
        shown = lister.propose([0.5], group="b")
        lister.miss(shown.round_id)
        missed.append(shown.round_id)
    assert lister.summary("b")["drift"]["alarms"][0]["round"] == missed[-1]
    lister.propose([0.5], group="a")
    waiting = lister.propose([0.5], group="b").round_id
    assert "is unanswered" not in lister.summary("b")["waiting_for"]  # it holds nobody back
    lister.propose([0.5], group="b")
    assert f"; round {waiting} is unanswered and holds back 1 later one" in lister.summary("b")["waiting_for"]


@both_scores
def test_small_groups_show_everything(score):
    lister = teach(GroupedShortlister(0.9, delta=0.01, score=score), 500, groups=list(range(50)))
    for group in range(50):
        assert lister.threshold(group) == -np.inf
        assert len(lister.propose([0.1, 0.2, 0.3], group=group).members) == 3


@both_scores
def test_without_delta_small_groups_are_shown_the_best_ten(score):
    lister = teach(GroupedShortlister(0.9, score=score), 40, groups=list(range(50)))
    scores = np.linspace(0, 1, 30)
    for group in range(50):
        shown = lister.propose(scores, group=group)
        assert (shown.threshold, shown.truncated) == (-np.inf, False)
        assert list(shown.members) == list(range(29, 19, -1))


@both_guarantees
@both_scores
def test_save_and_load(score, delta, tmp_path):
    on_drift = "restart" if delta else None
    lister = teach(GroupedShortlister(0.8, delta=delta, score=score, on_drift=on_drift), 800, groups=["x", "y", 3])
    pending = lister.propose([0.9, 0.8], ids=["p", "q"], group="y")
    lister.save(tmp_path / "groups.json")
    loaded = GroupedShortlister.load(tmp_path / "groups.json")
    for twin in (lister, loaded):
        twin.hit(pending.round_id, "p")
        teach(twin, 200, groups=["x", "y", 3, "new"], seed=4)
    assert everything(loaded) == everything(lister)
    assert loaded.groups == lister.groups
    assert "new" in loaded.groups


def test_what_cannot_be_a_group_is_refused():
    lister = GroupedShortlister()
    for group, error in (
        (None, InvalidParameter),
        (1.5, InvalidParameter),
        (True, InvalidParameter),
        ("\ud800", InvalidIds),
    ):
        with pytest.raises(error):
            lister.propose([0.5], group=group)
    assert lister.groups == ()
    assert lister.summary()["rounds"] == 0
    with pytest.raises(InvalidParameter, match="has had no round yet"):
        lister.summary("nobody")
    with pytest.raises(InvalidParameter, match="patience is -1"):
        GroupedShortlister(patience=-1)
    shown = lister.propose([0.5], group=np.int64(7))
    assert shown.group == 7
    with pytest.raises(NotShown):
        lister.hit(shown.round_id, 1)
    assert "GroupedShortlister" in repr(lister)


def test_a_list_that_is_refused_spends_nothing_of_delta():
    def broken(values):
        return values * np.nan if values[0] > 1 else values

    lister = GroupedShortlister(0.9, delta=0.01, score=broken)
    for group in range(5):
        with pytest.raises(InvalidScores):
            lister.propose([2.0, 0.1], group=group)
    assert lister.groups == ()
    lister.propose([0.5, 0.1], group="first")
    assert lister.summary("first").policy["delta"] == 0.005


def test_what_is_configured_before_the_first_group_holds_for_fits_too(tmp_path):
    """A file that is read back goes on with the same bits."""
    rng, listers = np.random.default_rng(0), [GroupedShortlister(0.9)]
    listers[0].configure(patience=0)
    listers[0].save(tmp_path / "lister.json")
    listers.append(GroupedShortlister.load(tmp_path / "lister.json"))
    for t in range(60):
        scores = rng.random(20)
        for lister in listers:
            shown = lister.propose(scores, group="a")
            if t % 4:
                lister.reveal(shown.round_id, int(scores.argmax()))
    assert listers[0].threshold("a") == listers[1].threshold("a")
    assert [lister.summary("a").counted for lister in listers] == [60, 60]
