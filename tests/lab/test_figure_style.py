"""How figures look: lines told apart, names that do not overlap, the same file twice."""

import itertools

import numpy as np
import pytest

from shortlist.lab.figure_style import finish, label, label_of, line, line_style, panels, plain, save, spread, style
from shortlist.policies import PAPER, REGISTRY


def test_every_line_of_the_paper_is_told_apart_by_more_than_colour():
    """In grey as well: no two policies share colour and dashes."""
    styles = [(line_style(name)["color"], str(line_style(name).get("ls"))) for name in PAPER]
    assert len(set(styles)) == len(PAPER)


def test_every_policy_of_the_package_is_told_apart():
    styles = [(line_style(name)["color"], str(line_style(name).get("ls"))) for name in REGISTRY]
    assert len(set(styles)) == len(REGISTRY)


def test_a_policy_of_ones_own_has_none_of_the_papers_colours():
    papers = {line_style(name)["color"] for name in PAPER}
    assert not papers & {line_style(f"Mine{i}")["color"] for i in range(50)}


def test_a_policy_of_ones_own_gets_a_line_by_its_name():
    assert line_style("MyPolicy") == line_style("MyPolicy")
    assert line_style("MyPolicy") != line_style("MyOther")
    assert (label_of("MyPolicy"), label_of("sps")) == ("MyPolicy", "SPS")


def test_a_line_ends_where_its_mean_does():
    figure, (axes,) = panels(1)
    runs = np.array([[1.0, 2.0], [3.0, 6.0]])
    assert line(axes, np.array([1, 2]), runs, "sps") == (4.0, label_of("sps"), line_style("sps")["color"])
    assert axes.lines[0].get_ydata().tolist() == [2.0, 4.0]
    assert figure.axes == [axes]


def test_names_at_the_ends_of_lines_are_pushed_apart():
    figure, (axes,) = panels(1)
    axes.set_ylim(0, 1)
    label(figure, axes, [(0.5, "a", "red"), (0.5, "b", "red"), (0.51, "c", "red"), (2.0, "d", "red")])
    heights = [text.xyann[1] for text in axes.texts]
    gaps = np.diff(heights)
    assert (gaps > 0.05).all()
    assert max(heights) == 1.0
    assert [text.xy[1] for text in axes.texts] == [0.5, 0.5, 0.51, 1.0]  # a leader points at where the line ends
    assert all(text.arrow_patch is not None for text in axes.texts)
    label(figure, axes, [])
    assert len(axes.texts) == 4


def test_names_that_have_room_stay_where_their_lines_end():
    figure, (axes,) = panels(1)
    axes.set_ylim(0, 1)
    label(figure, axes, [(0.2, "a", "red"), (0.8, "b", "red")])
    assert [text.xyann[1] for text in axes.texts] == [0.2, 0.8]
    assert [text.arrow_patch for text in axes.texts] == [None, None]


def test_spread_moves_as_little_as_possible_and_stays_inside():
    rng = np.random.default_rng(0)
    for _ in range(200):
        heights = np.sort(rng.random(rng.integers(1, 8))).tolist()
        placed = spread(heights, 0.1)
        assert all(b - a >= 0.1 - 1e-9 for a, b in itertools.pairwise(placed))
        assert placed[0] >= -1e-9
        assert placed[-1] <= 1 + 1e-9
    assert spread([0.2, 0.5], 0.1) == [0.2, 0.5]


def test_a_dollar_is_a_dollar():
    assert plain("a$x^$b") == r"a\$x^\$b"
    figure, (axes,) = panels(1)
    finish(axes, "$100 $x", rounds=10)
    figure.canvas.draw()  # would fail on the start of a formula
    assert axes.get_xlim() == (0, 10)


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_figure_is_the_same_file(tmp_path, kind):
    for name in ("first", "again"):
        with style():
            figure, (axes,) = panels(1)
            line(axes, np.arange(3), np.array([[1.0, 2.0, 3.0]]), "sps")
            save(figure, tmp_path, name)
    first, again = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("first", "again"))
    assert first == again
