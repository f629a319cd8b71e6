"""LlamaIndex: BM25 and a vector index together, with a score and a cutoff that are learned, beside rank fusion.

Run: python examples/hybrid_llama_index.py [--rounds 2000] [--squad FILE]

Needs the extras llama-index and service, and llama-index-retrievers-bm25.
"""

from typing import Any

from corpora import FETCH_K, Corpus, Outcome, Show, from_command_line, play
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.retrievers.bm25 import BM25Retriever

from shortlist import Shortlister
from shortlist.integrations.llama_index import ShortlistFusionRetriever, ShortlistPostprocessor


class Embedded(BaseEmbedding):
    """Your embedding model stands here."""

    corpus: Any

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.corpus.embed([query])[0]  # type: ignore[no-any-return]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self.corpus.embed(texts)  # type: ignore[no-any-return]


def answering(adapter: Any, nodes: list[NodeWithScore]) -> Any:
    """Return the names of nodes, and how to answer their list."""
    by_id = {node.node_id: node for node in nodes}
    return list(by_id), lambda right: adapter.miss(nodes) if right is None else adapter.hit(by_id[right])


def retrievers(corpus: Corpus) -> dict[str, Any]:
    """Return LlamaIndex's own BM25 retriever and vector index."""
    nodes = [TextNode(text=text, id_=name) for name, text in corpus.texts.items()]
    index = VectorStoreIndex(nodes, embed_model=Embedded(corpus=corpus, embed_batch_size=512))
    bm25 = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=FETCH_K)
    return {"bm25": bm25, "dense": index.as_retriever(similarity_top_k=FETCH_K)}


def fused(bm25: Any, dense: Any) -> QueryFusionRetriever:
    """Return both behind LlamaIndex's own rank fusion."""
    return QueryFusionRetriever(
        [bm25, dense],
        llm=MockLLM(),
        mode="reciprocal_rerank",  # type: ignore[arg-type]
        num_queries=1,
        similarity_top_k=2 * FETCH_K,
        use_async=False,
    )


def run(corpus: Corpus, rounds: int, *, at_least: int = 0) -> Outcome:
    """Ask questions, and answer each as a person would."""
    both = retrievers(corpus)
    # Before: QueryFusionRetriever([bm25, dense], mode="reciprocal_rerank", similarity_top_k=5).
    auto = ShortlistFusionRetriever(both, lister=Shortlister(corpus.coverage, at_least=at_least))

    fusion = fused(**both)
    rrf = ShortlistPostprocessor(lister=Shortlister(corpus.coverage, score="raw"))
    order: list[NodeWithScore] = []

    def show_fused(question: str) -> Any:
        order[:] = fusion.retrieve(question)
        return answering(rrf, rrf.postprocess_nodes(order, query_str=question))

    show: Show = lambda question: answering(auto, auto.retrieve(question))  # noqa: E731
    return play(corpus, rounds, show, show_fused, lambda _: [node.node_id for node in order])


if __name__ == "__main__":
    run(*from_command_line(__doc__)).report("LlamaIndex")
