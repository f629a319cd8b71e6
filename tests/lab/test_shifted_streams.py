"""Distributions that shift as they say."""

import numpy as np
import pytest

from shortlist.errors import InvalidParameter
from shortlist.lab.shifted_streams import BURST, FACES, SHIFTS, STEPS, TURN, YEAR, Shifting, faces, shares
from shortlist.lab.tasks import load_task

TASKS = ("images", "retrieval", "auctions", "tools")


def shifting(name, shift):
    return Shifting(faces(load_task(name), shift), shift)


def test_shifts_do_as_they_say():
    assert shares("stationary", 1000).tolist() == [[1.0]] * 1000
    assert shares("abrupt", 1001)[:, 1].sum() == 501
    drift = shares("drift", 1000)[:, 1]
    assert (drift[0], drift[-1], np.unique(drift).size) == (0.0, 1.0, STEPS)
    assert (np.diff(drift) >= 0).all()
    assert shares("slow drift", 1000)[:, 1].tolist() == (drift / 4).tolist()
    year = shares("seasons", 3 * YEAR)[:, 1]
    assert (year[0], year[YEAR // 2], np.unique(year).size) == (0.0, 1.0, STEPS)
    assert year.reshape(3, YEAR).tolist() == [year[:YEAR].tolist()] * 3
    assert year.mean() == pytest.approx(0.5, abs=0.03)
    burst = shares("burst", 1000)[:, 1]
    assert np.flatnonzero(burst).tolist() == list(range(500, 500 + BURST))
    turns = shares("adversary", 4 * TURN)[:, 1]
    assert turns.reshape(4, TURN).mean(axis=1).tolist() == [0.0, 1.0, 0.0, 1.0]
    steps = shares("degrading", 1000)
    assert steps.argmax(axis=1).tolist() == [i // 100 for i in range(1000)]
    for shift in SHIFTS:
        assert shares(shift, 777).sum(axis=1) == pytest.approx(np.ones(777))
    with pytest.raises(InvalidParameter, match="shift is 'flat'"):
        shares("flat", 10)
    with pytest.raises(InvalidParameter, match="uniform has no second face"):
        faces(load_task("uniform"), "abrupt")


@pytest.mark.parametrize("name", TASKS)
def test_rounds_are_drawn_from_the_law_they_are_judged_by(name):
    """The optimal threshold of each law covers its share of the rounds drawn: within six standard errors.

    False alarm: 2 * 100 * P(Z > 6) = 2e-7 for a task.
    """
    rounds = 40_000
    for shift in SHIFTS:
        task = shifting(name, shift)
        scores = task.draw(np.random.default_rng(1), rounds).true_scores
        seen = np.zeros(rounds, dtype=bool)
        for at, law in task.laws(rounds):
            seen[at] = True
            best = law.optimal_threshold(0.9)
            expected = 1 - float(law.miscoverage([best])[0])
            assert abs((scores[at] >= best).mean() - expected) < 6 * np.sqrt(0.09 / at.size)
        assert seen.all()


@pytest.mark.parametrize("shift", ["abrupt", "degrading"])
@pytest.mark.parametrize("name", TASKS)
def test_later_faces_are_harder(name, shift):
    laws = shifting(name, shift).laws(FACES)
    bests = [law.optimal_threshold(0.9) for at, law in sorted(laws, key=lambda each: each[0][0])]
    assert bests[-1] < bests[0]


@pytest.mark.parametrize("shift", ["adversary", "degrading"])
@pytest.mark.parametrize("name", TASKS)
def test_lists_are_counted_in_the_right_table(name, shift):
    task = shifting(name, shift)
    stream = task.draw(np.random.default_rng(2), 2000)
    table, rows = stream.candidates
    assert all((table[row] == score).any() for row, score in zip(rows, stream.true_scores, strict=True))
    if task.sets:
        lists = task.lists(rows)
        assert (np.sort(lists.values[:, :, 0], axis=1) == table[rows]).all()
        assert (lists.values[np.arange(2000), lists.right, 0] == stream.true_scores).all()


def test_the_first_face_is_the_task_itself():
    for name in ("images", "retrieval", "tools"):
        task = load_task(name)
        for shift in ("stationary", "abrupt", "degrading"):
            first = faces(task, shift)[0]
            assert (first.scores.candidate_scores == task.scores.candidate_scores).all()
            assert (first.population[0] == task.population[0]).all()
