"""Panels: what is drawn is what was measured, and lines have names."""

import dataclasses

import pytest

from shortlist.lab.figure_style import label_of, panels
from shortlist.lab.panel_plots import draw_curves, draw_lengths, draw_revenue, draw_thresholds


@pytest.mark.parametrize("curve", ["regret", "coverage", "undercoverage_count", "revenue_regret"])
def test_lines_end_where_the_means_end(small, curve):
    _, (axes,) = panels(1)
    policies = ["sps", "dlr"]
    ends = draw_curves(axes, small, "auctions", policies, curve)
    expected = [small.stack("auctions", policy, curve)[:, -1].mean() for policy in policies]
    assert [end for end, _, _ in ends] == pytest.approx(expected)
    assert [name for _, name, _ in ends] == [label_of(policy) for policy in policies]
    _, labels = axes.get_legend_handles_labels()
    assert labels == [label_of(policy) for policy in policies] + ["target"] * (curve == "coverage")


def test_a_policy_that_was_not_run_is_left_out(small):
    _, (axes,) = panels(1)
    assert [name for _, name, _ in draw_curves(axes, small, "images", ["sps", "mvp"], "regret")] == ["SPS"]


def test_the_optimum_is_drawn_beside_lengths_thresholds_and_revenue(small):
    for draw in (draw_lengths, draw_thresholds, draw_revenue):
        _, (axes,) = panels(1)
        ends = {name: end for end, name, _ in draw(axes, small, "auctions", ["anytime@2/T"])}
        assert set(ends) >= {"optimal"}
        assert "optimal" in axes.get_legend_handles_labels()[1]
    without = small.yardstick("auctions", "no_reserve")[:, -1].mean()
    extra = (small.yardstick("auctions", "revenue")[:, -1].mean() - without) / small.spec.rounds
    assert ends["optimal"] == pytest.approx(extra)


def test_a_revenue_regret_below_zero_has_an_axis_that_shows_it(small):
    """Positive here, and on a log scale; turned around, it is shown too."""
    _, (axes,) = panels(1)
    draw_curves(axes, small, "auctions", ["sps"], "revenue_regret")
    assert axes.get_yscale() == "log"
    turned = {
        key: {**kept, "revenue_regret": -kept["revenue_regret"]}
        for key, kept in small.curves.items()
        if key[0] == "auctions"
    }
    _, (axes,) = panels(1)
    draw_curves(axes, dataclasses.replace(small, curves=turned), "auctions", ["sps"], "revenue_regret")
    assert axes.get_yscale() == "linear"
