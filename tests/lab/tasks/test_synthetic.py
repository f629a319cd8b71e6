"""Uniform scores: the law is known."""

import numpy as np
import pytest

from shortlist.lab.run import law_of
from shortlist.lab.tasks import UniformTask


def test_scores_are_uniform_and_there_are_no_candidates():
    """Within six standard errors of the uniform law at nine thresholds: false alarm 2e-8."""
    task = UniformTask()
    stream = task.draw(np.random.default_rng(0), 100_000)
    cuts = np.linspace(0.1, 0.9, 9)
    assert np.abs((stream.true_scores[:, None] < cuts).mean(axis=0) - cuts).max() < 6 * 0.5 / 100_000**0.5
    assert stream.candidates is None
    assert stream.second_bids is None
    assert (stream.true_scores.min() >= 0, stream.true_scores.max() < 1) == (True, True)


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
def test_the_optimal_threshold_is_known(coverage):
    task = UniformTask()
    assert task.population is None
    assert law_of(task).optimal_threshold(coverage) == pytest.approx(1 - coverage)
