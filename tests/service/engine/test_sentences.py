"""What the pages say of a stream, in the states in which it could be wrong."""

import dataclasses
import math

import numpy as np
import pytest

from shortlist.rounds.admission import admit
from shortlist.rounds.events import Answer
from shortlist.rounds.summary import ErrorBudget
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.sentences import with_sentences
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.store import LogEntry, StreamRow


class Played:
    """A stream whose rounds are shown and answered here: with a delta, unless the settings say otherwise."""

    def __init__(self, settings):
        delta = {} if "policy" in settings else {"delta": 0.01}
        made = StreamSettings.of(**{"coverage": 0.9, "score": "raw", **delta, **settings})
        self.stream = LoggedStream(StreamRow(1, "docs", made.to_dict(), 0.0, 0))
        self.rounds = 0

    def apply(self, event):
        self.stream.apply(LogEntry(1, self.stream.number + 1, 0.0, event))
        while (due := self.stream.stream.due()) is not None:
            self.stream.apply(LogEntry(1, self.stream.number + 1, 0.0, due))

    def show(self, scores):
        self.rounds += 1
        listed = self.stream.stream.decide(f"r{self.rounds}", np.asarray(scores, float), list(range(len(scores))))
        self.apply(listed)
        return listed

    def answer(self, listed, right):
        self.apply(admit(listed, right if right in listed.members else Answer.MISS))

    @property
    def summary(self):
        return with_sentences(self.stream.summary())


def play(rounds, settings=None, *, right_rank=lambda _: 0, answer=True):
    """Show lists in which the right one has a rank that is drawn; return the stream's summary."""
    rng, played = np.random.default_rng(0), Played(settings or {})
    for _ in range(rounds):
        listed = played.show(np.sort(rng.random(30))[::-1])
        right = int(right_rank(rng))
        if answer:
            played.answer(listed, right)
    return played.summary


def among_ten(rng):
    """Below the tenth place in 22 of 100 rounds."""
    return rng.integers(10) if rng.random() < 0.78 else 20


def test_a_new_stream_as_it_is_by_default():
    said = play(0, {"delta": None}).sentences
    assert said["target"] == "Target: the right answer in 90.0 % of lists."
    assert said["guarantee"] == (
        "Guarantee: over many lists, in any W answered rounds in a row at most 0.1 W + 20 cut lists miss, under any "
        "distribution shift, if misses are reported and answers are prompt; nothing about a single list."
    )
    assert (said["advice"], said["unreported"]) == (None, None)
    assert said["progress"] == (
        "No threshold yet: the best 10 candidates are shown. There can be one once 10 more rounds count."
    )
    assert (said["threshold"], said["learning"]) == ("No threshold yet.", None)
    assert said["fixed"] == (
        "Fixed when the stream was created: coverage 90.0 %, score raw, silence counts as a miss, no drift alarm."
    )
    assert "and lists are the best 10 until enough rounds have been answered again." in said["restart"]


def test_a_stream_as_it_is_by_default_that_cuts():
    summary = play(300, {"delta": None, "score": "auto"}, right_rank=lambda rng: min(29, int(rng.exponential(2))))
    said = summary.sentences
    assert said["progress"] == "Lists are cut at the threshold."
    assert said["threshold"] == "It follows the latest answers, both ways."
    assert said["score"] == f"Score: {summary.score_why}."
    assert said["learning"] is None
    assert summary.waiting_for == "nothing: the threshold moves with every few answers"


def test_where_nobody_reports_misses_coverage_is_unknown():
    """Picks and silence, and never a miss: no percentage is shown, and what to do is named."""
    played = Played({"delta": None})
    for i in range(60):
        listed = played.show(np.linspace(1, 0, 30))
        if i % 3:
            played.answer(listed, 0)
    summary = played.summary
    assert (summary.coverage_seen, summary.coverage_interval) == (None, None)
    assert summary.sentences["coverage"] == "Coverage unknown: nobody reports misses."
    assert summary.sentences["advice"].startswith("Coverage unknown: nobody reports misses (40 picks")
    assert summary.sentences["unreported"].startswith("Turn exploring on?")
    assert summary.waiting_for.startswith("coverage unknown: nobody reports misses (40 picks, 20 rounds without")
    assert "set explore_share for users who only click" in summary.waiting_for


def test_a_new_stream():
    said = play(0).sentences
    assert said["target"] == "Target: the right answer in 90.0 % of lists."
    assert said["guarantee"] == (
        "Guarantee: about every list, with probability 0.99 none is cut further than the optimal threshold would cut "
        "it, while the distribution is stationary; over many lists, in any W answered rounds in a row at most 0.1 W + "
        "20 cut lists miss, under any distribution shift, if misses are reported and answers are prompt."
    )
    assert said["progress"] == "Everything is shown so far. Lists can become shorter once 65 more rounds count."
    assert said["coverage"] == "No answer yet."
    assert said["drift"] is None
    assert said["fixed"] == (
        "Fixed when the stream was created: coverage 90.0 %, delta 0.01, score raw, silence counts as a miss, "
        "no drift alarm, exploring is off."
    )


def test_with_at_most_nothing_is_said_that_is_not_so():
    """Ten of thirty are shown, 22 % of the right answers lie beyond: nothing is complete, learned, or covered."""
    summary = play(300, {"at_most": 10}, right_rank=among_ten)
    assert (summary.threshold, summary.truncated_share, summary.rounds_needed) == (-math.inf, 1.0, None)
    said = summary.sentences
    assert not any(wrong in str(said) for wrong in ("Everything is shown", "can become shorter", "Above the target"))
    assert said["progress"] == "No threshold yet: the best 10 candidates are shown."
    assert said["warnings"] == [
        "100.0 % of all lists so far may lack a candidate that reached the threshold (at_most is 10, or the search may "
        "have left candidates out): the guarantee does not cover those."
    ]
    assert summary.waiting_for.startswith("fewer misses")
    assert "; pages that at_most=10 cuts short are not covered" in said["guarantee"]
    assert said["length"] == "10 on average over the last 100 lists or so. Never more than 10 candidates."
    assert said["advice"].startswith("Fewer misses: of 300 counted rounds")
    assert said["coverage"].startswith("Below the target of 90.0 %, by more than chance explains: truncated lists")


def test_at_most_that_is_large_enough():
    said = play(300, {"at_most": 10}).sentences
    assert said["progress"] == "Lists are cut at the threshold, and after 10 candidates."
    assert said["restart"].endswith(
        "and lists have 10 candidates, or all if there are fewer, until enough rounds have been answered again."
    )


@pytest.mark.parametrize(("rounds", "then"), [(20, "nothing is learned yet"), (200, "what would be hidden is counted")])
def test_shadow_mode(rounds, then):
    summary = play(rounds, {"shadow": True})
    assert summary.sentences["progress"] == f"Shadow mode: everything is shown, and {then}."
    missed = f"Everything is shown. With the threshold, {summary.would_have_missed} of {rounds} right answers"
    assert summary.sentences["coverage"].startswith(missed)


def test_a_search_that_finds_too_little():
    """The right one is among the candidates in 7 of 10 rounds: no date is given for what will not come."""
    summary = play(200, right_rank=lambda rng: 0 if rng.random() < 0.7 else 99)
    assert summary.rounds_needed is None
    assert summary.waiting_for.startswith("better candidates: everything was shown in 200 answered rounds")
    assert summary.sentences["progress"] == "Everything is shown so far."
    assert summary.sentences["coverage"].startswith("Below the target of 90.0 %")
    assert "truncated" not in summary.sentences["coverage"]


def test_the_horizon_of_sps():
    said = play(200, {"policy": {"kind": "sps", "horizon": 500}}).sentences
    assert said["guarantee"].startswith(
        "Guarantee: about every list, with probability 0.996 none in 500 rounds is cut further than"
    )
    assert "horizon 500" in said["fixed"]
    assert said["coverage"] == "Above the target: nothing is cut at a threshold yet."  # it plans for 500
    assert said["threshold"] == "No threshold yet."


def test_coverage_above_the_target():
    summary = play(300)
    said = summary.sentences
    assert said["coverage"] == "Above the target: the threshold approaches the optimum from below."
    assert said["threshold"] == "It never falls."
    assert said["chosen"] == "Picks left of the line are below the current threshold."
    assert said["answers"] == f"{summary.hits} picks, {summary.misses} misses"


def test_with_open_rounds_the_first_cut_may_come_sooner():
    """One open round holds back eighty answered ones: one answer is enough."""
    played = Played({})
    first = played.show([0.9, 0.1])
    for _ in range(80):
        played.answer(played.show([0.9, 0.1]), 0)
    assert played.summary.sentences["progress"].endswith(
        "once 65 more rounds count; answers to open rounds can make it sooner."
    )
    played.answer(first, 0)
    assert played.summary.threshold == 0.9


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"at_most": 10}, "Learning the score: 5 of 30 picks; the best 10 candidates are shown until then."),
        ({"shadow": True}, "Learning the score: 5 of 30 picks; everything is shown in any case."),
        ({}, "Learning the score: 5 of 30 picks; everything is shown until then."),
    ],
    ids=str,
)
def test_learning_a_score(settings, expected):
    said = play(5, {"score": "auto", **settings}).sentences
    assert said["learning"] == expected
    assert said["threshold"] == "No threshold while the score is being learned."
    assert said["chosen"] == "Picks are plotted once the score is learned."


def test_a_learned_score_of_one_scorer_is_a_sentence():
    summary = play(35, {"score": "auto"})
    assert (summary.sentences["score"], summary.sentences["learning"]) == ("Score: learned from 30 picks.", None)
    assert summary.sentences["score_label"] == "learned score"


def test_the_last_alarm_is_named():
    """Rounds are named by their ids here, which need not be numbers."""
    played = Played({"on_drift": "report", "miss_budget": None})
    for i in range(600):
        listed = played.show([0.9, 0.1])
        played.answer(listed, 0 if i < 400 else 1)
    (warning,) = played.summary.sentences["warnings"]
    assert warning.endswith(f"The last one was raised at round {played.summary.drift.alarms[-1]['round']}.")


def test_silence_that_is_ignored_has_a_condition():
    said = play(3, {"unanswered": "ignore"}, answer=False).sentences
    assert "stationary, and right answers with low scores are answered at least as often, and no" in said["guarantee"]
    said = play(3, {"explore_share": "auto", "delta": None}, answer=False).sentences
    assert said["guarantee"] == (
        "Guarantee: none before the first cut: until then lists that are not explored are the best 10."
    )


#: A summary of a stream that cuts lists.
CUTS = dataclasses.replace(play(0), threshold=0.5)


def said_of(settings=None, **changes):
    """Return what is said of a state."""
    changed = dataclasses.replace(CUTS, settings=dict(CUTS.settings) | (settings or {}), **changes)
    return with_sentences(changed).sentences


@pytest.mark.parametrize(
    ("score", "why", "gain", "expected"),
    [
        ("auto", "learned from 30 picks", 0.124, "make lists 12 % shorter"),
        ("learned", "learned from 9 picks", 0.004, "not make lists shorter"),
        ("auto", "learned from 30 picks", -0.1, "not make lists shorter"),
        ("auto", "learned: a 57 %, b 43 %", None, "Score: learned: a 57 %, b 43 %."),
        ("raw", "as set", None, "Score: raw (as set)."),
    ],
)
def test_what_is_said_of_a_score(score, why, gain, expected):
    assert expected in said_of(score=score, score_why=why, refit_gain=gain)["score"]


@pytest.mark.parametrize(
    ("share", "threshold", "rounds", "picks", "expected"),
    [
        (None, 0.5, 100, None, None),
        (0.05, 0.5, 100, None, "click: 5.0 % of lists, chosen at random"),
        ("auto", 0.5, 99, None, "click: now 20.0 % of lists"),
        ("auto", 0.5, 9_999, None, "click: now 2.0 % of lists"),
        ("auto", -math.inf, 9_999, None, "click: now 20.0 % of lists"),
        (0.05, -math.inf, 3, 2, "click: 5.0 % of lists, chosen at random"),
    ],
)
def test_what_is_said_of_exploring(share, threshold, rounds, picks, expected):
    said = said_of({"explore_share": share}, threshold=threshold, rounds=rounds, fit_picks=picks, fit_rounds=30)
    assert said["exploring"] is None if expected is None else expected in said["exploring"]


#: What is spent of a budget, `at_most`, and what is said first and second.
BUDGETS = {
    "nothing": (2.0, False, None, "Lists are cut at the threshold.", None),
    "some": (13.0, True, None, "The error budget is running out: lists are longer for now.", "lists show more than"),
    "all": (19.2, True, None, "The error budget is spent: lists are complete for now.", "lists show every candidate"),
    "just not all": (19.1, True, None, "The error budget is running out", "lists show more than what reaches"),
    "page": (
        13.0,
        True,
        5,
        "The error budget is running out: lists are longer for now, but never longer than 5.",
        "more",
    ),
    "whole page": (
        19.5,
        True,
        5,
        "The error budget is spent: lists are longer for now, but never",
        "lists show 5 cand",
    ),
}


@pytest.mark.parametrize("name", BUDGETS)
@pytest.mark.parametrize("shadow", [False, True])
def test_what_is_said_while_lists_are_longer(name, shadow):
    spent, lengthening, at_most, first, second = BUDGETS[name]
    budget = ErrorBudget(20, spent, 1.0, 3, 2.0, lengthening)
    said = said_of({"at_most": at_most}, error_budget=budget, shadow=shadow)
    assert said_of(error_budget=budget, threshold=-math.inf)["lengthening"] is None  # everything is shown in any case
    assert said["progress"].startswith("Shadow mode" if shadow else first)
    if second is None:
        assert said["lengthening"] is None
    else:
        assert second.replace("lists show", "lists would show" if shadow else "lists show") in said["lengthening"]


@pytest.mark.parametrize(
    ("lengthened", "added", "shadow", "expected"),
    [
        (0, None, False, "No list was made longer so far."),
        (1, 1.0, False, "1 list was made longer so far, by 1 candidate."),
        (2, 3.26, False, "2 lists were made longer so far, by 3.3 candidates on average."),
        (1200, 3.0, True, "1,200 lists would have been made longer so far, by 3 candidates on average."),
        (0, None, True, "No list would have been made longer so far."),
    ],
)
def test_what_the_error_budget_did(lengthened, added, shadow, expected):
    budget = ErrorBudget(20, 2.04, 0.5, lengthened, added, False)
    said = said_of(error_budget=budget, shadow=shadow)
    assert said["budget"][0] == expected
    assert said["budget"][1].startswith(
        "If answers are prompt, any W answered rounds in a row have at most 0.1 W + 20 "
    )
    assert said["budget_label"] == "2 of 20 misses spent; burn rate 0.5\N{MULTIPLICATION SIGN}"
