"""Every figure on a page is made by a command of the repository, and every one that is drawn here can be drawn."""

import importlib.util
import re

import pytest

from tests.docs.pages import PAGES, ROOT


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


figures, screenshots = script("figures"), script("screenshots")
DRAWN = {"headline", *figures.FIGURES}
TAKEN = {
    f"page-{page}-{scheme}-{size}"
    for page in screenshots.PAGES
    for scheme in ("light", "dark")
    for size in screenshots.SIZES
}
#: Made by `make bench`, `benchmarks/scale.py`, `make measure NAME=people` and `make measure NAME=field`: the name
#: stands in what makes it.
ELSEWHERE = {
    "bench-speed": "benchmarks/report.py",
    "bench-unreported": "benchmarks/report.py",
    "scale-size": "benchmarks/scale.py",
    "people-clicks": "tools/people_pages.py",
    "people-pages": "tools/people_pages.py",
    "field-misses": "src/shortlist/lab/field_output.py",
    "field-shifts": "src/shortlist/lab/field_output.py",
}


def shown():
    for page in PAGES:
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text()):
            yield page, target


def test_every_figure_is_made_by_a_command():
    for page, target in shown():
        path = (page.parent / target).resolve()
        assert path.exists(), f"{page.name} shows {target}"
        assert path.stem in DRAWN | TAKEN | set(ELSEWHERE), f"nobody makes {path.name}"
    for name, maker in ELSEWHERE.items():
        assert name in (ROOT / maker).read_text()


def test_no_figure_is_left_over():
    """What is drawn is shown, and what lies there is drawn."""
    used = {(page.parent / target).resolve().name for page, target in shown()}
    there = {path.stem for path in (ROOT / "docs" / "figures").glob("*.png")}
    assert {f"{name}.png" for name in DRAWN} <= used
    assert there <= DRAWN | TAKEN | set(ELSEWHERE)


def test_every_figure_says_what_it_shows():
    for page in PAGES:
        assert "![](" not in page.read_text(), page.name


#: Figures that take seconds to compute.
LONG = {"silence", "headline", "tutorial", "drift"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak if name in LONG else ()) for name in sorted(figures.FIGURES)]
)
def test_it_can_be_drawn(name, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    figures.draw(name, tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
