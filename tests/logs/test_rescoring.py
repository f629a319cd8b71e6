"""A scorer replaced: the answers of the old one's log are a warm start for the new one."""

import numpy as np
import pytest
from scipy import stats

from shortlist import AnytimeSPS, Shortlister, replay, rescore
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.metrics import optimal_threshold

CANDIDATES = 12


def population(size=400, seed=0, scorers=1):
    """Return lists of an old scorer and of new ones; the right candidate is in column 0."""
    rng = np.random.default_rng(seed)
    merit = rng.random((size, CANDIDATES))
    merit[:, 0] = rng.beta(4, 1.5, size)
    return (
        merit,
        merit + rng.normal(0, 0.3, (size, CANDIDATES)),
        merit[None] + rng.normal(0, 0.3, (scorers, *merit.shape)),
    )


def logged(lister, lists, rows, *, look=True):
    """Play rounds with the old scorer and return their log; people look further, or report a miss."""
    log = []
    for row in rows:
        shown = lister.propose(lists[row])
        members = list(shown.members)
        if 0 not in members and look:
            members += lister.more(shown.round_id).members
        answer = {"hit": 0} if 0 in members else {"miss": True}
        lister.reveal(shown.round_id, 0)
        log.append({"round_id": shown.round_id, "candidates": range(CANDIDATES), "members": members, "answer": answer})
    return log


def test_measured_misses_give_the_threshold_of_a_run_with_the_new_scorer():
    _, old, (new,) = population()
    rows = np.random.default_rng(1).integers(len(old), size=1_000)
    log = logged(Shortlister(0.8, delta=0.01, score="raw"), old, rows)
    scores = {each["round_id"]: new[row] for each, row in zip(log, rows, strict=True)}
    lister = rescore(log, scores, coverage=0.8, delta=0.01, score="raw")
    fresh = Shortlister(0.8, delta=0.01, score="raw")
    for row in rows:
        fresh.reveal(fresh.propose(new[row]).round_id, 0)
    assert lister.threshold == fresh.threshold > -np.inf
    assert lister.summary().rounds == 0
    assert len(lister.propose(new[0]).members) < CANDIDATES


def test_a_miss_that_nobody_looked_into_is_low_for_the_new_scorer_too():
    _, old, (new,) = population()
    rows = np.random.default_rng(1).integers(len(old), size=1_000)
    log = logged(Shortlister(0.8, delta=0.01, score="raw"), old, rows, look=False)
    scores = {each["round_id"]: new[row] for each, row in zip(log, rows, strict=True)}
    lister = rescore(log, scores, coverage=0.8, delta=0.01, score="raw")
    measured = Shortlister(0.8, delta=0.01, score="raw")
    measured.warm_start([-np.inf if "miss" in each["answer"] else scores[each["round_id"]][0] for each in log])
    assert lister.threshold == measured.threshold
    assert lister.threshold <= optimal_threshold(new[:, 0], 0.8)


def test_scores_by_candidate_by_scorer_and_for_several_right_answers(constants):
    constants(picks=40)
    log = [
        {"round_id": i, "candidates": ["a", "b", "c"], "answer": {"hit": ["a", "b"] if i % 2 else "c"}}
        for i in range(300)
    ]
    by_candidate = rescore(log, lambda _: {"c": 0.9, "b": 0.2, "a": 0.5}, coverage=0.8, score="raw")
    assert by_candidate.threshold == 0.2  # both are needed: the lowest counts
    several = rescore(log, lambda _: {"bm25": [1.0, 2.0, 3.0], "dense": [0.1, 0.2, np.nan]}, coverage=0.8)
    assert several.learned.scorers == ("bm25", "dense")
    assert several.threshold > -np.inf


def test_only_the_last_epoch_and_only_rounds_that_count():
    rounds = [
        {"candidates": ["a"], "answer": {"hit": "a"}, "epoch": 0},
        *({"candidates": ["a"], "answer": {"hit": "a"}, "epoch": 1} for _ in range(100)),
        {"candidates": ["a"], "answer": {"absent": True}, "epoch": 1},
        {"candidates": ["a"], "answer": {"skip": True}, "epoch": 1},
        {"candidates": ["a"], "answer": None, "epoch": 1, "explored": True},
        {"candidates": ["a"], "answer": {"hit": "a"}, "epoch": 1, "explored": True},
    ]

    def counted(**options):
        return rescore(rounds, lambda _: [0.5], score="raw", **options).summary().counted

    assert counted() == 103
    assert counted(unanswered="ignore") == 101
    assert counted(explore_share=0.5) == 1


@pytest.mark.parametrize(
    ("log", "new", "message"),
    [
        ([], {}, "there is no round in the log"),
        ([{"candidates": ["a"], "answer": None}], {}, "round 0 of the log has no new scores"),
        ([{"candidates": ["a"], "answer": None}], {0: [0.5, 0.6]}, "2 new scores for round 0, which has 1 candidates"),
    ],
)
def test_what_cannot_be_learned_from(log, new, message):
    with pytest.raises(InvalidParameter, match=message):
        rescore(log, new, score="raw")


def test_it_is_safe_unless_the_scorer_was_chosen_by_the_same_log():
    """At most 14 of 60 streams pass the optimum, at a false-alarm probability of 1e-6; chosen by the log, more do.

    A hundred scorers are equally good, so choosing the one whose lists are shortest in the log is choosing luck.
    """
    streams, delta, rounds = 60, 0.05, 600
    past = {"the first": 0, "the best": 0}
    for seed in range(streams):
        _, old, new = population(300, seed=seed, scorers=100)
        rows = np.random.default_rng([seed, 1]).integers(len(old), size=rounds)
        log = logged(Shortlister(0.8, score="raw"), old, rows)
        thresholds = [replay(AnytimeSPS(0.8, delta), np.append(one[rows, 0], 0.0))[-1] for one in new]
        lengths = [(one[rows] >= each).sum(axis=1).mean() for one, each in zip(new, thresholds, strict=True)]
        for choice, index in (("the first", 0), ("the best", int(np.argmin(lengths)))):
            scores = {each["round_id"]: new[index][row] for each, row in zip(log, rows, strict=True)}
            lister = rescore(log, scores, coverage=0.8, delta=delta, score="raw")
            past[choice] += lister.threshold > optimal_threshold(new[index][:, 0], 0.8)
    assert past["the first"] <= stats.binom.isf(1e-6, streams, delta) < past["the best"]


def test_searches_that_found_nothing_are_low_and_not_left_out():
    nothing = [{"candidates": [], "answer": {"miss": True}}] * 3
    log = [*nothing, {"candidates": [0, 1], "answer": {"hit": 0}}]
    assert rescore(log, lambda _: [0.5, 0.4], score="raw").summary().counted == 4
    with pytest.raises(InvalidScores, match="all lists are empty"):
        rescore(nothing, lambda _: [], score="raw")


def test_ids_that_are_numbers_have_names_that_are_texts_in_json():
    log = [{"round_id": "r1", "candidates": [1, 2], "answer": {"hit": 2}}] * 200
    assert rescore(log, {"r1": {"1": 0.5, "2": 0.25}}, score="raw").threshold == 0.25
