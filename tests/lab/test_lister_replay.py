"""A lister on recorded rounds: what the public class shows round by round, and any policy."""

import budget as tool
import numpy as np
import pytest

from shortlist import ACI, AnytimeSPS, Greedy, Shortlister, replay
from shortlist.lab.lister_replay import learn, run_lister
from shortlist.lab.lists import lists_of
from shortlist.lab.scored_lists import Lists, score_lists
from shortlist.lab.tasks import load_task
from shortlist.rounds.budget import Budget
from shortlist.rounds.settings import Settings, default_budget
from shortlist.scores import Raw
from tests.lab.test_list_baselines import ragged, shown_by

POLICY = AnytimeSPS(0.9, 0.05)


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


@pytest.mark.parametrize("on_drift", [None, "restart"])
@pytest.mark.parametrize("name", ["retrieval", "one scorer", "ragged"])
def test_it_is_what_a_lister_shows_round_by_round(name, on_drift, constants):
    """One scorer and several, equal scores, right answers that are not there, alarms and restarts."""
    constants(alarm=1000)
    lists = lists_of(load_task("retrieval")) if name != "ragged" else ragged()
    lists, rows = hard_in_the_middle(lists.first if name == "one scorer" else lists, 1200, seed=3)
    run = run_lister(lists, rows, Settings(policy=POLICY, miss_budget=3, on_drift=on_drift))
    lister = Shortlister(policy=POLICY, miss_budget=3, on_drift=on_drift)
    sizes, covered = shown_by(lister, lists, rows, len(lists.scorers))
    assert run.lengths.tolist() == sizes
    assert run.covered.tolist() == covered
    assert ((run.added > 0) & (run.lengths < lists.counts[rows])).any()
    if on_drift:
        finite = np.isfinite(run.thresholds)
        assert (finite[:-1] & ~finite[1:]).any()  # it has restarted


@pytest.mark.parametrize("policy", [Greedy(0.9), ACI(0.9, 0.01), POLICY])
def test_any_policy_has_the_thresholds_of_its_replay(policy):
    """With a budget, misses are revealed here and there; without one it is the policy alone."""
    lists = lists_of(load_task("retrieval")).first
    rows = np.random.default_rng(1).integers(len(lists.values), size=700)
    run = run_lister(lists, rows, Settings(policy=policy, score="raw", miss_budget=None))
    assert run.thresholds.tolist() == replay(policy, score_lists(lists, Raw()).true[rows]).tolist()


def test_constants_are_chosen_by_the_same_rule():
    """The compiled bucket of `tools/budget.py`, as shipped, is the package's."""
    lists, rows = hard_in_the_middle(ragged(), 2000, seed=5)
    for size in tool.SIZES:
        run = run_lister(lists, rows, Settings(policy=POLICY, miss_budget=size))
        bases = tool.bases_of(score_lists(lists, run.score), rows, run.thresholds)
        lengths, covered = tool.spend(bases, tool.Rule(size=size))
        assert lengths.tolist() == run.lengths.tolist()
        assert covered.tolist() == run.covered.tolist()
    assert Settings(policy=POLICY).miss_budget == default_budget(0.9)


def test_lists_start_to_grow_where_it_was_tuned():
    """`tools/budget.py` and the docs speak of three fifths."""
    budget = Budget(20, 0.9)  # 11.4 of 19, in tenths
    assert budget.more(1000, spent=114) == 0 < budget.more(1000, spent=115)


def test_the_fit_waits_for_picks_but_not_for_ever():
    lists, rows = ragged(), np.arange(900)
    late = np.concatenate([np.flatnonzero(lists.right < 0), rows])  # nobody picks anything at first
    run = run_lister(lists, late, Settings(policy=POLICY))
    assert (lists.right[late[: run.begin]] >= 0).sum() == 100 == run.score.rounds
    assert run.begin > 100
    assert learn(lists, late, POLICY) == run.score
    nobody = Lists(lists.values, np.full(900, -1), lists.scorers)
    run = run_lister(nobody, np.concatenate([rows, rows]), Settings(policy=POLICY))
    assert (run.score.rounds, run.begin) == (0, 1000)
    assert run_lister(nobody, rows, Settings(policy=POLICY)).begin == 900  # the log ends before
