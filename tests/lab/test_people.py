"""Simulated users on the retrieval task: what they do, and what becomes of the threshold.

A stream may pass the optimum with probability delta = 0.05. How many of `STREAMS` may, at a false-alarm probability of
1e-6, is computed by `most_failures`; each such test has a negative control that must exceed it.
"""

import dataclasses
import functools

import numpy as np
import pytest
from scipy import stats

from shortlist import AnytimeSPS
from shortlist.boundaries.crossing import crossing
from shortlist.lab import people
from shortlist.lab.people import CLICKING, Questions, cite, click, noisy_passages, page, passages
from shortlist.scores import Raw

STREAMS, DELTA = 16, 0.05
CITING = {"hits_lost": 0.1, "rounds": 2_000}


def most_failures(streams=STREAMS):
    return int(stats.binom.isf(1e-6, streams, DELTA))


def cuts(coverage, rounds):
    """Return the exact probability that a threshold meant for 0.9 moves, where so many rounds have a known score."""
    return crossing(AnytimeSPS(0.9, DELTA).boundary.limits(0.9, rounds), coverage)


@functools.cache
def easy():
    """Return a population that is quick to score."""
    return Questions(passages().values[:1_500])


@functools.cache
def hard():
    return Questions(noisy_passages(0.86, 10)[0].values[:1_500])


def test_recall_counts_those_that_are_better():
    questions = Questions(np.array([[0.5, 0.9, 0.1], [0.9, 0.5, 0.1], [0.1, 0.5, 0.1]]))
    assert [questions.recall(count) for count in (1, 2, 3)] == [1 / 3, 1.0, 1.0]
    assert questions.true(Raw()).tolist() == [0.5, 0.9, 0.1]


def test_the_worse_scorer_is_as_bad_as_asked_for_and_no_worse():
    questions, noise = noisy_passages(0.86, 10)
    assert 0.855 < questions.recall(10) <= 0.86 < passages().recall(10)
    better = passages().values + (questions.values - passages().values) * (noise - 1e-4) / noise
    assert Questions(better).recall(10) > 0.86


def by_hand(way, *, rank, explored, monkeypatch):
    """Return whether somebody who looks at the first rank only clicks, where the right candidate is at this one."""
    clicked, rounds = [], []

    class Fake:
        threshold, learned = -np.inf, None

        def __init__(self, coverage, delta, **options):
            assert (coverage, delta) == (0.9, DELTA)
            assert options == way.options

        def propose(self, values):
            members = list(range(1, len(values)))
            if not rounds:  # the second list lacks it
                members.insert(rank - 1, 0)
            rounds.append(values)
            shown = {"round_id": 0, "threshold": -np.inf, "members": members, "explored": explored and 0 in members}
            return type("Shown", (), shown)

        def hit(self, round_id, member):
            clicked.append((round_id, member))

    monkeypatch.setattr(people, "Shortlister", Fake)
    questions = Questions(np.array([[0.9, 0.5, 0.1]]))
    click(questions, way, share=1.0, examination=1e9, rounds=2, seed=0)
    return clicked == [(0, 0)]


@pytest.mark.parametrize("way", ["explored", "best-first"])
def test_people_look_at_the_order_that_is_shown(way, monkeypatch):
    """The right candidate is the best: shown third, it is found only where explored lists are sorted before."""
    way = CLICKING[way]
    assert by_hand(way, rank=1, explored=True, monkeypatch=monkeypatch)
    assert by_hand(way, rank=3, explored=True, monkeypatch=monkeypatch) is way.best_first
    assert not by_hand(way, rank=3, explored=False, monkeypatch=monkeypatch)


def test_silence_that_counts_as_misses_leaves_lists_complete():
    """A tenth of the rounds have a click; that the threshold ever moves has a probability below 1e-6."""
    assert cuts(0.1, 1_000) < 1e-6
    result = click(easy(), CLICKING["misses"], share=0.1, examination=0.0, rounds=1_000, seed=0)
    assert (result.coverage, result.length, result.passed) == (1.0, 51.0, False)


def test_pages_that_everyone_expands_teach_what_whole_lists_do():
    """The same thresholds from the first cut to the last, and shorter pages: no chance in it."""
    for seed in range(3):
        paged = page(hard(), expand=1.0, rounds=1_500, seed=seed)
        uncut = page(hard(), expand=0.0, at_most=None, rounds=1_500, seed=seed)
        assert paged.first_cut is not None
        same = ("first_cut", "coverage", "passed", "curve")
        assert [getattr(paged, name) for name in same] == [getattr(uncut, name) for name in same]
        assert paged.page <= 10.0 < uncut.length
        assert paged.length > paged.page


def test_pages_that_nobody_expands_teach_nothing_if_they_miss_too_often():
    """A stream cuts with the probability that is computed; more than `most` of them do in 1 of a million tries."""
    likely = cuts(hard().recall(10), 1_500)
    most = int(stats.binom.isf(1e-6, STREAMS // 2, likely))
    nobody, half = ([page(hard(), expand=e, rounds=1_500, seed=s) for s in range(STREAMS // 2)] for e in (0.0, 0.5))
    assert most < STREAMS // 4
    assert sum(result.first_cut is not None for result in nobody) <= most
    assert max(result.length for result in nobody) <= 10.0
    assert sum(result.first_cut is not None for result in half) > most  # the control: half of them expand


def test_pages_that_nobody_expanded_count_and_dropped_they_would_lose_coverage():
    """Half expand. Safe with misses; the negative control drops the pages that nobody expanded."""
    way = {"expand": 0.5, "rounds": 1_500, "last": 200}
    half = [page(hard(), seed=seed, **way) for seed in range(STREAMS)]
    dropped = [page(hard(), others="dropped", seed=seed, **way) for seed in range(STREAMS)]
    assert sum(result.passed for result in half) <= most_failures()
    assert sum(result.passed for result in dropped) > most_failures()
    assert np.mean([result.coverage for result in half]) > 0.9 > np.mean([result.coverage for result in dropped])


def test_lost_citations_may_be_ignored_if_nothing_else_is_lost():
    """The negative control loses half of the reports that nothing fits as well."""
    ignored = [cite(easy(), unanswered="ignore", misses_lost=0.0, seed=s, **CITING) for s in range(STREAMS)]
    control = [cite(easy(), unanswered="ignore", misses_lost=0.5, seed=s, **CITING) for s in range(STREAMS)]
    assert sum(result.passed for result in ignored) <= most_failures()
    assert sum(result.passed for result in control) > most_failures()
    assert np.mean([result.length for result in ignored]) < 51 / 3  # and they learn


def test_counted_as_misses_lost_citations_leave_lists_complete():
    """A tenth of the hits lost is as much as may be missed: a stream cuts all the same with probability delta."""
    default = [cite(easy(), unanswered="miss", misses_lost=0.0, seed=s, **CITING) for s in range(STREAMS // 2)]
    assert sum(result.length < 51 for result in default) <= most_failures(STREAMS // 2)


@pytest.mark.soak
@pytest.mark.parametrize("examination", [0.0, 0.5, 1.0])
def test_clicks_alone_on_retrieval(examination):
    """The score as shipped, 40 streams of 10,000 rounds; the control sorts explored lists, or drops silent rounds."""
    way = {"share": 0.5, "examination": examination, "rounds": 10_000}
    control = CLICKING["best-first" if examination else "dropped"]
    safe = [click(passages(), CLICKING["learned"], seed=seed, **way) for seed in range(40)]
    lost = [click(passages(), control, seed=seed, **way) for seed in range(40)]
    print(examination, [sum(run.passed for run in runs) for runs in (safe, lost)], dataclasses.asdict(safe[0]))
    assert sum(run.passed for run in safe) <= most_failures(40)
    assert sum(run.passed for run in lost) > most_failures(40)
