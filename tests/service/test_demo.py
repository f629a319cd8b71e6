"""The demo's corpus; the page itself is tested in a browser."""

import numpy as np

from shortlist.service.demo import Corpus


def test_the_corpus_finds_what_one_means():
    corpus = Corpus()
    assert len(corpus.names) > 1500
    for question, name in (
        ("split a string into words", "str.split"),
        ("random integer", "random.randint"),
        ("sleep for some seconds", "time.sleep"),
        ("greatest common divisor", "math.gcd"),
    ):
        found = corpus.search(question)
        assert name in found.names
        assert len(found.names) <= 60
        assert list(found.scores) == ["bm25", "letters"]
        table = np.array(list(found.scores.values()))
        assert np.isnan(table).any()  # of what only one search returned
        assert not np.isnan(table).all(axis=0).any()
        full = dict(zip(found.scores, np.count_nonzero(~np.isnan(table), axis=1) == 30, strict=True))
        assert found.bounds == {key: np.nanmin(row) for key, row in found.scores.items() if full[key]}
    assert corpus.search("§§§").names == []


def test_people_who_are_simulated_ask_for_what_is_there():
    """And what was learned from them beforehand is the same every time: it is a setting of a stream that is kept."""
    corpus, rng = Corpus(), np.random.default_rng(1)
    asked = [corpus.ask(rng) for _ in range(100)]
    found = [name in corpus.search(question).names for question, name in asked]
    assert sum(found) > 90
    lists, right, scorers = corpus.labeled()
    assert scorers == ["bm25", "letters"]
    assert len(lists) == len(right) == 200
    assert sum(position >= 0 for position in right) > 180
    assert corpus.labeled() == (lists, right, scorers)
