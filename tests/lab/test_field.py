"""The field suite: worlds that change as they say, measures as they are defined, the same numbers twice."""

import numpy as np
import pytest
from typer.testing import CliRunner

from shortlist import AnytimeSPS, metrics, replay
from shortlist.cli import app
from shortlist.errors import InvalidParameter
from shortlist.lab.field import METHODS, RESTART, WINDOW, _worst_window, field_rows, run_field
from shortlist.lab.shifts import STEPS, TURN, WORLDS, Changing, chance_of_second, second_face
from shortlist.lab.spec import Spec
from shortlist.lab.tasks import load_task

TASKS = ("images", "retrieval", "auctions")


def test_worlds_change_as_they_say():
    assert not chance_of_second("stationary", 1000).any()
    assert chance_of_second("abrupt", 1001).sum() == 501
    drift = chance_of_second("drift", 1000)
    assert (drift[0], drift[-1], np.unique(drift).size) == (0.0, 1.0, STEPS)
    assert (np.diff(drift) >= 0).all()
    turns = chance_of_second("adversary", 4 * TURN)
    assert turns.reshape(4, TURN).mean(axis=1).tolist() == [0.0, 1.0, 0.0, 1.0]
    with pytest.raises(InvalidParameter, match="world is 'flat'"):
        chance_of_second("flat", 10)


@pytest.mark.parametrize("name", TASKS)
def test_rounds_are_drawn_from_the_law_they_are_judged_by(name):
    """The optimal threshold of each law covers its share of the rounds drawn: within six standard errors.

    False alarm: 2 * 25 * P(Z > 6) = 5e-8 for a task.
    """
    rounds = 40_000
    for world in WORLDS:
        changing = Changing(*second_face(load_task(name)), world)
        scores = changing.draw(np.random.default_rng(1), rounds).true_scores
        seen = np.zeros(rounds, dtype=bool)
        for at, law in changing.laws(rounds):
            seen[at] = True
            best = law.optimal_threshold(0.9)
            expected = 1 - float(law.miscoverage([best])[0])
            assert abs((scores[at] >= best).mean() - expected) < 6 * np.sqrt(0.09 / at.size)
        assert seen.all()


@pytest.mark.parametrize("name", TASKS)
def test_the_second_face_is_harder(name):
    first, second = (Changing(*second_face(load_task(name)), "abrupt").laws(10)[i][1] for i in (0, 1))
    if name != "auctions":
        assert second.optimal_threshold(0.9) < first.optimal_threshold(0.9)
    assert second.optimal_threshold(0.9) != first.optimal_threshold(0.9)


@pytest.mark.parametrize("name", TASKS)
def test_lists_are_counted_in_the_right_table(name):
    changing = Changing(*second_face(load_task(name)), "adversary")
    stream = changing.draw(np.random.default_rng(2), 2000)
    table, rows = stream.candidates
    assert all(np.isclose(table[row], score).any() for row, score in zip(rows, stream.true_scores, strict=True))


def test_the_worst_window_is_the_worst():
    hits = np.random.default_rng(3).random(3 * WINDOW) < 0.8
    hits[700:900] = False
    expected = min(hits[i : i + WINDOW].mean() for i in range(hits.size - WINDOW + 1))
    assert _worst_window(hits) == pytest.approx(expected)


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
    assert row.local_coverage == _worst_window(stream.true_scores >= thresholds)
    table, rows = stream.candidates
    assert row.mean_set_size == np.mean([(table[row] >= tau).sum() for row, tau in zip(rows, thresholds, strict=True)])
    regret = sum(metrics.regret(thresholds[at], law, 0.9)[-1] for at, law in changing.laws(1500))
    assert row.regret == pytest.approx(regret)


def test_the_command_writes_tables_and_figures(tmp_path):
    words = ["reproduce", "--suite", "field", "--tasks", "auctions", "--rounds", "600", "--runs", "2", "--jobs", "1"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {"field.csv", "field.md", "field-misses.png", "field-worlds.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert "### Auctions, adversary" in (tmp_path / "field.md").read_text()
    wrong = CliRunner().invoke(app, ["reproduce", "--suite", "fields", "--out", str(tmp_path)])
    assert isinstance(wrong.exception, InvalidParameter)
