"""The error budget against an adversary, through the lister: in any W answered rounds at most p0 W + H cut lists miss.

The adversary sees the list before it chooses the right answer, and puts it just outside. Nothing here is random luck:
the bound holds for every sequence, so one miss too many fails. ``make soak`` plays a million rounds.
"""

import numpy as np
import pytest
from scipy import stats

from shortlist import Shortlister
from shortlist.rounds import stream as rounds_stream
from shortlist.rounds.budget import Budget

COVERAGE, SIZE, CANDIDATES = 0.9, 20, 200
SCORES = np.linspace(0, 1, CANDIDATES)


def climbed(**options):
    """Return a lister whose lists are short: the right answer was always among the best three."""
    lister = Shortlister(COVERAGE, 0.05, score="raw", **options)
    rng = np.random.default_rng(0)
    for _ in range(300):
        shown = lister.propose(SCORES)
        lister.hit(shown.round_id, int(rng.integers(CANDIDATES - 3, CANDIDATES)))
    assert len(lister.propose(SCORES).members) <= 3
    return lister


def just_outside(shown):
    """Return the best candidate that is not shown, or the best of all if there is none."""
    return CANDIDATES - 1 - (0 if shown.complete else len(shown.members))


class Greedy:
    """Misses whenever there is something to miss."""

    def attacks(self, shown, rng):  # noqa: ARG002
        return True


class Patient:
    """Lets the budget recover, then spends all of it."""

    rest = 0

    def attacks(self, shown, rng):  # noqa: ARG002
        self.rest = 300 if shown.complete else max(0, self.rest - 1)
        return self.rest == 0


class Moody:
    """Attacks half of the time, in stretches."""

    on = True

    def attacks(self, shown, rng):  # noqa: ARG002
        self.on ^= rng.random() < 0.01
        return self.on


ADVERSARIES = {"greedy": Greedy, "patient": Patient, "moody": Moody}


def play(lister, adversary, rounds, latest, seed=1):
    """Return which answered rounds were missed by a cut list, as answered and as shown, and the most lists out.

    Answers come up to `latest` rounds late, in any order.
    """
    rng = np.random.default_rng(seed)
    due, answered, shown_order, out, most = {}, [], np.zeros(rounds, dtype=bool), 0, 0
    for t in range(rounds):
        shown = lister.propose(SCORES)
        right = just_outside(shown) if adversary.attacks(shown, rng) else CANDIDATES - 1
        missed = right not in shown.members
        shown_order[t] = missed
        out += 1
        most = max(most, out)
        delay = 0 if latest == 0 else int(rng.integers(0, latest + 1))
        due.setdefault(t + delay, []).append((shown.round_id, right, missed))
        for round_id, answer, was_missed in due.pop(t, []):
            lister.reveal(round_id, answer)
            answered.append(was_missed)
            out -= 1
    return np.array(answered), shown_order, most


def worst_excess(misses):
    """Return the most by which any stretch of rounds misses more than its length allows, in exact tenths."""
    sums = np.concatenate([[0], np.cumsum(10 * misses.astype(np.int64) - 1)])
    return int((sums - np.minimum.accumulate(sums)).max()) / 10


@pytest.mark.parametrize("latest", [0, 300], ids=["prompt", "late"])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_no_stretch_of_rounds_misses_more_than_the_budget(name, latest):
    answered, shown, out = play(climbed(miss_budget=SIZE), ADVERSARIES[name](), 8_000, latest)
    assert worst_excess(answered) <= SIZE + (out - 1) * COVERAGE
    assert worst_excess(shown) <= SIZE + out - 1
    if latest == 0:
        assert worst_excess(answered) > SIZE - 1  # the bound is all but reached
    control, _, _ = play(climbed(miss_budget=None), ADVERSARIES[name](), 8_000, latest)
    assert worst_excess(control) > SIZE + (out - 1) * COVERAGE


@pytest.mark.parametrize("out", [1, 7, 300])
def test_with_lists_out_the_bound_is_reached(out):
    """Spend it until lists are complete, recover until they are not, then miss `out` lists at once: a tenth is left."""
    lister, misses = climbed(miss_budget=SIZE), []
    for spent in (False, True):
        while (shown := lister.propose(SCORES)).complete is spent:
            lister.reveal(shown.round_id, just_outside(shown))
            misses.append(not shown.complete)
    lists = [shown, *(lister.propose(SCORES) for _ in range(out - 1))]
    for each in lists:
        lister.reveal(each.round_id, just_outside(each))
        misses.append(not each.complete)
    excess, bound = worst_excess(np.array(misses)), SIZE + (out - 1) * COVERAGE
    assert bound - 0.11 < excess <= bound


class Careless(Budget):
    """The negative control: the rule without its two exceptions."""

    def take(self, *, missed, everything=False, paged=False):  # noqa: ARG002
        super().take(missed=missed)


def rounds_to_recover(lister, most=10_000):
    """Return how many easy rounds it takes until lists are short again."""
    for t in range(most):
        shown = lister.propose(SCORES)
        if len(shown.members) <= 4:
            return t
        lister.hit(shown.round_id, CANDIDATES - 1)
    return most


def after_absences(rounds):
    """Return a lister after rounds of which 12 % have no right candidate, told as misses."""
    lister, rng = climbed(miss_budget=SIZE), np.random.default_rng(2)
    for _ in range(rounds):
        shown = lister.propose(SCORES)
        if rng.random() < 0.12:
            lister.miss(shown.round_id)
        else:
            lister.reveal(shown.round_id, int(rng.integers(CANDIDATES - 5, CANDIDATES)))
    return lister


def test_it_recovers_where_answers_are_absent(monkeypatch):
    lister = after_absences(5_000)
    assert lister.summary().error_budget.spent <= SIZE
    assert rounds_to_recover(lister) <= SIZE * 10
    monkeypatch.setattr(rounds_stream, "Budget", Careless)
    control = after_absences(5_000)
    assert control.summary().error_budget.spent > 2 * SIZE
    assert rounds_to_recover(control) > SIZE * 10


def after_hard_rounds(at_most, rounds):
    """Return a lister after rounds whose right answer is beyond the page."""
    lister = climbed(miss_budget=SIZE, at_most=at_most)
    for _ in range(rounds):
        lister.reveal(lister.propose(SCORES).round_id, 0)
    return lister


def test_it_recovers_after_rounds_that_no_page_could_cover(monkeypatch):
    lister = after_hard_rounds(20, 2_000)
    assert lister.summary().error_budget.spent <= SIZE
    assert rounds_to_recover(lister) <= SIZE * 10
    monkeypatch.setattr(rounds_stream, "Budget", Careless)
    control = after_hard_rounds(20, 2_000)
    assert control.summary().error_budget.spent > 1_700
    assert rounds_to_recover(control) == 10_000


def stream_with_alarm(seed, rounds, *, shift=None, **options):
    """Return how many alarms rang in a stream with a small budget, how many lists it made longer, and its misses."""
    rng = np.random.default_rng(seed)
    lister = Shortlister(COVERAGE, 0.001, score="raw", on_drift="report", patience=20, miss_budget=2, **options)
    due, misses = {}, 0
    for t in range(rounds):
        scores = rng.random(8)
        right = int(np.argsort(scores)[0]) if shift is not None and t >= shift else int(rng.integers(8))
        shown = lister.propose(scores)
        due.setdefault(t + int(rng.integers(0, 15)), []).append((shown.round_id, right, right not in shown.members))
        for round_id, answer, missed in due.pop(t, []):
            lister.reveal(round_id, answer)
            misses += missed and t >= (shift or 0)
    summary = lister.summary()
    return summary.drift.alarm_count, summary.error_budget.lengthened, misses


def test_false_alarms_beside_the_budget_are_as_rare_as_guaranteed(constants):
    """P(an alarm within n rounds) <= n / A + delta; the false-alarm probability of this test is 1e-6."""
    streams, rounds, apart = 150, 300, 3_000
    constants(alarm=apart)
    results = [stream_with_alarm(seed, rounds) for seed in range(streams)]
    rang = sum(alarms > 0 for alarms, _, _ in results)
    print(f"{rang} of {streams} streams rang, {rounds / apart + 0.001:.3f} of them may")
    assert rang <= stats.binom.isf(1e-6, streams, rounds / apart + 0.001)
    assert sum(lengthened for _, lengthened, _ in results) > streams  # the budget was at work


def test_the_budget_does_not_hide_a_shift_from_the_alarm(constants):
    """The list that is shown hardly misses: an alarm fed with its misses would hear of nothing."""
    constants(alarm=10**6)
    for seed in range(20):
        alarms, _, misses = stream_with_alarm(seed, 1_000, shift=600)
        assert alarms >= 1
        assert misses <= 0.1 * 400 + 2 + 14  # of 400 rounds; with up to 15 lists out


@pytest.mark.soak
@pytest.mark.parametrize("latest", [0, 300], ids=["prompt", "late"])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_a_million_rounds(name, latest):
    answered, shown, out = play(climbed(miss_budget=SIZE), ADVERSARIES[name](), 1_000_000, latest)
    bounds = SIZE + (out - 1) * COVERAGE, SIZE + out - 1
    for order, misses, bound in zip(("answered", "shown"), (answered, shown), bounds, strict=True):
        excess = worst_excess(misses)  # over every W at once
        print(
            f"\n{name}, {latest} late, as {order}: {misses.mean():.4f} missed, at most {out} lists out; worst excess "
            f"{excess:.1f} of {bound:.1f}"
        )
        assert excess <= bound
