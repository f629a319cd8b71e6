"""The figures of an experiment: those that there is data for, in reading order."""

import dataclasses

import numpy as np
import pytest

from shortlist import AnytimeSPS, replay
from shortlist.lab.figures import draw_all, draw_lists, draw_replay
from shortlist.lab.run import run
from shortlist.lab.spec import Spec


@pytest.fixture(scope="module")
def results():
    return run(Spec(tasks=("uniform",), policies=("sps", "dlr"), rounds=200, runs=2), with_sweeps=False)


def test_only_what_there_is_data_for_is_drawn(results, tmp_path):
    """Uniform scores have no candidates, no revenue and no sweeps; two policies need no appendix."""
    drawn = draw_all(results, tmp_path / "figures")
    assert list(drawn) == ["regret", "coverage", "undercoverage", "thresholds"]
    written = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert written == sorted(f"{name}.{kind}" for name in drawn for kind in ("png", "svg"))
    assert all("2 runs" in drawn[name] for name in ("regret", "coverage", "undercoverage"))


def test_a_policy_that_is_not_the_papers_is_drawn_too(tmp_path):
    spec = Spec(tasks=("uniform",), policies=("sps", "mvp"), rounds=200, runs=1)
    with_it = run(spec, with_sweeps=False)
    assert "regret" in draw_all(with_it, tmp_path / "with")
    without = dataclasses.replace(with_it, spec=dataclasses.replace(spec, policies=("sps",)))
    draw_all(without, tmp_path / "without")
    pages = [(tmp_path / folder / "regret.svg").read_text() for folder in ("with", "without")]
    assert len(pages[0]) > len(pages[1])


def test_a_replay_is_drawn_stream_by_stream(tmp_path):
    scores = np.random.default_rng(0).random(300)
    log = {"a$b": scores, "c": scores[:100]}
    paths = {(name, "anytime"): replay(AnytimeSPS(0.9), values) for name, values in log.items()}
    draw_replay(tmp_path, log, paths, 0.9)
    assert {path.suffix for path in tmp_path.glob("replay.*")} >= {".png"}
    assert all(path.stat().st_size > 5_000 for path in tmp_path.glob("replay.*"))


def test_lists_of_a_log_are_drawn_stream_by_stream(tmp_path):
    """Also one whose lists are empty, and a fourth stream is left out."""
    sizes = np.random.default_rng(0).integers(0, 9, size=300)
    ways = {"raw": sizes, "auto": np.zeros(300, dtype=int), "top-k": np.full(300, 3), "autocut": sizes}
    draw_lists(tmp_path, dict.fromkeys(("a$b", "c", "d", "e"), ways), ("dense$", "bm25"))
    page = (tmp_path / "lists.svg").read_text()
    assert (tmp_path / "lists.png").stat().st_size > 5_000
    draw_lists(tmp_path / "one", {"a": ways}, ("",))
    assert len((tmp_path / "one" / "lists.svg").read_text()) < len(page) / 2
