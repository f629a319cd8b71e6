"""Results as tables in a notebook, and as data frames."""

import math
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

import numpy as np
import pytest
from IPython.core.formatters import HTMLFormatter

import shortlist
from shortlist._result_tables import Record, Rows, flatten
from shortlist.errors import MissingExtra


class Cells(HTMLParser):
    """The cells of a table, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.open, self.kinds = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.kinds.append((tag, dict(attrs)))
        if tag in ("th", "td", "caption"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells[-1] += data


as_html = HTMLFormatter()  # as a notebook does it


def used():
    lister = shortlist.Shortlister(coverage=0.9, score="raw")
    rng = np.random.default_rng(0)
    for _ in range(200):
        lister.reveal(lister.propose(rng.random(20)).round_id, 0)
    return lister


class Group(NamedTuple):
    name: str
    hits: int
    share: float | None = None


ROWS = Rows([Group("<b>kind</b>", 3, 0.5), Group("a & b", 1_234_567)])


def test_a_summary_is_a_table_in_a_notebook():
    summary = used().summary()
    found = Cells(as_html(summary))
    cells = dict(zip(found.cells[1::2], found.cells[2::2], strict=True))
    assert found.cells[0] == "Summary"
    assert cells["rounds"] == "200"
    assert cells["coverage_seen"] == f"{summary.coverage_seen:.4g}"
    assert cells["error_budget.size"] == "20"
    assert cells["policy.kind"] == "product-limit"
    assert cells["shadow"] == "no"
    assert "drift" not in cells  # there is none
    assert {"scope": "row", "style": "text-align: left"} in [attrs for tag, attrs in found.kinds if tag == "th"]
    assert "color" not in as_html(summary)  # the notebook's own, light or dark


def test_what_people_wrote_is_escaped():
    text = as_html(ROWS)
    assert "<b>kind</b>" not in text
    found = Cells(text)
    assert found.cells[0] == "Group: 2 rows"
    assert found.cells[1:4] == ["name", "hits", "share"]
    assert "<b>kind</b>" in found.cells
    assert "a & b" in found.cells
    assert as_html(Rows()) == "<p>no rows</p>"


def test_of_many_rows_the_first_are_shown():
    rows = Rows([Group(str(i), 1_234_567) for i in range(50)])
    found = Cells(as_html(rows))
    assert found.cells[0] == "Group: 50 rows, the first 30"
    assert sum(tag == "tr" for tag, _ in found.kinds) == 31
    assert "1,234,567" in found.cells
    assert len(rows.to_pandas()) == len(rows.to_polars()) == 50


@dataclass(frozen=True, eq=False)
class Inner(Record):
    x: float = -math.inf


@dataclass(frozen=True, eq=False)
class Outer(Record):
    inner: Inner = field(default_factory=Inner)
    empty: dict[str, float] = field(default_factory=dict)
    flag: bool = True


def test_a_record_is_one_row_of_a_frame():
    assert flatten(Outer()) == {"inner.x": -math.inf, "empty": None, "flag": True}
    assert Outer().to_pandas().to_dict("records") == [{"inner.x": -math.inf, "empty": None, "flag": True}]
    assert Outer().to_polars().to_dicts() == [{"inner.x": -math.inf, "empty": None, "flag": True}]
    summary = used().summary()
    frame, other = summary.to_pandas(), summary.to_polars()
    assert frame.shape == other.shape == (1, len(flatten(summary)))
    assert frame["rounds"][0] == other["rounds"][0] == summary.rounds


def test_rows_are_rows_of_a_frame():
    frame, other = ROWS.to_pandas(), ROWS.to_polars()
    assert frame["hits"].tolist() == other["hits"].to_list() == [row.hits for row in ROWS]
    assert list(frame.columns) == other.columns == ["name", "hits", "share"]
    assert Rows().to_pandas().shape == Rows().to_polars().shape == (0, 0)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_what_is_not_installed_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"^to_{name} needs {name}, which is not installed: pip install {name}$"):
        getattr(used().summary(), f"to_{name}")()
