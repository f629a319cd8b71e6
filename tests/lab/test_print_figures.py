"""Figures for print: their sizes, their fonts, the same bytes twice."""

import re
import zlib

import pytest

from shortlist.lab.print_figures import COLUMN, PAGE, print_figures
from shortlist.lab.run import run
from shortlist.lab.spec import Spec


def size_in_inches(path):
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", path.read_bytes())
    return tuple(float(number) / 72 for number in box.groups())


@pytest.fixture(scope="module")
def results():
    spec = Spec(tasks=("auctions", "uniform"), policies=("sps", "dlr"), rounds=200, runs=2)
    return run(spec, with_sweeps=False, with_lists=False)


def test_panels_are_a_column_wide_and_several_a_page(results, tmp_path):
    printed = {one.picture.name: one for one in print_figures(results, tmp_path)}
    assert printed["regret"].whole == "regret.pdf"
    assert printed["regret"].panels == {"auctions": "regret-auctions.pdf", "uniform": "regret-uniform.pdf"}
    assert printed["revenue"].whole is None  # of one panel
    assert {file for one in printed.values() for file in one.files} == {path.name for path in tmp_path.iterdir()}
    for one in printed.values():
        for name in one.panels.values():
            assert size_in_inches(tmp_path / name)[0] == pytest.approx(COLUMN)
        if one.whole:
            assert size_in_inches(tmp_path / one.whole)[0] == pytest.approx(PAGE)


def test_fonts_are_truetype_and_embedded(results, tmp_path):
    """Type 42: a TrueType font file in the PDF, and no font of Type 3, which conferences refuse."""
    print_figures(results, tmp_path)
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        assert b"/FontFile2" in data, path.name
        assert b"/Subtype /Type3" not in data, path.name
        assert b"STIXGeneral" in data, path.name


def test_the_same_figure_is_the_same_file(results, tmp_path):
    digests = []
    for folder in ("first", "again"):
        print_figures(results, tmp_path / folder)
        digests.append({path.name: zlib.crc32(path.read_bytes()) for path in (tmp_path / folder).iterdir()})
    assert digests[0] == digests[1]
