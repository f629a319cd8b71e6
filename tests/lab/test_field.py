"""The field suite: measures as they are defined, the same numbers twice."""

import numpy as np
import pytest

from shortlist import SPS, AnytimeSPS, Greedy, metrics, replay
from shortlist.lab.field import METHODS, RESTART, WINDOW, field_rows, run_field
from shortlist.lab.shifts import WORLDS, Changing, second_face
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import load_task


def worst_window(hits):
    """The lowest coverage of any stretch of WINDOW rounds, one by one."""
    return min(hits[i : i + WINDOW].mean() for i in range(hits.size - WINDOW + 1))


@pytest.mark.parametrize("world", ["abrupt", "adversary"])
def test_the_worst_window_is_the_worst(world):
    spec = Spec(rounds=3 * WINDOW, runs=1)
    scores = (
        Changing(*second_face(load_task("retrieval")), world)
        .draw(spec.generator("retrieval", f"field {world}", 0), spec.rounds)
        .true_scores
    )
    rows = {row.method: row for row in field_rows(spec, "retrieval", world, 0) if row.feedback == "semi-bandit"}
    for method, policy in (("AnytimeSPS", AnytimeSPS(0.9)), ("SPS", SPS(0.9, spec.rounds)), ("Greedy", Greedy(0.9))):
        expected = worst_window(scores >= replay(policy, scores))
        assert rows[method].local_coverage == pytest.approx(expected)
        assert rows[method].local_coverage <= rows[method].coverage


def test_every_method_is_there_and_twice_the_same():
    spec = Spec(tasks=("retrieval",), policies=("sps",), rounds=800, runs=2)
    rows = run_field(spec)
    assert rows == run_field(spec)
    assert {row.method for row in rows} == {*METHODS, RESTART}
    assert {row.world for row in rows} == set(WORLDS)
    told = {row.feedback for row in rows if row.method == "SAOCP" and row.world == "stationary"}
    assert told == {"full", "dropped", "threshold", "beyond"}


def test_a_row_is_what_it_says():
    spec = Spec(rounds=1500, runs=1)
    row = next(row for row in field_rows(spec, "retrieval", "abrupt", 0) if row.method == "AnytimeSPS")
    changing = Changing(*second_face(load_task("retrieval")), "abrupt")
    stream = changing.draw(spec.generator("retrieval", "field abrupt", 0), 1500)
    thresholds = replay(AnytimeSPS(0.9), stream.true_scores)
    assert row.coverage == (stream.true_scores >= thresholds).mean()
    past = sum((thresholds[at] > law.optimal_threshold(0.9)).sum() for at, law in changing.laws(1500))
    assert row.undercoverage_count == past
    assert row.local_coverage == pytest.approx(worst_window(stream.true_scores >= thresholds))
    table, rows = stream.candidates
    assert row.mean_set_size == np.mean([(table[row] >= tau).sum() for row, tau in zip(rows, thresholds, strict=True)])
    regret = sum(metrics.regret(thresholds[at], law, 0.9)[-1] for at, law in changing.laws(1500))
    assert row.regret == pytest.approx(regret)
