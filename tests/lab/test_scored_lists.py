"""Lists as a lister takes them, and their comparable scores all at once."""

import numpy as np

from shortlist.lab.scored_lists import lengths_at, score_lists
from shortlist.scores import Relative
from tests.lab.test_list_baselines import ragged


def test_one_scorer_alone_has_its_own_candidates_only():
    lists = ragged()
    first = lists.first
    assert (first.there == ~np.isnan(lists.values[:, :, 0])).all()
    lost = (lists.right >= 0) & np.isnan(lists.values[np.arange(len(lists.right)), lists.right, 0])
    assert lost.any()
    assert (first.right[lost] == -1).all()
    assert (first.right[~lost] == lists.right[~lost]).all()


def test_scores_are_those_of_each_list_alone():
    """Ragged lists, some without their right answer: scores, the right one's among them, and lengths at thresholds."""
    lists = ragged().first
    scored = score_lists(lists, Relative())
    rows = np.random.default_rng(0).integers(len(lists.values), size=200)
    thresholds = np.random.default_rng(1).random(200) / 3
    for row, threshold, length in zip(rows, thresholds, lengths_at(scored, rows, thresholds), strict=True):
        table, right = lists.table(row)
        alone = Relative()(table)
        assert scored.scores[row][lists.there[row]].tolist() == alone.tolist()
        assert scored.true[row] == (-np.inf if right < 0 else alone[right])
        assert length == (alone >= threshold).sum()
