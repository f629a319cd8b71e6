"""Haystack's own BM25 and embedding retrievers in one pipeline, saved and loaded, and what its tracer sees."""

import asyncio
import contextlib

import pytest
from haystack import Document, Pipeline, tracing
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tracing import Span, Tracer

from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.integrations.haystack import ShortlistJoiner
from tests.integrations.corpus import QUESTION, TEXTS, embedding

MODULES = ["shortlist.integrations.haystack", "haystack"]


def pipeline(top_k=3, **settings):
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents([Document(id=n, content=text, embedding=embedding(text)) for n, text in TEXTS.items()])
    hybrid = Pipeline()
    hybrid.add_component("bm25", InMemoryBM25Retriever(store, top_k=top_k))
    hybrid.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=top_k, scale_score=False))
    hybrid.add_component("shortlist", ShortlistJoiner(["bm25", "dense"], **settings))
    hybrid.connect("bm25.documents", "shortlist.bm25")
    hybrid.connect("dense.documents", "shortlist.dense")
    return hybrid


def inputs():
    return {
        "bm25": {"query": QUESTION},
        "dense": {"query_embedding": embedding(QUESTION)},
        "shortlist": {"query": QUESTION},
    }


def test_each_retriever_gives_its_scores():
    hybrid = pipeline()
    result = hybrid.run(inputs(), include_outputs_from={"bm25", "dense"})
    found = {
        name: {each.id: each.score for each in hybrid.get_component(name).run(**inputs()[name])["documents"]}
        for name in ("bm25", "dense")
    }
    shown = result["shortlist"]["documents"]
    assert {each.id for each in shown} == {*found["bm25"], *found["dense"]}
    assert any(None in each.meta["shortlist"]["scores"].values() for each in shown)
    for each in shown:
        assert each.meta["shortlist"]["scores"] == {
            name: pytest.approx(known.get(each.id)) for name, known in found.items()
        }
        assert each.score == each.meta["shortlist"]["score"]  # there is no single other one
        assert each.meta["shortlist"]["truncated"] is result["shortlist"]["truncated"] is True
    joiner = hybrid.get_component("shortlist")
    joiner.hit(shown[:2])
    assert joiner.summary().hits == 1
    assert result["shortlist"]["round_id"] == shown[0].meta["shortlist"]["round_id"]


def test_an_async_pipeline_and_more():
    plain = pipeline().run(inputs())["shortlist"]["documents"]
    hybrid = pipeline()
    awaited = asyncio.run(hybrid.run_async(inputs()))["shortlist"]["documents"]
    assert [each.id for each in awaited] == [each.id for each in plain]
    joiner = hybrid.get_component("shortlist")
    joiner.lister.configure(at_most=2)
    first = asyncio.run(hybrid.run_async(inputs()))["shortlist"]
    rest = joiner.more(first["round_id"])
    assert [each.id for each in first["documents"] + rest] == [each.id for each in plain]


class Seen(Span):
    def __init__(self, name, tags):
        self.name, self.tags = name, dict(tags or {})

    def set_tag(self, key, value):
        self.tags[key] = value


class Watching(Tracer):
    """Keeps every span."""

    def __init__(self):
        self.spans = []

    @contextlib.contextmanager
    def trace(self, operation_name, tags=None, parent_span=None):
        self.spans.append(Seen(operation_name, tags))
        yield self.spans[-1]

    def current_span(self):
        return self.spans[-1] if self.spans else None


def test_the_tracer_has_a_span_with_what_goes_in_and_out(monkeypatch):
    watching = Watching()
    monkeypatch.setattr(tracing.tracer, "is_content_tracing_enabled", True)
    tracing.enable_tracing(watching)
    try:
        result = pipeline().run(inputs())["shortlist"]
    finally:
        tracing.disable_tracing()
    (span,) = [each for each in watching.spans if each.tags.get("haystack.component.name") == "shortlist"]
    assert span.name == "haystack.component.run"
    assert span.tags["haystack.component.type"] == "ShortlistJoiner"
    assert set(span.tags["haystack.component.input"]) == {"bm25", "dense", "query"}
    assert span.tags["haystack.component.output"]["round_id"] == result["round_id"]


def test_a_pipeline_is_saved_and_loaded_and_goes_on(tmp_path):
    hybrid = pipeline(path=str(tmp_path / "lister.json"), complete=True, higher_is_better={"bm25": True})
    for _ in range(3):
        shown = hybrid.run(inputs())["shortlist"]["documents"]
        hybrid.get_component("shortlist").hit(shown[0])
    again = Pipeline.loads(hybrid.dumps(), allowed_modules=MODULES).get_component("shortlist")
    assert (again.searches, again.complete, again.higher_is_better) == (["bm25", "dense"], True, {"bm25": True})
    assert again.summary() == hybrid.get_component("shortlist").summary()
    assert again.summary().hits == 3


def test_what_is_refused():
    for searches in ("bm25", 5, [], [5], [[]], ["a", "a"], ["query"], ["self", "b"], [""]):
        with pytest.raises(InvalidParameter, match="searches is"):
            ShortlistJoiner(searches)
    with pytest.raises(InvalidParameter, match=r"documents of \['bm25'\], and searches are \['bm25', 'dense'\]"):
        ShortlistJoiner(["bm25", "dense"]).run(bm25=[])
    with pytest.raises(InvalidScores, match="result 0 of the search 'bm25' has no score"):
        ShortlistJoiner(["bm25"]).run(bm25=[Document(content="x")])
    assert ShortlistJoiner(["bm25", "dense"]).run(bm25=[], dense=[])["documents"] == []
