"""LangChain: BM25 and a vector store together, with a score and a cutoff that are learned, beside rank fusion.

Run: python examples/hybrid_langchain.py [--rounds 2000] [--squad FILE]

Needs the extras langchain and service, langchain-community, langchain-classic and rank_bm25.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any

from corpora import FETCH_K, Corpus, Outcome, Show, from_command_line, play
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from shortlist import Shortlister
from shortlist.integrations.langchain import ShortlistRetriever
from shortlist.lab.list_baselines import ReciprocalRankFusion

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # says that it is no longer maintained
    from langchain_community.retrievers import BM25Retriever


class Embedded(Embeddings):
    """Your embedding model stands here."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vector of each passage."""
        return self.corpus.embed(texts)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self.corpus.embed([text])[0]


def shown_by(retriever: ShortlistRetriever) -> Show:
    """Return what a retriever shows, and how to answer it."""

    def show(question):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        shown = retriever.invoke(question)
        documents = {document.id: document for document in shown}
        return list(documents), lambda r: retriever.miss(shown) if r is None else retriever.hit(documents[r])

    return show


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation; LangChain's default splits at spaces alone."""
    return re.findall(r"\w+", text.lower())


def searches(corpus: Corpus, split: Callable[[str], list[str]] = str.split) -> dict[str, Any]:
    """Return LangChain's own BM25 retriever and vector store."""
    documents = [Document(text, id=name) for name, text in corpus.texts.items()]
    store = InMemoryVectorStore(Embedded(corpus))
    store.add_documents(documents)
    return {"bm25": BM25Retriever.from_documents(documents, k=FETCH_K, preprocess_func=split), "dense": store}


def fused(bm25: BM25Retriever, dense: InMemoryVectorStore) -> EnsembleRetriever:
    """Return both behind LangChain's own rank fusion."""
    retriever = dense.as_retriever(search_kwargs={"k": FETCH_K})
    return EnsembleRetriever(retrievers=[bm25, retriever], weights=[0.5, 0.5])


def run(corpus: Corpus, rounds: int, split: Callable[[str], list[str]] = str.split, *, at_least: int = 0) -> Outcome:
    """Ask questions, and answer each as a person would."""
    both = searches(corpus, split)
    # Before: ensemble = EnsembleRetriever(retrievers=[bm25, store.as_retriever()]), cut off at a top-k.
    lister = Shortlister(corpus.coverage, at_least=at_least)
    auto = ShortlistRetriever(searches=both, lister=lister, fetch_k=FETCH_K)

    fusion = Shortlister(corpus.coverage, score=ReciprocalRankFusion())
    rrf = ShortlistRetriever(searches=both, lister=fusion, fetch_k=FETCH_K)
    ensemble = fused(**both)
    return play(corpus, rounds, shown_by(auto), shown_by(rrf), lambda q: [str(each.id) for each in ensemble.invoke(q)])


if __name__ == "__main__":
    run(*from_command_line(__doc__)).report("LangChain")
