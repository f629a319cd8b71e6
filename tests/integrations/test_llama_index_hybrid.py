"""LlamaIndex's own BM25 and vector index together, and what its dispatcher is told."""

import asyncio

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.retrievers.bm25 import BM25Retriever

from shortlist import Shortlister
from shortlist.errors import InvalidParameter, InvalidScores
from shortlist.integrations.llama_index import ShortlistFusionRetriever
from tests.integrations.corpus import QUESTION, TEXTS, embedding


class Words(BaseEmbedding):
    """How often each word occurs."""

    def _get_query_embedding(self, query):
        return embedding(query)

    async def _aget_query_embedding(self, query):
        return embedding(query)

    def _get_text_embedding(self, text):
        return embedding(text)


def retrievers(top_k=3):
    nodes = [TextNode(text=text, id_=name) for name, text in TEXTS.items()]
    index = VectorStoreIndex(nodes, embed_model=Words(), show_progress=False)
    return {
        "dense": index.as_retriever(similarity_top_k=top_k),
        "bm25": BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=top_k),
    }


def test_each_retriever_gives_its_scores():
    parts = retrievers()
    retriever = ShortlistFusionRetriever(parts, lister=Shortlister())
    shown = retriever.retrieve(QUESTION)
    single = {name: {node.node_id: node.score for node in each.retrieve(QUESTION)} for name, each in parts.items()}
    assert {node.node_id for node in shown} == {*single["dense"], *single["bm25"]}
    assert any(None in node.node.metadata["shortlist"]["scores"].values() for node in shown)
    for node in shown:
        assert node.node.metadata["shortlist"]["scores"] == {
            name: known.get(node.node_id) for name, known in single.items()
        }
        assert node.node.metadata["shortlist"]["truncated"]
        assert node.score == node.node.metadata["shortlist"]["score"]  # there is no single other one
        assert node.node.get_content(metadata_mode=MetadataMode.LLM) == TEXTS[node.node_id]  # no model reads the notes
    retriever.hit(shown[:2])
    assert retriever.summary().hits == 1


def test_sync_and_async_are_the_same_and_so_is_more():
    async def both():
        retriever = ShortlistFusionRetriever(list(retrievers().values()), Shortlister(), complete=True)
        plain, awaited = retriever.retrieve(QUESTION), await retriever.aretrieve(QUESTION)
        await retriever.amiss(awaited[0].node.metadata["shortlist"]["round_id"])
        return plain, awaited

    plain, awaited = asyncio.run(both())
    assert [node.node_id for node in plain] == [node.node_id for node in awaited]
    assert set(plain[0].node.metadata["shortlist"]["scores"]) == {"retriever_1", "retriever_2"}
    assert not plain[0].node.metadata["shortlist"]["truncated"]
    paged = ShortlistFusionRetriever(retrievers(), Shortlister(at_most=2))
    first = paged.retrieve(QUESTION)
    rest = paged.more(first[0].node.metadata["shortlist"]["round_id"])
    assert [node.node_id for node in first + rest] == [node.node_id for node in plain]


class Heard(BaseEventHandler):
    """Keeps what the dispatcher says about retrievals."""

    events: list = []  # noqa: RUF012 - pydantic copies it

    @classmethod
    def class_name(cls):
        return "Heard"

    def handle(self, event, **kwargs):
        if isinstance(event, (RetrievalStartEvent, RetrievalEndEvent)):
            self.events.append(event)


@pytest.mark.parametrize("awaited", [False, True])
def test_the_dispatcher_hears_of_our_retrieval_and_of_those_within(awaited):
    retriever, heard, dispatcher = ShortlistFusionRetriever(retrievers(), Shortlister()), Heard(), get_dispatcher()
    dispatcher.add_event_handler(heard)
    try:
        shown = asyncio.run(retriever.aretrieve(QUESTION)) if awaited else retriever.retrieve(QUESTION)
    finally:
        dispatcher.event_handlers.remove(heard)
    first, last = heard.events[0], heard.events[-1]
    assert [type(event).__name__ for event in heard.events].count("RetrievalEndEvent") == 3
    assert isinstance(first, RetrievalStartEvent)
    assert first.str_or_query_bundle == QUESTION
    assert isinstance(last, RetrievalEndEvent)
    assert [node.node_id for node in last.nodes] == [node.node_id for node in shown]
    assert last.nodes[0].node.metadata["shortlist"]["round_id"] == shown[0].node.metadata["shortlist"]["round_id"]


class Broken(BaseRetriever):
    def _retrieve(self, query_bundle):
        raise ConnectionError("the index is away")


class Scoreless(BaseRetriever):
    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=TextNode(text="x"))]


def test_a_retriever_that_fails_raises_what_it_raised_and_opens_no_round():
    retriever = ShortlistFusionRetriever({**retrievers(), "broken": Broken()}, Shortlister())
    with pytest.raises(ConnectionError, match="the index is away"):
        retriever.retrieve(QUESTION)
    with pytest.raises(ConnectionError, match="the index is away"):
        asyncio.run(retriever.aretrieve(QUESTION))
    assert retriever.summary().rounds == 0


def test_what_is_refused():
    with pytest.raises(InvalidParameter, match="give at least one by its name"):
        ShortlistFusionRetriever([], Shortlister())
    with pytest.raises(InvalidParameter, match="retriever 'dense' is 'index'; give a retriever"):
        ShortlistFusionRetriever({"dense": "index"}, Shortlister())
    with pytest.raises(InvalidScores, match="result 0 of the search 'x' has no score"):
        ShortlistFusionRetriever({"x": Scoreless()}, Shortlister()).retrieve(QUESTION)
