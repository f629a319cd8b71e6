"""Several searches become one list: who is who, who has which score, and what may have been left out."""

import math

import pytest

from shortlist.integrations._candidates import SearchResult, content_name, distinct, merge


def found(*rows, more=False):
    """Return a search's result of rows (id, content, score)."""
    return SearchResult([row[:2] for row in rows], [row[2] for row in rows], more=more)


def merged(**searches):
    return merge(searches, lambda item: item)


def column(candidates, search):
    return [None if math.isnan(score) else score for score in candidates.scores[search]]


def test_the_same_id_is_the_same_document_whatever_it_says():
    both = merged(dense=found(("a", "A", 0.9), ("b", "B", 0.5)), bm25=found(("b", "B, longer", 7.0), ("c", "C", 3.0)))
    assert both.ids == ["a", "b", "c"]
    assert both.items == [("a", "A"), ("b", "B"), ("c", "C")]
    assert column(both, "dense") == [0.9, 0.5, None]
    assert column(both, "bm25") == [None, 7.0, 3.0]


def test_without_an_id_a_document_is_what_it_says():
    for first, second in ((("a", None), (None, None)), ((None, None), ("a", None))):
        results = [found((first[0], "A", 1.0), (None, "B", 0.5)), found((second[0], "A", 2.0), (None, "B", 1.5))]
        both = merged(x=results[0], y=results[1])
        assert both.ids == ["a", content_name("B")]
        assert (column(both, "x"), column(both, "y")) == ([1.0, 0.5], [2.0, 1.5])


def test_two_ids_are_two_documents_even_if_they_say_the_same():
    both = merged(x=found(("a", "same", 1.0), ("b", "same", 0.5)), y=found((None, "same", 2.0)))
    assert both.ids == ["a", "b"]
    assert column(both, "y") == [2.0, None]  # of those it may be, the first


def test_a_document_that_a_search_returns_twice_has_its_better_score():
    both = merged(x=found(("a", "A", 0.2), ("a", "A", 0.9), (None, "B", 0.1), (None, "B", 0.4)))
    assert both.ids == ["a", content_name("B")]
    assert column(both, "x") == [0.9, 0.4]


def test_what_each_search_may_have_left_out_is_below_its_last_score():
    both = merged(
        x=found(("a", "A", 0.9), ("b", "B", 0.4), ("a", "A", 0.2), more=True),
        y=found(("c", "C", 7.0)),
        z=found(more=True),
    )
    assert both.below == {"x": 0.2}


def test_ids_that_no_lister_takes_are_none():
    assert merged(x=found((True, "A", 1.0), (1.5, "B", 0.5))).ids == [content_name("A"), content_name("B")]
    assert merged(x=found((3, "A", 1.0))).ids == [3]
    assert distinct(["a", True]) == [0, 1]


def test_nothing_found_is_an_empty_list():
    none = merged(x=found(), y=found())
    assert (none.items, none.ids, none.scores, none.below) == ([], [], {"x": [], "y": []}, {})
    assert none.by_member() == {}


@pytest.mark.parametrize("text", ["", "\ud800", "é"])
def test_any_text_has_a_name(text):
    assert content_name(text) == content_name(text) != content_name(text + "!")
