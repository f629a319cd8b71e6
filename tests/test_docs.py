"""Every Python block in README and docs runs."""

import re
import shutil
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_code_on_the_page_runs(page, capsys, monkeypatch, tmp_path):
    """It runs, and draws every picture that the page shows."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "figures").mkdir()
    shutil.copy(ROOT / "docs" / "house.mplstyle", tmp_path)
    namespace: dict[str, object] = {}
    with mpl.rc_context():
        for block in blocks(page):
            exec(compile(block, str(page), "exec"), namespace)
        plt.close("all")
    drawn = {f"figures/{path.name}" for path in (tmp_path / "figures").iterdir()}
    if drawn:
        assert drawn == set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", page.read_text()))
    if page.name == "README.md":
        lines = capsys.readouterr().out.splitlines()
        assert re.fullmatch(r"\d+ of 50 shown, coverage 0\.9\d", lines[0])
        assert lines[1] == "at least 84 more counted rounds before the threshold can move"


def test_links_to_files_are_not_broken():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_make_target_is_explained():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    assert phony
    for target in phony.group(1).split():
        assert re.search(rf"^{target}:.*## ", makefile, flags=re.MULTILINE), target
    assert re.search(r"^help:.*## ", makefile, flags=re.MULTILINE)


def test_the_readme_quotes_only_what_was_measured():
    """Every figure of its section on other libraries stands in benchmarks/results.md, word for word."""
    section = (ROOT / "README.md").read_text().split("## Beside other libraries")[1].split("\n## ")[0]
    measured = (ROOT / "benchmarks" / "results.md").read_text()
    quoted = re.findall(r"\d[\d,.]* ?(?:%|µs|ms|kB)|(?<=\| )\d[\d,.]*(?= \()", section)
    assert len(quoted) > 10
    for figure in quoted:
        assert figure in measured, figure
