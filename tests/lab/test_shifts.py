"""Distributions that shift as they say."""

import numpy as np
import pytest

from shortlist.errors import InvalidParameter
from shortlist.lab.shifts import STEPS, TURN, WORLDS, Changing, chance_of_second, second_face
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
