"""The experiment: the same numbers however it is run."""

import dataclasses
import subprocess
import sys

import numpy as np

from shortlist import metrics, replay
from shortlist.lab.run import grid, run
from shortlist.lab.spec import Spec
from tests.cli.command import OWN
from tests.lab.small import SMALL, without_seconds


def test_one_or_two_jobs_give_the_same_rows(small):
    both = run(SMALL, jobs=2, with_sweeps=False)
    assert repr(without_seconds(both.rows)) == repr(without_seconds(small.rows))
    assert both.settings == small.settings
    for key, curves in small.curves.items():
        for name, values in curves.items():
            assert values.tobytes() == both.curves[key][name].tobytes()


def test_a_task_gives_the_same_rows_whatever_else_is_run(small):
    alone = run(dataclasses.replace(SMALL, tasks=("auctions",), policies=("sps", "dlr")), with_sweeps=False)
    expected = [row for row in small.rows if row.task == "auctions" and row.policy in ("sps", "dlr")]
    assert repr(without_seconds(alone.rows)) == repr(without_seconds(expected))


def test_another_seed_gives_other_rows(small):
    other = run(dataclasses.replace(SMALL, seed=1, tasks=("auctions",), policies=("sps",)), with_sweeps=False)
    before = [row.regret for row in small.rows if (row.task, row.policy) == ("auctions", "sps")]
    assert [row.regret for row in other.rows] != before


def test_the_chosen_setting_has_the_least_tuning_regret(small):
    assert set(small.settings) == {(task, policy) for task in SMALL.task_names for policy in SMALL.grids}
    for key, chosen in small.settings.items():
        assert small.tuning[key][chosen] == min(small.tuning[key].values())
        assert set(small.tuning[key]) == set(SMALL.grids[key[1]])


def test_curves_end_where_rows_end(small):
    for row in small.rows:
        kept = small.curves[row.task, row.policy, row.run]
        assert kept["regret"][-1] == row.regret
        assert kept["coverage"][-1] == row.coverage
        assert kept["set_size"][-1] / SMALL.rounds == row.mean_set_size
    assert small.rounds[-1] == SMALL.rounds
    assert (np.diff(grid(77)) > 0).all()


def test_without_numba_the_rows_are_the_same(small):
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'numba' else real(name, *rest)\n"
        "from shortlist.lab.run import run\n"
        "from shortlist.lab.spec import Spec\n"
        "rows = run(Spec(rounds=1500, runs=2, tuning_runs=1), with_sweeps=False).rows\n"
        "print([(r.task, r.policy, r.run, r.regret.hex(), r.coverage.hex(), r.mean_set_size.hex()) for r in rows])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    expected = [(r.task, r.policy, r.run, r.regret.hex(), r.coverage.hex(), r.mean_set_size.hex()) for r in small.rows]
    assert done.stdout.strip() == repr(expected)


def test_revenue_regret_is_of_the_thresholds_and_the_exact_law_of_bids(small):
    """Brute force: the highest of five draws by counting, the price times the share of auctions that sell."""
    task, values = (
        SMALL.task("auctions"),
        np.repeat(SMALL.task("auctions").bids.values, SMALL.task("auctions").bids.counts),
    )
    stream = task.draw(SMALL.generator("auctions", "run", 0), SMALL.rounds)
    thresholds = replay(SMALL.policy("sps"), stream.true_scores)

    def brought(price):
        return max(price, 0.0) * (1 - np.mean(values < price) ** 5)

    best = metrics.Population(*task.population).optimal_threshold(0.9)
    expected = np.cumsum([brought(best) - brought(price) for price in thresholds])
    kept = small.curves["auctions", "sps", 0]["revenue_regret"]
    np.testing.assert_allclose(kept, expected[small.rounds - 1], rtol=1e-9)
    assert "revenue_regret" not in small.curves["images", "sps", 0]


def test_the_weights_of_regret_choose_the_settings():
    """With no cost of covering too little to speak of, ETC explores as little as it may; with a high one, long."""
    spec = Spec(tasks=("uniform",), policies=("etc",), rounds=1000, runs=1, tuning_runs=3, etc_shares=(0.1, 0.9))
    chosen = [
        run(dataclasses.replace(spec, lambda2=weight), with_sweeps=False).settings["uniform", "etc"]
        for weight in (1e-6, 1e3)
    ]
    assert chosen == [0.1, 0.9]


def test_a_policy_of_ones_own_is_tuned(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    spec = Spec(tasks=("uniform",), policies=("sps", f"{path}:Gained"), rounds=300, runs=2, tuning_runs=2)
    assert spec.grids == {"Gained": (0.01, 0.1, 1.0)}
    results = run(spec, with_sweeps=False)
    tuned = results.tuning["uniform", "Gained"]
    assert set(tuned) == {0.01, 0.1, 1.0}
    assert results.settings["uniform", "Gained"] == min(tuned, key=tuned.get)
