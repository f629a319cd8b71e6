"""Haystack: BM25 and embeddings in one pipeline, with a score and a cutoff that are learned, beside rank fusion.

Run: python examples/hybrid_haystack.py [--rounds 2000] [--squad FILE]

Needs the extras haystack and service.
"""

from typing import Any

from corpora import FETCH_K, Corpus, Outcome, from_command_line, play
from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from shortlist.integrations.haystack import ShortlistFilter, ShortlistJoiner


def searching(store: InMemoryDocumentStore) -> Pipeline:
    """Return a pipeline with Haystack's own BM25 and embedding retrievers, not joined yet."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=FETCH_K))
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=FETCH_K, scale_score=False))
    return pipeline


def embedded(corpus: Corpus) -> InMemoryDocumentStore:
    """Return the passages with their vectors."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    pairs = zip(corpus.texts.items(), corpus.embed(list(corpus.texts.values())), strict=True)
    store.write_documents([Document(id=name, content=text, embedding=vector) for (name, text), vector in pairs])
    return store


def pipelines(corpus: Corpus, at_least: int = 0) -> tuple[Pipeline, Pipeline]:
    """Return hybrid search with a learned score, and with rank fusion."""
    store = embedded(corpus)
    auto, rrf = searching(store), searching(store)

    joiner = ShortlistJoiner(["bm25", "dense"], coverage=corpus.coverage)
    joiner.lister.configure(at_least=at_least)
    auto.add_component("shortlist", joiner)
    auto.connect("bm25.documents", "shortlist.bm25")
    auto.connect("dense.documents", "shortlist.dense")

    rrf.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    rrf.add_component("shortlist", ShortlistFilter(coverage=corpus.coverage, score="raw"))
    rrf.connect("bm25.documents", "joiner.documents")
    rrf.connect("dense.documents", "joiner.documents")
    rrf.connect("joiner.documents", "shortlist.documents")
    return auto, rrf


def asked(corpus: Corpus, question: str) -> dict[str, Any]:
    """Return the inputs of a pipeline."""
    return {"bm25": {"query": question}, "dense": {"query_embedding": corpus.embed([question])[0]}}


def answering(pipeline: Pipeline, shown: dict[str, Any]) -> Any:
    """Return the names of what was shown, and how to answer its list."""
    component, by_id = pipeline.get_component("shortlist"), {document.id: document for document in shown["documents"]}
    miss = lambda: component.miss(shown["round_id"])  # noqa: E731
    return list(by_id), lambda right: miss() if right is None else component.hit(by_id[right])


def run(corpus: Corpus, rounds: int, *, at_least: int = 0) -> Outcome:
    """Ask questions, and answer each as a person would."""
    auto, rrf = pipelines(corpus, at_least)
    order: list[str] = []

    def show(question: str) -> Any:
        return answering(auto, auto.run(asked(corpus, question))["shortlist"])

    def show_fused(question: str) -> Any:
        result = rrf.run(asked(corpus, question), include_outputs_from={"joiner"})
        order[:] = [document.id for document in result["joiner"]["documents"]]
        return answering(rrf, result["shortlist"])

    return play(corpus, rounds, show, show_fused, lambda _: order)


if __name__ == "__main__":
    run(*from_command_line(__doc__)).report("Haystack")
