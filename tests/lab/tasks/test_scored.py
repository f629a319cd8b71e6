"""Tasks dealt from a score file."""

import numpy as np
import pytest

from shortlist import metrics
from shortlist.lab.run import law_of
from shortlist.lab.tasks import (
    load_task,
)


def test_the_optimal_thresholds_are_those_of_the_prototype():
    """Mean list lengths at the optimal threshold, and the reserve price, as measured elsewhere."""
    for name, length in (("images", 3.27), ("retrieval", 11.2)):
        task = load_task(name)
        best = law_of(task).optimal_threshold(0.9)
        sizes = metrics.set_size(
            np.full(len(task.scores.true_scores), best), task.scores.candidate_scores.astype(np.float64)
        )
        assert sizes.mean() == pytest.approx(length, rel=0.03)
    law = law_of(load_task("auctions"))
    assert law.optimal_threshold(0.9) == 180.0
    assert float(law.miscoverage(180.0)) == pytest.approx(0.0915, abs=5e-5)
