"""The exact regret on the theory's page, and the search for the best boundary, against every boundary there is."""

import itertools
import json

import exact
import numpy as np
import pytest

from shortlist.boundaries import expected_regret
from shortlist.boundaries.crossing import crossing
from shortlist.boundaries.exact_regret import regret_of_limits
from tests.docs.pages import ROOT

FIGURES = json.loads(exact.FILE.read_text())
THEORY = (ROOT / "docs" / "explanation" / "theory.md").read_text()


def test_the_page_has_what_was_computed():
    for mark, table in (("exact", exact.exact_table(FIGURES)), ("best", exact.best_table(FIGURES))):
        assert f"<!-- {mark} -->\n{table}\n<!-- end {mark} -->" in THEORY


def test_the_figures_are_computed_again():
    """Those of short runs; the rest takes `make measure NAME=exact`."""
    for row in FIGURES["grid"]:
        if row["rounds"] == 1000:
            again = expected_regret(exact.rules(1000)[row["rule"]], row["coverage"], 1000)
            assert again == pytest.approx(row["exact"], rel=1e-9)
    row = next(row for row in FIGURES["best"] if (row["coverage"], row["rounds"]) == (0.9, 1000))
    assert exact.best(0.9, 1000, row["delta"]) == pytest.approx(row, rel=1e-6)


def test_simulation_agrees_everywhere():
    """45 means of 10,000 runs within five standard errors of what was computed; the seeds are fixed."""
    assert len(FIGURES["grid"]) == 45
    for row in FIGURES["grid"]:
        assert abs(row["mean"] - row["exact"]) < 5 * row["error"], row


def test_what_the_page_says_of_the_best_boundary():
    for row in FIGURES["best"]:
        assert row["bound"] * (1 - 1e-9) <= row["reached"] < 1.001 * row["bound"], row
        assert row["spent"] <= row["delta"]
        if row["delta"] < 0.05:
            assert row["calibrated"] < 1.02 * row["bound"], row
        else:
            assert 0.015 < row["spent"] < 0.03, "some 2 % are spent where 5 % are allowed"


def every_boundary(rounds):
    """All non-decreasing limits of so few rounds."""
    for limits in itertools.product(*(range(-1, n) for n in range(1, rounds))):
        if all(before <= after for before, after in itertools.pairwise(limits)):
            yield np.array(limits)


@pytest.mark.parametrize("coverage", [0.5, 0.8])
def test_no_boundary_is_better_than_the_best(coverage):
    """All 429 boundaries of seven rounds, one by one: the bound holds for each, and one of them reaches it."""
    rounds = 7
    judged = [
        (regret_of_limits(limits, coverage, rounds), crossing(limits, coverage)) for limits in every_boundary(rounds)
    ]
    assert len(judged) == 429
    for price in (0.0, 0.3, 3.0, 30.0):
        least = min(regret + price * spent for regret, spent in judged)
        found = exact.stop_best(coverage, rounds, price)
        limits = np.maximum.accumulate(found.limits)
        reached = regret_of_limits(limits, coverage, rounds) + price * crossing(limits, coverage)
        assert found.value <= least + 1e-12
        assert reached == pytest.approx(least, rel=1e-9)
        if (limits == found.limits).all():
            assert found.value == pytest.approx(least, rel=1e-9)
    for delta in (0.02, 0.1, 0.3):
        found = exact.best(coverage, rounds, delta)
        least = min(regret for regret, spent in judged if spent <= delta)
        assert found["bound"] <= least + 1e-12
        assert found["reached"] >= least - 1e-12
