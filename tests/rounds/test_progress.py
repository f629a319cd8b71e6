"""What has happened and what is waited for, in figures and in words."""

import re
from collections.abc import Mapping

import numpy as np
import pytest

from shortlist import SPS, GroupedShortlister, ProductLimit, Shortlister, Summary
from shortlist.rounds.progress import count
from shortlist.rounds.settings import Settings
from shortlist.rounds.stream import Tally
from tests.listers.playing import answer, both_scores


def test_too_much_silence_stops_the_threshold_safely_and_says_why():
    lister = Shortlister(0.9, delta=0.01, score="raw")
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


def test_a_late_pick_may_move_the_threshold_before_any_new_round_does():
    """The summary says so."""
    lister = Shortlister(0.9, delta=0.01, score="raw", patience=0)
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


@both_scores
def test_a_miss_of_a_complete_list_says_nothing_of_the_threshold(score, constants):
    """Half of the right answers are not among the candidates, from the first round on: no alarm, and nothing is cut."""
    constants(alarm=1000)
    lister = Shortlister(0.9, delta=0.01, score=score, on_drift="restart")
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


def test_the_summary_says_what_it_waits_for():
    lister = Shortlister(0.9, delta=0.01, score="raw", miss_budget=None)  # it would show complete lists, and say more

    def words():
        return lister.summary()["waiting_for"]

    assert words() == "at least 65 more counted rounds before the threshold can move"
    assert lister.summary()["coverage_seen"] is None
    for _ in range(64):
        lister.hit(lister.propose([0.5]).round_id, 0)
    assert words() == "at least 1 more counted round before the threshold can move"
    waits = lister.propose([0.5]).round_id
    lister.hit(lister.propose([0.5]).round_id, 0)
    assert f"; round {waits} is unanswered and holds back 1 later one until 200 have been shown" in words()
    lister.hit(waits, 0)
    assert re.fullmatch(r"at least \d+ more counted rounds before the threshold can move again", words())
    for _ in range(3000):
        lister.miss(lister.propose([0.1]).round_id)
    assert "3,000 (97.8%) were missed, are unanswered or lie below today's threshold" in words()
    assert "coverage allows 10.0%" in words()
    frozen = Shortlister(policy=SPS(0.5, 100))
    for i in range(200):
        frozen.hit(frozen.propose([i / 200]).round_id, 0)
    assert "planned for 100 rounds" in frozen.summary()["waiting_for"]
    far = Shortlister(0.9999, delta=0.01, score="raw").summary()["waiting_for"]
    assert far == "more than 10,000 more counted rounds before the threshold can move"


def test_a_poor_search_is_told_from_silence_and_from_luck():
    """What is said of the candidates is so: by more than chance, in this epoch, and only where that is the reason."""
    lister = Shortlister(0.9, delta=0.01, score="raw")
    for i in range(100):
        shown = lister.propose([0.5, 0.6])
        if i < 13:
            lister.hit(shown.round_id, 0)
        elif i < 15:
            lister.miss(shown.round_id)
        else:
            lister.skip(shown.round_id)
    assert lister.summary()["waiting_for"].startswith("fewer misses")
    assert "answer more rounds" in lister.summary()["waiting_for"]
    early = Shortlister(0.9, delta=0.01, score="raw")
    for i in range(30):
        shown = early.propose([0.5, 0.6])
        if i % 3:
            early.hit(shown.round_id, 0)
        else:
            early.miss(shown.round_id)
    assert "so far the right answer was among the candidates in 66.7% of the rounds" in early.summary()["waiting_for"]


def test_at_most_that_is_too_small_is_named_as_the_remedy():
    lister = Shortlister(0.9, delta=0.01, score="raw", at_most=2)
    for i in range(300):
        shown = lister.propose([0.1, 0.2, 0.3])
        if i % 4:
            lister.hit(shown.round_id, 2)
        else:
            lister.miss(shown.round_id)
    words = lister.summary()["waiting_for"]
    assert "75 were not found in a list that was cut short" in words
    assert "raise at_most or pass more candidates" in words
    assert "absent" not in words
    assert lister.summary()["unanswered_counted"] == 0


def test_a_summary_is_a_read_only_mapping():
    summary = Shortlister(0.9).summary()
    assert isinstance(summary, Summary)
    assert isinstance(summary, Mapping)
    assert dict(summary) == {name: getattr(summary, name) for name in summary}
    assert (summary["threshold"], len(summary)) == (summary.threshold, len(list(summary)))
    for name in ("thresholds", "keys", "_names"):
        with pytest.raises(KeyError):
            summary[name]
    with pytest.raises(TypeError, match="does not support item assignment"):
        summary["rounds"] = 3
    with pytest.raises(AttributeError, match="cannot assign to field"):
        summary.rounds = 3


def test_counts_of_streams_add_up():
    settings = Settings(policy=ProductLimit(0.9))
    together = count(Tally(rounds=3, hits=1, misses=1), Tally(rounds=2, hits=2), open_rounds=1, settings=settings)
    assert (together["rounds"], together["hits"], together["misses"], together["open"]) == (5, 3, 1, 1)
    assert together["coverage_seen"] == 0.75
    assert count(Tally(), open_rounds=0, settings=settings)["coverage_seen"] is None


def clicked(lister, rounds, *, click=0.5, **group):
    """Users who click what they find, half of them, and say nothing otherwise."""
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        scores = rng.random(30)
        shown = lister.propose(scores, **group)
        if (best := int(scores.argmax())) in shown.members and rng.random() < click:
            lister.hit(shown.round_id, best)


def test_coverage_is_unknown_where_nobody_reports_misses():
    """In groups, too, with exploration and without; not where every miss would have been seen."""
    for options in ({}, {"explore_share": 0.3}):
        lister, grouped = Shortlister(0.9, **options), GroupedShortlister(0.9, **options)
        clicked(lister, 100)
        clicked(grouped, 100, group="a")
        assert (lister.summary().coverage_seen, grouped.summary().coverage_seen) == (None, None)


@pytest.mark.parametrize("options", [{"shadow": True}, {"at_least": 30}])
def test_where_lists_are_complete_nobody_can_miss(options):
    lister = Shortlister(0.9, **options)
    clicked(lister, 150)
    summary = lister.summary()
    assert summary.coverage_seen == 1
    assert "nobody reports misses" not in summary.waiting_for


def test_who_says_that_there_is_none_reports():
    lister = Shortlister(0.9)
    clicked(lister, 100)
    shown = lister.propose([0.5, 0.4])
    lister.absent(shown.round_id)
    assert lister.summary().coverage_seen is not None


def test_half_of_a_list_is_worth_as_much_however_its_misses_are_reported():
    """A pick after `more` is a miss of the list's better half, however much was asked for."""

    def half(count):
        rng, lister = np.random.default_rng(1), Shortlister(0.9, score="raw")
        for _ in range(1500):
            scores = rng.normal(size=30)
            right = int((scores + rng.gumbel(size=30)).argmax())
            shown = lister.propose(scores)
            if count != 0 and right not in shown.members:
                lister.more(shown.round_id, count)
                lister.hit(shown.round_id, right)
            else:
                lister.reveal(shown.round_id, right)
        return lister.summary().half_coverage

    assert half(29) == half(None)
    assert half(None) == pytest.approx(half(0), abs=0.06)


def test_what_is_counted_is_in_the_window():
    lister, rng = Shortlister(0.9), np.random.default_rng(0)
    for t in range(1300):
        scores = rng.random(20)
        shown = lister.propose(scores)
        if t % 5 and int(scores.argmax()) in shown.members:
            lister.hit(shown.round_id, int(scores.argmax()))
        else:
            lister.skip(shown.round_id)
    summary = lister.summary()
    assert summary.counted == 1000
    assert 150 < summary.unanswered_counted <= 1000


def test_rounds_needed_is_what_the_words_say():
    summary = Shortlister(0.9, delta=0.01, score="raw").summary()
    assert summary.rounds_needed == 65
    assert "at least 65 more" in summary.waiting_for


def test_the_first_cut_comes_65_rounds_after_the_score_is_learned():
    lister = Shortlister(0.9, delta=0.01)
    for i in range(95):
        assert lister.threshold == -np.inf
        if i == 29:
            assert lister.summary().rounds_needed is None
            assert lister.summary().waiting_for == (
                "the score: it is learned from 30 picks, of which there are 29; everything is shown until then, or for "
                "300 rounds at the most"
            )
        if i == 30:
            assert lister.summary().rounds_needed == 65
            assert lister.summary().waiting_for == "at least 65 more counted rounds before the threshold can move"
        lister.hit(lister.propose([0.5, 0.9, 0.1]).round_id, 1)
    assert lister.threshold > -np.inf
    assert (lister.summary().rounds, lister.summary().counted) == (95, 65)
