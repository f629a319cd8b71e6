"""The error budget: the rule written out with fractions, its two exceptions, and where its state goes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import GroupedShortlister, Shortlister
from shortlist.rounds.budget import Budget, BudgetState

COVERAGES = ("0.5", "0.8", "0.9", "0.95", "0.99", "0.137")
ANSWERS = st.lists(st.sampled_from(["hit", "miss", "complete", "page"]), max_size=200)


class Formula:
    """The rule as it is written, in fractions."""

    def __init__(self, size, coverage):
        self.size, self.p0, self.level = size, 1 - Fraction(coverage), Fraction(0)
        self.soft = Fraction(3 * (size - 1) * self.p0.denominator // 5, self.p0.denominator)

    def more(self, candidates):
        full = self.size - 1 + self.p0
        if self.level > full:
            return candidates
        if self.level > self.soft:
            growth = float(candidates) ** float((self.level - self.soft) / (full - self.soft))
            return math.ceil(growth - 1e-9)  # whole numbers stay whole on every machine
        return 0

    def take(self, answer):
        leaked, raised = max(Fraction(0), self.level - self.p0), self.level + 1 - self.p0
        match answer:
            case "miss":
                self.level = raised
            case "page":
                self.level = max(leaked, min(Fraction(self.size), raised))
            case _:
                self.level = leaked


@given(st.integers(1, 30), st.sampled_from(COVERAGES), ANSWERS, st.integers(1, 1000))
def test_the_rule_is_the_formula(size, coverage, answers, candidates):
    budget, formula = Budget(size, float(coverage)), Formula(size, coverage)
    for answer in answers:
        budget.take(missed=answer != "hit", everything=answer == "complete", paged=answer == "page")
        formula.take(answer)
        assert Fraction(budget.state.spent, formula.p0.denominator) == formula.level
        assert budget.more(candidates) == formula.more(candidates)


@given(st.integers(1, 30), st.sampled_from(COVERAGES), st.integers(1, 1000))
def test_lists_grow_as_it_is_spent_until_they_are_complete(size, coverage, candidates):
    budget, lengths = Budget(size, float(coverage)), []
    while not lengths or lengths[-1] < candidates:
        lengths.append(budget.more(candidates))
        budget.take(missed=True, everything=lengths[-1] >= candidates)
        assert budget.spent <= size
    assert lengths == sorted(lengths)
    assert lengths[0] == 0


@pytest.mark.parametrize("coverage", [5e-324, 1e-308, 0.1 + 0.2, 1 - 2**-53])
def test_any_coverage_has_its_units(coverage):
    budget = Budget(20, coverage)
    for _ in range(30):
        budget.take(missed=True, everything=budget.more(50) == 50)
        assert 0 <= budget.spent <= 20
    assert budget.more(50) >= 0


def test_the_burn_rate_is_the_share_of_misses_over_what_coverage_allows():
    budget = Budget(20, 0.9)
    assert budget.burn_rate == 0.0
    for i in range(40):
        budget.take(missed=i % 4 == 0)
    assert budget.burn_rate == pytest.approx(2.5)
    for _ in range(1000):
        budget.take(missed=False)
    assert budget.burn_rate < 0.01


def test_no_rounding_adds_up():
    """A million rounds at a coverage whose floats are not exact: nine hits for each miss, and nothing is left."""
    budget = Budget(20, 0.9)
    for i in range(1_000_000):
        budget.take(missed=i % 10 == 0)
    assert budget.state.spent == 0


def spend(lister, misses, **options):
    """Let a lister whose threshold has climbed miss so often."""
    for _ in range(misses):
        shown = lister.propose(np.linspace(0, 1, 50), **options)
        lister.reveal(shown.round_id, 0)
    return shown


def climbed(lister, rounds=400, **options):
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        shown = lister.propose(np.linspace(0, 1, 50), **options)
        lister.hit(shown.round_id, int(rng.integers(40, 50)))
    return lister


def test_lists_get_longer_and_short_again():
    lister = climbed(Shortlister(0.9, delta=0.01, score="raw"))
    short = len(lister.propose(np.linspace(0, 1, 50)).members)
    shown = spend(lister, 23)
    assert shown.complete
    assert shown.added == 50 - shown.reached > 0
    assert shown.threshold > 0.5  # it is the list that is longer
    summary = lister.summary().error_budget
    assert (summary.size, summary.burn_rate > 1.5, summary.lengthened > 3) == (20, True, True)
    assert 18.1 < summary.spent <= 20
    assert 1 < summary.added <= 41
    while lister.summary().error_budget.spent > 10:
        lister.hit(lister.propose(np.linspace(0, 1, 50)).round_id, 49)
    assert len(lister.propose(np.linspace(0, 1, 50)).members) == short
    assert Shortlister(delta=0.01, miss_budget=None).summary().error_budget is None


def test_it_outlives_a_restart_a_file_and_a_change_of_its_size(tmp_path):
    lister = climbed(Shortlister(0.9, delta=0.01, score="raw"))
    spend(lister, 12)
    spent = lister.summary().error_budget.spent
    assert spent > 10
    lister.restart()
    assert lister.summary().error_budget.spent == spent
    lister.save(tmp_path / "lister.json")
    lister = Shortlister.load(tmp_path / "lister.json")
    assert lister.summary().error_budget.spent == spent
    climbed(lister, 100)
    spend(lister, 10)
    lister.configure(miss_budget=3)  # less than what is spent: complete until it has leaked out
    assert lister.summary().error_budget.spent > 3
    assert lister.propose(np.linspace(0, 1, 50)).complete
    lister.configure(miss_budget=None)
    assert lister.summary().error_budget is None
    assert not lister.propose(np.linspace(0, 1, 50)).complete


def test_each_group_has_one():
    grouped = climbed(GroupedShortlister(0.9, score="raw"), group="a")
    climbed(grouped, group="b")
    assert spend(grouped, 23, group="a").complete
    assert not grouped.propose(np.linspace(0, 1, 50), group="b").complete
    assert grouped.summary("b").error_budget.spent == 0


def test_in_shadow_mode_it_is_fed_with_the_list_that_would_have_been_shown():
    shadow, real = (climbed(Shortlister(0.9, score="raw", shadow=on)) for on in (True, False))
    for _ in range(40):
        tried, shown = spend(shadow, 1), spend(real, 1)
        assert tried.members[: tried.reached] == shown.members
        assert tried.added == shown.added
        assert shadow.summary().error_budget == real.summary().error_budget
    assert tried.complete


def test_a_state_comes_back():
    budget = Budget(20, 0.9, BudgetState(spent=192))
    assert budget.spent == 19.2
    assert budget.more(7) == 7 > Budget(20, 0.9).more(7, spent=150) > 0 == Budget(20, 0.9).more(7, spent=114)
