"""A policy under late answers, silence and distribution shift."""

import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister
from shortlist.rounds.progress import waiting_for
from tests.listers.inside import everything, policy_state
from tests.listers.playing import answer, drifting
from tests.rounds import driving
from tests.rounds.driving import show, take


def number_of(round_id):
    """Return the number of a lister's round."""
    return int(round_id.partition("-")[2])


def test_silence_lowers_the_level_that_is_reached():
    """A share f of silence at random: the level tends to (p0 - f) / (1 - f), 0.0526 for 5 %. False alarm 7e-8."""
    tracker = driving.make(AnytimeSPS(0.9, 1e-7), patience=10)
    rng = np.random.default_rng(0)
    scores, silent = rng.random(400_000), rng.random(400_000) < 0.05
    for i, (score, quiet) in enumerate(zip(scores.tolist(), silent.tolist(), strict=True)):
        threshold = tracker.threshold
        show(tracker, i)
        if quiet:
            tracker.silence(i)
        else:
            take(tracker, i, score if score >= threshold else None)
    assert 0.0526 * 0.88 < tracker.threshold <= 0.0526
    assert waiting_for(tracker).startswith("at least")


def test_questions_without_an_answer_leave_the_count():
    """15 % of questions have no right answer at all: said, the threshold climbs as if they were not there."""
    told, twin = Shortlister(0.9, score="raw"), Shortlister(0.9, score="raw")
    rng = np.random.default_rng(2)
    for _ in range(3000):
        scores = rng.random(3)
        shown = told.propose(scores)
        if rng.random() < 0.15:
            told.more(shown.round_id)  # who says so has looked through everything
            told.absent(shown.round_id)
            continue
        answer(told, shown)
        answer(twin, twin.propose(scores))
    assert told.threshold == twin.threshold > 0.055  # lower with probability 2e-9
    assert told.summary()["absent"] > 300


def test_a_change_is_reported(constants):
    """False alarm: an alarm before the change has probability 3,000 / 10^11 + delta = 1.3e-7 at most."""
    constants(alarm=10**11)
    lister = Shortlister(0.9, 1e-7, score="raw", on_drift="report")
    drifting(lister, 4000, change=3000)
    drift = lister.summary()["drift"]
    assert drift["alarm_count"] >= 1
    first = drift["alarms"][0]
    assert 3000 <= number_of(first["round"]) < 3300
    assert first["strength"] >= 1.0
    assert lister.summary()["epoch"] == 0


def test_after_a_restart_coverage_returns_to_target(constants):
    """False alarm: a second alarm 9,000 / 10^11 + delta = 2e-7; coverage is eight standard errors above the target."""
    constants(alarm=10**11)
    lister = Shortlister(0.9, 1e-7, score="raw", on_drift="restart")
    covered = drifting(lister, 9000, change=3000)
    stubborn = drifting(Shortlister(0.9, delta=0.01, score="raw", miss_budget=None), 9000, change=3000)
    summary = lister.summary()
    assert summary["epoch"] == 1
    assert 3000 <= number_of(summary["drift"]["alarms"][0]["round"]) < 3400
    assert covered[5000:].mean() >= 0.9
    assert stubborn[5000:].mean() < 0.85  # without it: a threshold from another world
    assert summary["threshold"] < summary["drift"]["alarms"][0]["threshold"]


def test_a_restart_spends_a_share_of_delta_and_forgets_older_answers(constants):
    constants(alarm=1000)
    lister = Shortlister(0.9, delta=0.01, score="raw", on_drift="restart")
    plain = Shortlister(0.9, delta=0.01, score="raw")
    assert policy_state(lister).share == 0.5
    assert policy_state(plain).share == 1.0
    lister.warm_start(np.full(300, 4.0))  # from here on a miss is a miss of the threshold
    shown = []
    for i in range(200):
        item = lister.propose([i / 200, 5.0])
        shown.append(item)
        if i >= 100:
            lister.miss(item.round_id)  # round 0 to 99 stay open until patience is over
    for item in shown[:100]:
        lister.miss(item.round_id)
    assert lister.summary().epoch >= 1
    assert policy_state(lister).share == pytest.approx(
        1 / ((lister.summary().epoch + 1) * (lister.summary().epoch + 2))
    )
    fresh = policy_state(lister).rounds
    open_rounds = {int(name) for name, _ in everything(lister)["rounds"]["open"]}
    leftover = [item for item in shown if item.round_id in open_rounds]
    for item in leftover:
        lister.hit(item.round_id, 1)
    assert policy_state(lister).rounds == fresh


def false_alarms(seed, *, silent, late):
    """Alarms in a world that does not change: as fed by the tracker, and as fed wrongly.

    A share `silent` never answers; hits come within five rounds, misses too, or if `late` those of
    the first 2,000 rounds all together after them.
    """
    rng = np.random.default_rng(seed)
    tracker = driving.make(AnytimeSPS(0.9, 1e-9), on_drift="report", patience=500)
    tracker.warm_start(rng.random(5000))
    detector = tracker.detector
    arrival, eager = detector.init(), detector.init()
    wrong = {"by arrival": 0, "silence as misses": 0}
    due: dict[int, list[tuple[int, float | None]]] = {}
    for i in range(3000):
        for round_id, answered in due.pop(i, []):
            take(tracker, round_id, answered)
            wrong["by arrival"] += detector.update(arrival, answered is None) is not None
        score, threshold = float(rng.random()), tracker.threshold
        show(tracker, i)
        quiet = rng.random() < silent
        wrong["silence as misses"] += detector.update(eager, quiet or score < threshold) is not None
        if not quiet:
            missed = score < threshold
            when = 2000 if late and missed and i < 2000 else i + 1 + int(rng.integers(5))
            due.setdefault(when, []).append((i, None if missed else score))
    return tracker.state.alarm_count, wrong


def test_silence_and_late_answers_raise_no_alarm(constants):
    """Misses up to 2,000 rounds late and all together, or a fifth silent: no alarm, in 20 streams of each.

    The wrong feedings are the negative controls: the same streams alarm when they are fed in order of
    arrival, or with silence as misses. False alarm: 40 * (3,000 / 10^12 + 1e-9) = 1.6e-7.
    """
    constants(alarm=10**12)
    late = [false_alarms(seed, silent=0.0, late=True) for seed in range(20)]
    silent = [false_alarms(seed, silent=0.2, late=False) for seed in range(20)]
    assert sum(alarms for alarms, _ in late + silent) == 0
    assert all(wrong["by arrival"] for _, wrong in late)
    assert all(wrong["silence as misses"] for _, wrong in silent)


def test_misses_of_lists_cut_short_are_silence(constants):
    constants(alarm=1000)
    lister = Shortlister(0.9, delta=0.01, score="raw", at_most=1, on_drift="report")
    for _ in range(300):
        shown = lister.propose([0.5, 0.6])
        assert shown.truncated
        lister.miss(shown.round_id)
    assert lister.summary()["drift"]["alarm_count"] == 0
    assert lister.summary()["unanswered_counted"] == 0  # they were answered
    assert "300 were not found in a list that was cut short" in lister.summary()["waiting_for"]


def test_an_alarm_after_a_warm_start_names_the_right_round(constants):
    constants(alarm=1000)
    lister = Shortlister(0.9, delta=0.01, score="raw", on_drift="report")
    lister.warm_start(np.random.default_rng(7).random(1000))
    while not lister.summary()["drift"]["alarm_count"]:
        lister.miss(lister.propose([0.001]).round_id)
    assert number_of(lister.summary()["drift"]["alarms"][0]["round"]) == lister.summary()["rounds"] - 1


def test_ignoring_silence_does_not_ignore_misses():
    """Hits and misses of one list must be taken alike, or the threshold would run away."""
    rng = np.random.default_rng(0)
    lister = Shortlister(0.9, score="raw", unanswered="ignore")
    for _ in range(3000):
        scores = rng.random(10)
        right = int(rng.choice(10, p=scores / scores.sum()))
        shown = lister.propose(scores)
        if right in shown.members:
            lister.hit(shown.round_id, right)
        else:
            lister.miss(shown.round_id)
    assert lister.threshold <= 0.316


def test_skip_counts_as_low_and_absent_leaves_the_count():
    lister = Shortlister(delta=0.01, score="raw")
    for verb in ("skip", "absent", "miss"):
        getattr(lister, verb)(lister.propose([0.5]).round_id)
    assert (policy_state(lister).rounds, policy_state(lister).low) == (2, 2)
    summary = lister.summary()
    assert (summary["skipped"], summary["absent"], summary["misses"]) == (1, 1, 1)


def test_an_absent_round_that_was_counted_stays_low():
    lister = Shortlister(delta=0.01, score="raw", patience=0)
    first = lister.propose([0.5])
    assert (policy_state(lister).rounds, policy_state(lister).low) == (1, 1)
    lister.absent(first.round_id)
    assert (policy_state(lister).rounds, policy_state(lister).low) == (1, 1)


def test_ignored_silence_never_joins():
    lister = Shortlister(score="raw", unanswered="ignore")
    lister.propose([0.5])
    lister.skip(lister.propose([0.5]).round_id)
    lister.absent(lister.propose([0.5]).round_id)
    lister.hit(lister.propose([0.5]).round_id, 0)
    assert policy_state(lister).rounds == 1
