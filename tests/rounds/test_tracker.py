"""Feedback as it really comes, through the Shortlister: silence, expiry, drift, shadow mode, warm start."""

import math

import numpy as np
import pytest

from shortlist import AnytimeSPS, Greedy, Shortlister, metrics, replay
from shortlist.errors import InvalidParameter, InvalidScores, RoundClosed
from shortlist.rounds.progress import waiting_for
from tests.listers.inside import everything, policy_state
from tests.rounds import driving
from tests.rounds.driving import show, take


def answer(lister, shown, member=0):
    if member in shown.members:
        lister.hit(shown.round_id, member)
    else:
        lister.miss(shown.round_id)


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


def test_too_much_silence_stops_the_threshold_safely_and_says_why():
    lister = Shortlister(0.9)
    rng = np.random.default_rng(1)
    for _ in range(3000):
        shown = lister.propose(rng.random(3))
        if rng.random() >= 0.2:
            answer(lister, shown)
    assert (
        lister.threshold <= 0.1
    )  # with a fifth silent it passes with probability 1e-8, and the words come all the same
    words = lister.summary()["waiting_for"]
    assert "were missed, are unanswered or lie below today's threshold" in words
    assert "coverage allows 10.0%" in words
    assert "report questions without a right answer as absent, always or never" in words


def test_questions_without_an_answer_leave_the_count():
    """15 % of questions have no right answer at all: said, the threshold climbs as if they were not there."""
    told, twin = Shortlister(0.9), Shortlister(0.9)
    rng = np.random.default_rng(2)
    for _ in range(3000):
        scores = rng.random(3)
        shown = told.propose(scores)
        if rng.random() < 0.15:
            told.absent(shown.round_id)
            continue
        answer(told, shown)
        answer(twin, twin.propose(scores))
    assert told.threshold == twin.threshold > 0.055  # lower with probability 2e-9
    assert told.summary()["absent"] > 300


def test_expired_rounds_are_closed_for_good():
    lister = Shortlister(0.9, patience=1000)
    shown = [lister.propose([0.5, 0.6]) for _ in range(50)]
    for item in shown[::2]:
        lister.hit(item.round_id, 1)
    assert lister.summary()["counted"] == 1
    assert lister.expire(before=40) == 20
    assert lister.summary()["counted"] == 41  # round 40 was answered, 41 is open
    assert lister.summary()["expired"] == 20
    assert lister.expire(before=40) == 0
    for round_id in (1, 2):
        with pytest.raises(RoundClosed, match=f"round {round_id} is closed"):
            lister.hit(round_id, 1)
    lister.hit(41, 1)
    assert lister.expire(before=10**6) == 4  # whatever there is
    assert lister.summary()["open"] == 0
    with pytest.raises(InvalidParameter, match="before is -1"):
        lister.expire(before=-1)


def drifting(lister, rounds, change, seed=0):
    """Scores that fall by two after `change` rounds; the threshold of before misses nearly always."""
    rng = np.random.default_rng(seed)
    covered = []
    for i in range(rounds):
        score = rng.normal(1.0 if i < change else -1.0, 1.0)
        shown = lister.propose([score])
        covered.append(bool(shown.members))
        answer(lister, shown)
    return np.array(covered)


def test_a_change_is_reported():
    """False alarm: an alarm before the change has probability 3,000 / 10^11 + delta = 1.3e-7 at most."""
    lister = Shortlister(0.9, 1e-7, on_drift="report", false_alarm_rounds=10**11)
    drifting(lister, 4000, change=3000)
    drift = lister.summary()["drift"]
    assert drift["alarm_count"] >= 1
    first = drift["alarms"][0]
    assert 3000 <= first["round"] < 3300
    assert first["strength"] >= 1.0
    assert lister.summary()["epoch"] == 0


def test_after_a_restart_coverage_returns_to_target():
    """False alarm: a second alarm 9,000 / 10^11 + delta = 2e-7; coverage is eight standard errors above the target."""
    lister = Shortlister(0.9, 1e-7, on_drift="restart", false_alarm_rounds=10**11)
    covered = drifting(lister, 9000, change=3000)
    stubborn = drifting(Shortlister(0.9), 9000, change=3000)
    summary = lister.summary()
    assert summary["epoch"] == 1
    assert 3000 <= summary["drift"]["alarms"][0]["round"] < 3400
    assert covered[5000:].mean() >= 0.9
    assert stubborn[5000:].mean() < 0.85  # without it: a threshold from another world
    assert summary["threshold"] < summary["drift"]["alarms"][0]["threshold"]


def test_a_restart_spends_a_share_of_delta_and_forgets_older_answers():
    lister = Shortlister(0.9, on_drift="restart", false_alarm_rounds=1000)
    plain = Shortlister(0.9)
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
    tracker = driving.make(AnytimeSPS(0.9, 1e-9), on_drift="report", false_alarm_rounds=10**12, patience=500)
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


def test_silence_and_late_answers_raise_no_alarm():
    """Misses up to 2,000 rounds late and all together, or a fifth silent: no alarm, in 20 streams of each.

    The wrong feedings are the negative controls: the same streams alarm when they are fed in order of
    arrival, or with silence as misses. False alarm: 40 * (3,000 / 10^12 + 1e-9) = 1.6e-7.
    """
    late = [false_alarms(seed, silent=0.0, late=True) for seed in range(20)]
    silent = [false_alarms(seed, silent=0.2, late=False) for seed in range(20)]
    assert sum(alarms for alarms, _ in late + silent) == 0
    assert all(wrong["by arrival"] for _, wrong in late)
    assert all(wrong["silence as misses"] for _, wrong in silent)


def test_drift_settings_are_checked():
    for make, message in (
        (lambda: Shortlister(on_drift="panic"), "on_drift is 'panic'"),
        (lambda: Shortlister(on_drift="report", unanswered="ignore"), 'needs unanswered="miss"'),
        (lambda: Shortlister(policy=Greedy(0.9), on_drift="report"), 'needs unanswered="miss"'),
        (lambda: Shortlister(on_drift="report", false_alarm_rounds=0), "false_alarm_rounds is 0"),
        (lambda: Shortlister(shadow=True, at_most=3), "shadow mode shows everything"),
        (lambda: Shortlister(shadow="no"), "shadow is 'no'"),
        (lambda: Shortlister(false_alarm_rounds=-5), "false_alarm_rounds is -5"),
        (lambda: Shortlister(on_drift="report", patience=0), "no miss would ever be seen"),
    ):
        with pytest.raises(InvalidParameter) as caught:
            make()
        assert message in str(caught.value)


def test_misses_of_lists_cut_short_are_silence():
    lister = Shortlister(0.9, at_most=1, on_drift="report", false_alarm_rounds=1000)
    for _ in range(300):
        shown = lister.propose([0.5, 0.6])
        assert shown.truncated
        lister.miss(shown.round_id)
    assert lister.summary()["drift"]["alarm_count"] == 0
    assert lister.summary()["unanswered_counted"] == 0  # they were answered
    assert "300 were not found in a list that was cut short" in lister.summary()["waiting_for"]


def test_shadow_mode_shows_everything_and_learns_the_same():
    rng = np.random.default_rng(5)
    shadow, real = Shortlister(0.9, shadow=True), Shortlister(0.9)
    hidden = missed = 0
    for _ in range(2000):
        scores = rng.random(10)
        tried = shadow.propose(scores)
        assert len(tried.members) == 10
        shown = real.propose(scores)
        assert tried.members[: tried.reached] == shown.members
        hidden += 10 - len(shown.members)
        missed += 0 not in shown.members
        answer(shadow, tried)
        answer(real, shown)
    assert shadow.threshold == real.threshold > 0.05
    summary = shadow.summary()
    assert summary["hits"] == 2000
    assert summary["hidden_share"] == hidden / 20_000 == real.summary()["hidden_share"]
    assert summary["would_have_missed"] == missed == real.summary()["misses"]
    assert real.summary()["would_have_missed"] is None
    shadow.miss(shadow.propose([0.5]).round_id)
    assert shadow.summary()["would_have_missed"] == missed + 1


def test_shadow_mode_knows_at_least():
    lister = Shortlister(0.9, shadow=True, at_least=20)
    for _ in range(300):
        shown = lister.propose(np.linspace(0, 1, 20))
        assert shown.reached == 20
        lister.hit(shown.round_id, 10)
    assert lister.threshold > -np.inf
    assert (lister.summary()["hidden_share"], lister.summary()["would_have_missed"]) == (0.0, 0)


def test_a_warm_start_is_as_good_as_rounds():
    scores = np.random.default_rng(6).random(3000)
    warm = Shortlister(0.9)
    warm.warm_start(scores[:2000])
    assert warm.threshold == replay(AnytimeSPS(0.9), scores[:2001])[-1] > 0.05
    assert warm.summary()["rounds"] == 0
    assert warm.summary()["counted"] == 2000
    for score in scores[2000:].tolist():
        answer(warm, warm.propose([score]))
    assert warm.threshold == replay(AnytimeSPS(0.9), np.append(scores, 0.0))[-1]
    with pytest.raises(InvalidParameter, match="1000 rounds have been shown already"):
        warm.warm_start(scores)
    with pytest.raises(InvalidScores, match=r"true_scores\[0\] is nan"):
        Shortlister().warm_start([math.nan])


def test_an_alarm_after_a_warm_start_names_the_right_round():
    lister = Shortlister(0.9, on_drift="report", false_alarm_rounds=1000)
    lister.warm_start(np.random.default_rng(7).random(1000))
    while not lister.summary()["drift"]["alarm_count"]:
        lister.miss(lister.propose([0.001]).round_id)
    assert lister.summary()["drift"]["alarms"][0]["round"] == lister.summary()["rounds"] - 1


def test_everything_survives_a_save(tmp_path):
    lister = Shortlister(0.9, on_drift="restart", false_alarm_rounds=500, patience=50, shadow=True)
    lister.warm_start(np.random.default_rng(8).random(300))
    drifting(lister, 1500, change=700)
    for _ in range(30):
        lister.propose([0.5])
    lister.save(tmp_path / "lister.json")
    loaded = Shortlister.load(tmp_path / "lister.json")
    assert loaded.summary() == lister.summary()
    for twin in (lister, loaded):
        drifting(twin, 500, change=100, seed=3)
    assert loaded.summary() == lister.summary()
    assert everything(loaded) == everything(lister)


def test_coverage_is_held_on_the_real_retrieval_scores():
    """False alarm: 1e-7 for the threshold, and twelve standard errors for the coverage seen."""
    from shortlist.lab.tasks import load_task  # noqa: PLC0415 - only here

    task = load_task("retrieval")
    rows = np.random.default_rng(9).integers(len(task.scores.true_scores), size=3000)
    lister = Shortlister(0.9, 1e-7)
    for row in rows.tolist():
        scores = task.scores.candidate_scores[row].astype(np.float64)
        answer(lister, lister.propose(scores))  # the right passage is the first candidate
    best = metrics.optimal_threshold(task.scores.true_scores, 0.9)
    assert lister.threshold <= best
    assert lister.summary()["coverage_seen"] >= 0.9


def test_a_late_pick_may_move_the_threshold_before_any_new_round_does():
    """The summary says so."""
    lister = Shortlister(0.9, patience=0)
    shown = [lister.propose([0.5 + i / 1000, 0.4]) for i in range(120)]
    for each in shown[:-12]:
        lister.hit(each.round_id, 0)
    words = lister.summary()["waiting_for"]
    assert lister.threshold == -np.inf
    assert "picks in 12 unanswered rounds that count as below the threshold can make it sooner" in words
    assert "again" not in words  # it has never moved
    before = lister.summary()["counted"]
    for each in shown[-12:]:
        lister.hit(each.round_id, 0)
    assert lister.summary()["counted"] == before
    assert lister.threshold > -np.inf


def test_a_miss_of_a_complete_list_says_nothing_of_the_threshold():
    """Half of the right answers are not among the candidates, from the first round on: no alarm, and nothing is cut."""
    lister = Shortlister(0.9, on_drift="restart", false_alarm_rounds=1000)
    for i in range(300):
        shown = lister.propose([0.5, 0.6])
        if i % 2:
            lister.hit(shown.round_id, 0)
        else:
            lister.miss(shown.round_id)
    summary = lister.summary()
    assert (summary["drift"]["alarm_count"], summary["epoch"], summary["threshold"]) == (0, 0, -np.inf)
    assert summary["candidate_recall"] == 0.5
    assert summary["waiting_for"].startswith("better candidates: everything was shown in 300 answered rounds")
    assert summary["rounds_needed"] is None
