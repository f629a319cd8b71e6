"""LlamaIndex: nodes from its own vector index, kept by a learned threshold."""

import asyncio

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQuery

from shortlist import GroupedShortlister, InvalidInput, Shortlister
from shortlist.errors import InvalidScores
from shortlist.integrations.llama_index import ShortlistPostprocessor
from tests.integrations.world import check, learned, questions, vector


class Given(BaseEmbedding):
    """A text is its own cosine with every question."""

    def _get_query_embedding(self, query):
        return [1.0, 0.0]

    async def _aget_query_embedding(self, query):
        return [1.0, 0.0]

    def _get_text_embedding(self, text):
        return vector(float(text.split()[-1]))


def nodes(scores):
    listed = [TextNode(text=f"p {score!r}", id_=f"p{i}") for i, score in enumerate(map(float, scores))]
    return [NodeWithScore(node=node, score=float(score)) for node, score in zip(listed, scores, strict=True)]


def retrieved(scores):
    """Return what LlamaIndex's own in-memory store finds."""
    listed = [TextNode(text="p", id_=f"p{i}", embedding=vector(score)) for i, score in enumerate(map(float, scores))]
    store = SimpleVectorStore()
    store.add(listed)
    found = store.query(VectorStoreQuery(query_embedding=[1.0, 0.0], similarity_top_k=60))
    by_id = {node.node_id: node for node in listed}
    return [NodeWithScore(node=by_id[i], score=s) for i, s in zip(found.ids, found.similarities, strict=True)]


def test_two_thousand_questions():
    lister = Shortlister(coverage=0.9, score="relative")
    postprocessor = ShortlistPostprocessor(lister=lister, complete=True)
    shown, hits = [], []
    for scores, right in questions():
        kept = postprocessor.postprocess_nodes(retrieved(scores), query_str="question")
        found = [node for node in kept if node.node_id == f"p{right}"]
        shown.append(len(kept))
        hits.append(bool(found))
        if found:
            postprocessor.hit(found[0])
        else:
            postprocessor.miss(kept)
    check(shown, hits, "LlamaIndex")
    assert postprocessor.summary()["score"] == "relative(0.4)"


def test_with_a_real_index():
    texts = [TextNode(text=f"p {score!r}", id_=f"p{i}") for i, score in enumerate([0.2, 0.9, 0.5])]
    index = VectorStoreIndex(texts, embed_model=Given(), show_progress=False)
    retriever = index.as_retriever(similarity_top_k=10)
    postprocessor = ShortlistPostprocessor(lister=learned(), complete=True)
    kept = postprocessor.postprocess_nodes(retriever.retrieve("question"), query_str="question")
    assert [node.node_id for node in kept] == ["p1", "p2"]
    assert set(kept[0].node.metadata) == {"shortlist"}
    assert kept[0].score == pytest.approx(0.9)  # the retriever's own
    assert "round_id" not in kept[0].node.get_content(metadata_mode=MetadataMode.LLM)  # no model reads it
    assert index.docstore.get_node("p1").metadata == {}
    postprocessor.hit(kept[0])


def test_it_cannot_fetch_more_and_says_so():
    postprocessor = ShortlistPostprocessor(lister=learned())
    kept = postprocessor.postprocess_nodes(nodes([0.9, 0.8, 0.7]))
    assert all(node.node.metadata["shortlist"]["truncated"] for node in kept)
    kept = postprocessor.postprocess_nodes(nodes([0.9, 0.8, 0.1]))
    assert [node.node.metadata["shortlist"]["truncated"] for node in kept] == [False, False]
    assert ShortlistPostprocessor(lister=learned(), complete=True).postprocess_nodes([]) == []


def test_the_loop_is_not_blocked():
    async def main():
        postprocessor = ShortlistPostprocessor(lister=Shortlister(), complete=True)
        kept = await postprocessor.apostprocess_nodes(nodes([0.9, 0.8]))
        await postprocessor.ahit(kept[0])
        kept = await postprocessor.apostprocess_nodes(nodes([0.9, 0.8]))
        await postprocessor.amiss(kept[0].node.metadata["shortlist"]["round_id"])
        return postprocessor.summary()

    summary = asyncio.run(main())
    assert (summary["hits"], summary["misses"]) == (1, 1)


def test_what_is_refused():
    with pytest.raises(ValueError, match="one lister per group"):
        ShortlistPostprocessor(lister=GroupedShortlister())
    without = [NodeWithScore(node=TextNode(text="x"))]
    with pytest.raises(InvalidScores, match="has no score"):
        ShortlistPostprocessor(lister=Shortlister()).postprocess_nodes(without)
    with pytest.raises(InvalidInput, match="was not shown"):
        ShortlistPostprocessor(lister=Shortlister()).hit(without[0])
