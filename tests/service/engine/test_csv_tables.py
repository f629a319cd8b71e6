"""Tables as CSV."""

import csv

import pytest

from shortlist.service.engine.csv_tables import as_csv, safe


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-1", "@a", "\tx"])
def test_no_text_is_a_formula(text):
    assert safe(text) == "'" + text
    assert next(csv.reader([as_csv(["a"], [[text]]).split("\n", 1)[1]])) == ["'" + text]


def test_no_two_texts_become_the_same():
    texts = ["=a", "'=a", "''=a", "'a", "a", "-", "'-"]
    assert len({safe(text) for text in texts}) == len(texts)
    assert safe("'a") == "'a"


def test_numbers_and_other_texts_stay_as_they_are():
    assert [safe(cell) for cell in (-1.5, 3, None, "de", "a=b")] == [-1.5, 3, None, "de", "a=b"]
    assert as_csv(["a", "b"], [["x,y", None]]) == 'a,b\n"x,y",\n'
