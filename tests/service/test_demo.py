"""The demo's corpus; the page itself is tested in a browser."""

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
        found = [found for found, _, _ in corpus.search(question)]
        assert name in found
        assert len(found) <= 50
    assert corpus.search("xyzzy plugh") == []
