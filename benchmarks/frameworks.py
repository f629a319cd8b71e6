"""A round through three frameworks: top-k, the framework's own rank fusion, and shortlist over the same two searches.

All searches run in memory, on the same made-up passages, with vectors computed beforehand: what is timed is the
framework, its searches and what is done with their results. A round of shortlist includes the user's answer.
The examples of hybrid search construct the searches.
"""

import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyperf

__all__ = ["FRAMEWORKS", "WAYS", "framework_round"]

FRAMEWORKS = {"langchain": "LangChain", "llama_index": "LlamaIndex", "haystack": "Haystack"}
#: The ways to make a list, and the k of the first.
WAYS, TOP_K = ("top-k", "rrf", "auto"), 10
PASSAGES, WORDS, SIZE = 1_000, 60, 64
#: Rounds before the timed ones, in which the score and its threshold are learned, and rounds per block.
LEARNED, BLOCK = 500, 50

Ask = Callable[[str, str], Any]  # a question, and the name of its right passage


@cache
def _corpus() -> Any:
    """Return passages of made-up words, and questions of a few of theirs, all with vectors that are ready."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    corpora = importlib.import_module("corpora")
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"word{number}" for number in range(3_000)])
    weights = 1 / np.arange(10, 10 + vocabulary.size)
    drawn = rng.choice(vocabulary, size=(PASSAGES, WORDS), p=weights / weights.sum())
    texts = {f"p{number}": " ".join(words) for number, words in enumerate(drawn)}
    questions = [(" ".join(rng.choice(words, size=6)), f"p{number}") for number, words in enumerate(drawn)]
    passages = rng.normal(size=(PASSAGES, SIZE))
    asked = passages + rng.normal(size=passages.shape)
    vectors = dict(zip(texts.values(), passages.tolist(), strict=True))
    vectors |= dict(zip((question for question, _ in questions), asked.tolist(), strict=True))

    class Ready(corpora.Corpus):  # type: ignore[misc, name-defined]
        def embed(self, texts: list[str]) -> list[list[float]]:
            return [vectors[text] for text in texts]

    return Ready(texts, questions, coverage=0.9)


def _langchain(way: str) -> Ask:
    hybrid: Any = importlib.import_module("hybrid_langchain")
    both = hybrid.searches(_corpus())
    if way == "auto":
        lister = hybrid.Shortlister(0.9)
        auto = hybrid.ShortlistRetriever(searches=both, lister=lister, fetch_k=hybrid.FETCH_K)
        return _answered(hybrid.shown_by(auto))
    plain = hybrid.fused(**both) if way == "rrf" else both["dense"].as_retriever(search_kwargs={"k": TOP_K})
    return lambda question, _: plain.invoke(question)[:TOP_K]


def _llama_index(way: str) -> Ask:
    hybrid: Any = importlib.import_module("hybrid_llama_index")
    both = hybrid.retrievers(_corpus())
    if way == "auto":
        auto = hybrid.ShortlistFusionRetriever(both, lister=hybrid.Shortlister(0.9))
        return _answered(lambda question: hybrid.answering(auto, auto.retrieve(question)))
    if way == "top-k":
        both["dense"].similarity_top_k = TOP_K
    plain = hybrid.fused(**both) if way == "rrf" else both["dense"]
    return lambda question, _: plain.retrieve(question)[:TOP_K]


def _haystack(way: str) -> Ask:
    hybrid: Any = importlib.import_module("hybrid_haystack")
    corpus = _corpus()
    store = hybrid.embedded(corpus)
    if way == "auto":
        auto = hybrid.pipelines(corpus)[0]
        return _answered(lambda question: hybrid.answering(auto, auto.run(hybrid.asked(corpus, question))["shortlist"]))
    if way == "rrf":
        plain = hybrid.searching(store)
        plain.add_component("joiner", hybrid.DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=TOP_K))
        plain.connect("bm25.documents", "joiner.documents")
        plain.connect("dense.documents", "joiner.documents")
        return lambda question, _: plain.run(hybrid.asked(corpus, question))
    plain = hybrid.Pipeline()
    plain.add_component("dense", hybrid.InMemoryEmbeddingRetriever(store, top_k=TOP_K, scale_score=False))
    return lambda question, _: plain.run({"dense": hybrid.asked(corpus, question)["dense"]})


def _answered(show: Callable[[str], Any]) -> Ask:
    """Return what asks, and answers as a user would."""

    def ask(question: str, right: str) -> Any:
        names, answer = show(question)
        answer(right if right in names else None)
        return names

    return ask


def framework_round(framework: str, way: str) -> Callable[[], tuple[float, int]]:
    """Time a question to a framework, and its answer where one is learned from."""
    questions = _corpus().ask(LEARNED + BLOCK)
    ask = {"langchain": _langchain, "llama_index": _llama_index, "haystack": _haystack}[framework](way)
    for question, right in questions[:LEARNED] if way == "auto" else questions[:BLOCK]:
        ask(question, right)

    def timed() -> tuple[float, int]:
        start = pyperf.perf_counter()
        for question, right in questions[LEARNED:]:
            ask(question, right)
        return pyperf.perf_counter() - start, BLOCK

    return timed
