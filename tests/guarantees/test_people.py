"""The guarantees where people meet them: who only clicks, who reads from the top, who shows more, and who does not.

Each stream draws its rounds from 400 lists, so the optimal threshold is known. A stream may pass it with probability
delta; how many of them may, at a false-alarm probability of 1e-6, is computed. Each comes with negative controls.
"""

import functools

import numpy as np
import pytest
from scipy import stats

from shortlist import Shortlister
from shortlist.metrics import optimal_threshold

COVERAGE, DELTA, STREAMS = 0.8, 0.05, 30


@functools.cache
def population():
    """Return lists, and the position of the right candidate in each: the higher its score, the likelier."""
    rng = np.random.default_rng(0)
    lists = rng.random((400, 12)).round(4)
    return lists, np.array([rng.choice(12, p=row**4 / (row**4).sum()) for row in lists])


def optimum():
    lists, right = population()
    return optimal_threshold(lists[np.arange(len(lists)), right], COVERAGE)


def most_failures(streams=STREAMS):
    return int(stats.binom.isf(1e-6, streams, DELTA))


def clicking(seed, *, examination, order="as shown", click=0.8, rounds=1_500, **options):
    """Return whether a stream passes the optimum: people look at rank r with probability r^-examination, and click."""
    rng, (lists, right) = np.random.default_rng(seed), population()
    lister = Shortlister(COVERAGE, DELTA, score="raw", **options)
    for _ in range(rounds):
        row = int(rng.integers(len(lists)))
        shown = lister.propose(lists[row])
        members = sorted(shown.members, key=lambda i: -lists[row][i]) if order == "best first" else list(shown.members)
        if right[row] not in members:
            continue
        rank = members.index(right[row]) + 1
        if rng.random() < click * rank**-examination:
            lister.hit(shown.round_id, int(right[row]))
    return lister.threshold > optimum(), lister.threshold


@pytest.mark.parametrize("examination", [0.0, 0.5, 1.0])
def test_clicks_alone_are_enough(examination):
    streams = [clicking(seed, examination=examination, explore_share=0.3) for seed in range(STREAMS)]
    assert sum(passed for passed, _ in streams) <= most_failures()
    assert np.mean([threshold > -np.inf for _, threshold in streams]) > 0.9  # and they learn


def test_best_first_or_without_exploring_coverage_is_lost():
    """The negative controls: explored lists sorted by their scores; silent rounds dropped."""
    biased = [clicking(s, examination=1.0, order="best first", explore_share=0.3)[0] for s in range(STREAMS)]
    dropped = [clicking(s, examination=0.0, unanswered="ignore")[0] for s in range(STREAMS)]
    assert sum(biased) > 2 * most_failures()
    assert sum(dropped) > 2 * most_failures()


def test_counting_silence_as_misses_learns_nothing():
    assert clicking(0, examination=0.0, click=0.5)[1] == -np.inf


def paged(seed, *, presses, rounds=1_500, drops=False):
    """Return whether a stream passes the optimum, and its threshold: pages of three, and some who press "show more"."""
    rng, (lists, right) = np.random.default_rng(seed), population()
    # What drops them is refused with at_most; so here people look at the first three of whole lists.
    options = {"unanswered": "ignore"} if drops else {"at_most": 3}
    lister = Shortlister(COVERAGE, DELTA, score="raw", **options)
    for _ in range(rounds):
        row = int(rng.integers(len(lists)))
        shown = lister.propose(lists[row])
        answer = int(right[row])
        if answer in shown.members[:3]:
            lister.hit(shown.round_id, answer)
        elif rng.random() < presses:
            lister.more(shown.round_id)
            lister.reveal(shown.round_id, answer)
        elif drops:
            lister.skip(shown.round_id)  # left out of the sample
        else:
            lister.miss(shown.round_id)
    return lister.threshold > optimum(), lister.threshold


def test_a_short_page_learns_from_the_first_day_if_people_show_more():
    everyone, half = ([paged(seed, presses=share) for seed in range(STREAMS)] for share in (1.0, 0.5))
    for streams in (everyone, half):
        assert sum(passed for passed, _ in streams) <= most_failures()
    levels = [np.mean([threshold for _, threshold in streams]) for streams in (everyone, half)]
    assert levels[0] > levels[1]
    assert levels[0] > 0.9 * optimum()
    assert paged(0, presses=0.0)[1] <= levels[0]


def test_pages_that_nobody_expanded_must_not_be_dropped():
    """The negative control: without them only what people found counts."""
    assert sum(paged(seed, presses=0.5, drops=True)[0] for seed in range(STREAMS)) > 2 * most_failures()
