"""How long lists are on the tasks that ship, beside fixed scores, rank fusion and a fixed top-k."""

import dataclasses

import numpy as np
import pytest

from shortlist.lab.list_baselines import VARIANTS
from shortlist.lab.lists import list_rows, lists_of, log_rows, optimal_lengths, with_lists
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import load_task

COLUMNS = ("last_tenth", "mean_set_size", "coverage")
#: At most so long, in the last tenth and over all rounds, relative to another way in the same runs. A fixed top-k
#: covers as much as the default does.
BARS = {
    "retrieval": [
        ("default", "sps", 0.25, 0.15),
        ("default", "top-k", 0.6, 0.6),
        ("default", "top-k-rrf", 0.6, 0.6),
        ("auto-all", "rrf", 0.5, 0.65),
        ("auto", "relative", 1.05, 1.35),
        ("auto", "sps", 0.36, 0.36),
    ],
    "images": [("auto", "relative", 1.0, 1.35), ("auto", "sps", 0.7, 0.28), ("default", "top-k", 0.8, 0.8)],
    "tools": [
        ("auto-all", "rrf", 0.65, 0.8),
        ("auto", "relative", 1.05, 1.35),
        ("default", "top-k", 0.9, 0.9),
        ("default", "top-k-rrf", 0.9, 0.9),
    ],
}


@pytest.mark.parametrize("task", list(BARS))
def test_the_bars_on_the_real_tasks(task):
    """10,000 rounds, 3 runs, coverage 0.9, delta = 2/T in all. `make measure NAME=lists` measures 30 runs."""
    spec = Spec(runs=3)
    rows = [row for run in range(spec.runs) for row, _ in list_rows(spec, task, run)]
    means = {
        variant: np.mean(
            [[getattr(row, column) for column in COLUMNS] for row in rows if row.variant == variant], axis=0
        )
        for variant in dict.fromkeys(row.variant for row in rows)
    }
    for variant, other, at_the_end, over_all in BARS[task]:
        assert means[variant][0] <= at_the_end * means[other][0], (variant, other)
        assert means[variant][1] <= over_all * means[other][1], (variant, other)
    if task == "retrieval":
        assert means["auto-all"][0] <= 2.0
        assert means["auto-all"][1] <= 3.7
        assert max(row.last_tenth for row in rows if row.variant == "auto-all") <= 2.4
    with_thresholds = [row for row in rows if row.undercoverage_count is not None]
    without = {row.variant for row in rows} - {row.variant for row in with_thresholds}
    assert without <= {"default", "top-k", "top-k-rrf", "autocut"}
    # A run passes an optimum with probability 2e-4 at most: three of thirty do with probability 4e-8.
    assert sum(row.coverage < 0.9 or row.undercoverage_count > 0 for row in with_thresholds) <= 2


def test_optimal_lengths_are_known():
    lengths = optimal_lengths(Spec(), "retrieval")
    assert lengths["raw"] == pytest.approx(11.2, abs=0.1)
    assert min(lengths.values()) < 3.6


def test_tools_are_compared_beside_the_papers_tasks():
    assert with_lists(Spec()) == ["images", "retrieval", "tools"]
    assert with_lists(Spec(tasks=("auctions", "retrieval"))) == ["retrieval"]


def test_a_score_file_with_several_scorers_is_compared_by_all(tmp_path):
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(300, 8, 2))
    right = (tables.sum(axis=2) + rng.gumbel(size=(300, 8)) / 3).argmax(axis=1)
    np.savez(tmp_path / "mine.npz", candidate_scores=tables, scorers=["a", "b"], true_column=right)
    spec = Spec(scores=str(tmp_path / "mine.npz"), rounds=600, runs=1)
    found = {row.variant: row for row, _ in list_rows(spec, "mine", 0)}
    assert tuple(found) == VARIANTS
    assert found["auto-all"].last_tenth < found["auto"].last_tenth
    assert found["auto-all"].score.startswith("learned softmax (a 0.")


def test_a_log_is_followed_once_in_its_order():
    lists = lists_of(load_task("retrieval"))
    some = dataclasses.replace(lists, values=lists.values[:1500], right=lists.right[:1500])
    rows = log_rows("mine", some, 0.9, 0.05)
    assert [row.variant for row, _ in rows] == list(VARIANTS[1:])
    for row, sizes in rows:
        assert (row.stream, row.rounds, sizes.size) == ("mine", 1500, 1500)
        assert row.mean_set_size == sizes.mean()
        assert row.last_tenth == sizes[-150:].mean()
        assert row.first_200 == sizes[:200].mean()
    found = {row.variant: row for row, _ in rows}
    assert found["default"].mean_set_size < 0.7 * found["top-k-rrf"].mean_set_size
