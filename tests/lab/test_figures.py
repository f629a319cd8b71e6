"""The figures of an experiment: those that there is data for, in reading order."""

import dataclasses

import pytest

from shortlist.lab.figures import draw_all, paper_letter, paper_number, pictures
from shortlist.lab.run import run
from shortlist.lab.spec import Spec


@pytest.fixture(scope="module")
def results():
    return run(Spec(tasks=("uniform",), policies=("sps", "dlr"), rounds=200, runs=2), with_sweeps=False)


def test_only_what_there_is_data_for_is_drawn(results, tmp_path):
    """Uniform scores have no candidates, no revenue and no sweeps; two policies need no appendix."""
    drawn = draw_all(results, tmp_path / "figures")
    assert list(drawn) == ["regret", "regret_growth", "coverage", "undercoverage", "thresholds"]
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


def test_figures_have_the_papers_numbers_and_what_is_ours_is_marked(small):
    captions = {picture.name: picture.caption for picture in pictures(small)}
    numbers = {picture.name: picture.number for picture in pictures(small)}
    for i, name in enumerate(("regret", "coverage", "undercoverage")):
        assert (numbers[name], numbers[f"{name}_appendix"]) == (str(1 + i), str(4 + i))
        assert captions[name].startswith(f"Figure {1 + i} of the paper.")
        assert captions[f"{name}_appendix"].startswith(f"Figure {4 + i} of the paper.")
        assert captions[name].endswith("Not in the paper: AnytimeSPS (ours).")
    for name, caption in captions.items():
        assert bool(numbers[name]) != caption.startswith("Ours, not in the paper."), name
    assert {"revenue_regret", "list_length"} <= set(captions)


def test_a_task_of_the_papers_alone_has_its_letter(small):
    assert paper_number(dataclasses.replace(small.spec, tasks=("retrieval", "auctions")), 2) == "2b, 2c"
    alone = dataclasses.replace(small, spec=dataclasses.replace(small.spec, tasks=("auctions",)))
    regret = next(pictures(alone))
    assert regret.caption.startswith("Figure 1c of the paper.")
    assert paper_letter(regret, regret.panels[0]) == "(c) "
    assert paper_number(Spec(tasks=("uniform",)), 1) == ""


def test_other_data_is_not_called_the_papers(results):
    first = next(pictures(results))
    assert first.number == ""
    assert first.caption.startswith("As Figure 1 of the paper, on other data.")
