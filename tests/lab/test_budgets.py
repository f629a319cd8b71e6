"""The error budget on whole runs: its rule written out, and what a lister shows round by round."""

import math
from fractions import Fraction

import budget as tool
import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister
from shortlist.lab.budgets import MISS_BUDGET, Bases, spend, thresholds_of
from shortlist.lab.comparison import Lists, learned, score_lists
from shortlist.lab.lists import lists_of
from shortlist.lab.tasks import load_task
from shortlist.rounds.budget import Budget
from shortlist.rounds.settings import Settings
from tests.lab.test_comparison import ragged, shown_by

DELTA = 0.05


def random_bases(rounds, seed, hard=0.3):
    """Base lists of 0 to 30 candidates of up to 200; the right answer is beyond a share of them, or not there."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 201, size=rounds)
    lengths = np.minimum(rng.integers(0, 31, size=rounds), counts)
    beyond = rng.random(rounds) < hard
    places = np.where(beyond, rng.integers(0, counts + 1), rng.integers(0, np.maximum(lengths, 1)))
    return Bases(lengths, places, counts)


def written_out(bases, size, coverage, lengthened=True):
    """The bucket by the rule of the theory, in fractions."""
    p0 = 1 - Fraction(str(coverage))
    full, soft = size - 1 + p0, Fraction(3, 5) * (size - 1)
    soft = Fraction(math.floor(soft * p0.denominator), p0.denominator)  # in whole units
    level, lengths, covered = Fraction(0), [], []
    for base, place, count in zip(bases.lengths, bases.places, bases.counts, strict=True):
        length = int(base)
        if level > full:
            length = int(count)
        elif level > soft and lengthened:
            length = min(int(count), length + math.ceil(float(count) ** float((level - soft) / (full - soft))))
        hit = bool(place < length)
        level += 0 if hit or length == count else 1
        level = max(Fraction(0), level - p0)
        lengths.append(length)
        covered.append(hit)
    return lengths, covered


@pytest.mark.parametrize("coverage", [0.9, 0.95, 0.8, 0.99])
@pytest.mark.parametrize("size", [1, 2, 5, 20])
@pytest.mark.parametrize("lengthened", [True, False])
def test_it_is_the_rule_written_out(coverage, size, lengthened):
    bases = random_bases(2000, seed=size)
    lengths, covered = written_out(bases, size, coverage, lengthened)
    spent = spend(bases, size, coverage, lengthened=lengthened)
    assert spent.lengths.tolist() == lengths
    assert spent.covered.tolist() == covered
    assert (spent.lengths > bases.lengths).any()
    if not lengthened:
        assert ((spent.lengths == bases.lengths) | (spent.lengths == bases.counts)).all()


def test_lists_start_to_grow_where_it_was_tuned():
    """`tools/budget.py` and the docs speak of three fifths."""
    budget = Budget(20, 0.9)  # 11.4 of 19, in tenths
    assert budget.more(1000, spent=114) == 0 < budget.more(1000, spent=115)
    assert Settings(policy=AnytimeSPS(0.9)).miss_budget == MISS_BUDGET


@pytest.mark.parametrize("lengthened", [True, False])
def test_constants_are_chosen_by_the_same_rule(lengthened):
    """The tool's compiled bucket, as shipped, is the package's."""
    bases = random_bases(4000, seed=5)
    for size in tool.SIZES:
        lengths, covered = tool.spend(bases, tool.Rule(size=size), lengthened=lengthened)
        spent = spend(bases, size, tool.COVERAGE, lengthened=lengthened)
        assert lengths.tolist() == spent.lengths.tolist()
        assert covered.tolist() == spent.covered.tolist()


@pytest.mark.parametrize("size", [1, 7, 20])
def test_every_window_keeps_the_bound(size):
    """Misses of cut lists in any W rounds: at most W / 10 + H; without the budget there are many more."""
    bases = random_bases(6000, seed=1)
    spent = spend(bases, size, 0.9)
    missed = np.cumsum(np.concatenate([[0], ~spent.covered & (spent.lengths < bases.counts)]))
    before = np.cumsum(np.concatenate([[0], (bases.places >= bases.lengths) & (bases.lengths < bases.counts)]))
    broken = 0
    for window in (1, 10, 100, 500, 2000, 6000):
        assert (missed[window:] - missed[:-window]).max() <= window / 10 + size
        broken += (before[window:] - before[:-window]).max() > window / 10 + size
    assert broken >= 3


def hard_in_the_middle(lists, rounds, seed):
    """Rows of some lists, and the lists again with other right answers, from a third of the rounds to two thirds."""
    rng = np.random.default_rng(seed)
    candidates = np.where(lists.there, rng.random(lists.there.shape), -1.0)
    wrong = Lists(
        np.concatenate([lists.values, lists.values]),
        np.concatenate([lists.right, candidates.argmax(axis=1)]),
        lists.scorers,
    )
    rows = rng.integers(len(lists.values), size=rounds)
    rows[rounds // 3 : 2 * rounds // 3] += len(lists.values)
    return wrong, rows


@pytest.mark.parametrize("alarm", [None, 1000])
@pytest.mark.parametrize("size", [3, 20])
@pytest.mark.parametrize("name", ["retrieval", "one scorer", "ragged"])
def test_it_is_what_a_lister_shows_round_by_round(name, size, alarm):
    """One scorer and several, equal scores, right answers that are not there, alarms and restarts."""
    lists = lists_of(load_task("retrieval")) if name != "ragged" else ragged()
    lists, rows = hard_in_the_middle(lists.first if name == "one scorer" else lists, 1200, seed=size)
    policy = AnytimeSPS(0.9, DELTA)
    score, begin = learned(lists, rows, policy)
    scored = score_lists(lists, score)
    thresholds = thresholds_of(policy, scored.true[rows], begin, false_alarm_rounds=alarm)
    bases = scored.bases(rows, thresholds)
    spent = spend(bases, size, 0.9)
    options = {} if alarm is None else {"on_drift": "restart", "false_alarm_rounds": alarm}
    lister = Shortlister(policy=policy, miss_budget=size, **options)
    sizes, covered = shown_by(lister, lists, rows, len(lists.scorers))
    assert spent.lengths.tolist() == sizes
    assert spent.covered.tolist() == covered
    if alarm is None or size == 3:  # otherwise the alarm comes first
        assert ((spent.lengths > bases.lengths) & (spent.lengths < bases.counts)).any()
    if alarm is not None:
        finite = np.isfinite(thresholds)
        assert (finite[:-1] & ~finite[1:]).any()  # it has restarted


def test_nothing_is_learned_before_the_fit():
    scores = np.random.default_rng(0).random(50)
    assert (thresholds_of(AnytimeSPS(0.9), scores, 50) == -np.inf).all()
    assert (thresholds_of(AnytimeSPS(0.9), scores, 70, false_alarm_rounds=1000) == -np.inf).all()
