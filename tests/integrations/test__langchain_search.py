"""LangChain's own BM25 and vector store together, what else may stand among the searches, and what is traced."""

import asyncio
import math
import pickle
import warnings

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.vectorstores import InMemoryVectorStore

from shortlist import AsyncClient, Client, InvalidInput, Shortlister
from shortlist.errors import InvalidScores
from shortlist.integrations.langchain import ShortlistCompressor, ShortlistRetriever
from tests.integrations.corpus import QUESTION, TEXTS, embedding
from tests.service.running import running

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # says that it is no longer maintained
    from langchain_community.retrievers import BM25Retriever


class Words(Embeddings):
    """How often each word occurs."""

    def embed_documents(self, texts):
        return [embedding(text) for text in texts]

    def embed_query(self, text):
        return embedding(text)


def documents(ids=True):
    return [Document(text, id=name if ids else None) for name, text in TEXTS.items()]


def dense():
    store = InMemoryVectorStore(Words())
    store.add_documents(documents())
    return store


def bm25(ids=True):
    return BM25Retriever.from_documents(documents(ids))


def hybrid(lister=None, fetch_k=4, **others):
    searches = {"dense": dense(), "bm25": bm25(), **others}
    return ShortlistRetriever(searches=searches, lister=lister or Shortlister(), fetch_k=fetch_k)


def test_each_search_gives_its_scores_and_those_it_has_not_are_none():
    shown = hybrid(fetch_k=3).invoke(QUESTION)
    index = bm25()
    known = dict(zip(TEXTS, index.vectorizer.get_scores(index.preprocess_func(QUESTION)), strict=True))
    similar = {document.id: score for document, score in dense().similarity_search_with_score(QUESTION, k=3)}
    best = sorted(known, key=lambda name: -known[name])[:3]
    assert {document.id for document in shown} == {*best, *similar}
    for document in shown:
        scores = document.metadata["shortlist"]["scores"]
        assert scores["bm25"] == (pytest.approx(known[document.id]) if document.id in best else None)
        assert scores["dense"] == (pytest.approx(similar[document.id]) if document.id in similar else None)
        assert 0 < document.metadata["shortlist"]["score"] < 1
        assert document.metadata["shortlist"]["truncated"]  # three of six
    assert len({document.metadata["shortlist"]["round_id"] for document in shown}) == 1


def test_documents_without_ids_in_one_index_are_those_of_the_other():
    store, index = dense(), bm25(ids=False)
    retriever = ShortlistRetriever(searches={"dense": store, "bm25": index}, lister=Shortlister(), fetch_k=6)
    shown = retriever.invoke(QUESTION)
    assert {document.metadata["shortlist"]["member"] for document in shown} == set(TEXTS)
    assert all(None not in document.metadata["shortlist"]["scores"].values() for document in shown)


def test_it_learns_which_search_to_trust():
    """Two hundred questions, of which the second search knows nothing: the first has nearly all the weight."""
    noise = {"number": 0}

    def useless(query):
        noise["number"] += 1
        return [(each, math.sin(7919 * noise["number"] + 31 * i)) for i, each in enumerate(documents())]

    lister = Shortlister(delta=0.01)
    retriever = ShortlistRetriever(searches={"dense": dense(), "noise": useless}, lister=lister, fetch_k=6)
    names = list(TEXTS)
    for i in range(200):
        name = names[i % 6]
        (right,) = [each for each in retriever.invoke(TEXTS[name]) if each.id == name]
        retriever.hit(right)
    assert lister.summary().score_why.startswith("learned from 100 picks: dense 9")
    assert len(retriever.invoke(TEXTS["returns"])) < 6


def test_sync_and_async_are_the_same_and_so_is_more():
    async def both():
        retriever = hybrid()
        plain, awaited = retriever.invoke(QUESTION), await retriever.ainvoke(QUESTION)
        await retriever.ahit(awaited[:2])
        return plain, awaited, retriever

    plain, awaited, retriever = asyncio.run(both())
    assert [each.id for each in plain] == [each.id for each in awaited]
    assert [each.metadata["shortlist"]["scores"] for each in plain] == [
        each.metadata["shortlist"]["scores"] for each in awaited
    ]
    retriever.hit(plain[0])
    paged = hybrid(Shortlister(at_most=2))
    first = paged.invoke(QUESTION)
    rest = paged.more(first[0].metadata["shortlist"]["round_id"])
    assert [each.id for each in first + rest] == [each.id for each in plain]
    assert rest[0].metadata["shortlist"]["scores"] == plain[2].metadata["shortlist"]["scores"]
    paged.hit(rest[0])


class Traced(BaseCallbackHandler):
    def __init__(self):
        self.started, self.ended, self.failed = [], [], []

    def on_retriever_start(self, serialized, query, *, run_id, parent_run_id=None, tags=None, name=None, **kwargs):
        self.started.append((name, query, parent_run_id is None, tags))

    def on_retriever_end(self, documents, *, run_id, **kwargs):
        self.ended.append([document.id for document in documents])

    def on_retriever_error(self, error, *, run_id, **kwargs):
        self.failed.append(error)


def test_one_run_with_its_name_input_and_documents():
    for call in (
        lambda retriever, config: retriever.invoke(QUESTION, config=config),
        lambda retriever, config: asyncio.run(retriever.ainvoke(QUESTION, config=config)),
    ):
        handler, collector = Traced(), RunCollectorCallbackHandler()
        shown = call(hybrid(), {"callbacks": [handler, collector], "run_name": "docs"})
        assert handler.started == [("docs", QUESTION, True, [])]
        assert handler.ended == [[each.id for each in shown]]
        (run,) = collector.traced_runs
        assert (run.name, run.run_type, run.inputs, run.error) == ("docs", "retriever", {"query": QUESTION}, None)
        assert [each.id for each in run.outputs["documents"]] == [each.id for each in shown]
        assert (
            run.outputs["documents"][0].metadata["shortlist"]["round_id"] == shown[0].metadata["shortlist"]["round_id"]
        )


class Scored(BaseRetriever):
    """A retriever that writes its scores down, as some do."""

    key: str = "score"

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("new", id="new", metadata={self.key: 3.0}), Document("x", id="x", metadata={self.key: 1.0})]


def test_a_retriever_within_is_traced_below_ours():
    for key in ("score", "relevance_score"):
        handler = Traced()
        shown = hybrid(other=Scored(key=key)).invoke(QUESTION, config={"callbacks": [handler]})
        assert [each.metadata["shortlist"]["scores"]["other"] for each in shown if each.id == "new"] == [3.0]
        names = [(name, is_root) for name, _, is_root, _ in handler.started]
        assert names == [("ShortlistRetriever", True), ("Scored", False)]
        assert handler.started[1][3] == ["search:other"]


class Failing(InMemoryVectorStore):
    def similarity_search_with_score(self, query, k=4, **kwargs):
        raise ConnectionError("the store is away")

    async def asimilarity_search_with_score(self, query, k=4, **kwargs):
        raise ConnectionError("the store is away")


def test_a_search_that_fails_raises_what_it_raised_and_opens_no_round():
    handler, retriever = Traced(), hybrid(broken=Failing(Words()))
    with pytest.raises(ConnectionError, match="the store is away"):
        retriever.invoke(QUESTION, config={"callbacks": [handler]})
    with pytest.raises(ConnectionError, match="the store is away"):
        asyncio.run(retriever.ainvoke(QUESTION))
    assert [str(error) for error in handler.failed] == ["the store is away"]
    assert retriever.summary().rounds == 0


def test_functions_with_and_without_k():
    asked = []

    def with_k(query, k):
        asked.append(k)
        return [(each, float(i)) for i, each in enumerate(documents())][:k]

    async def awaited(query):
        return [(each, float(i)) for i, each in enumerate(documents())]

    def ids(shown):
        return {each.id for each in shown}

    one = ShortlistRetriever(searches={"f": with_k}, lister=Shortlister(score="raw"), fetch_k=4)
    assert ids(one.invoke(QUESTION)) == set(list(TEXTS)[:4])
    assert asked == [4]
    two = ShortlistRetriever(searches={"f": awaited}, lister=Shortlister(score="raw"), fetch_k=2)
    shown = asyncio.run(two.ainvoke(QUESTION))
    assert ids(shown) == set(list(TEXTS)[-2:])  # the best of what it returned
    assert shown[0].metadata["shortlist"]["truncated"]
    with pytest.raises(InvalidInput, match="has to be awaited: use ainvoke"):
        two.invoke(QUESTION)
    near = ShortlistRetriever(
        searches={"f": awaited}, lister=Shortlister(score="raw"), fetch_k=2, higher_is_better={"f": False}
    )
    assert ids(asyncio.run(near.ainvoke(QUESTION))) == set(list(TEXTS)[:2])


def test_a_store_given_as_its_retriever_keeps_its_filters():
    store = dense()
    keep = store.as_retriever(search_kwargs={"k": 1, "filter": lambda document: document.id != "invoice"})
    shown = ShortlistRetriever(searches={"dense": keep}, lister=Shortlister(), fetch_k=5).invoke(QUESTION)
    assert len(shown) == 5
    assert "invoice" not in {each.id for each in shown}
    with pytest.raises(ValueError, match="search_type 'mmr'"):
        ShortlistRetriever(searches={"dense": store.as_retriever(search_type="mmr")}, lister=Shortlister())


@pytest.mark.parametrize(
    ("searches", "words"),
    [
        ({}, "give at least one by its name"),
        ({"": dense()}, "give at least one by its name"),
        ({"dense": "a store"}, "search 'dense' is 'a store'; give a vector store"),
        ({"dense": InMemoryVectorStore}, "search 'dense' is <class"),
    ],
)
def test_what_is_no_search_is_refused(searches, words):
    with pytest.raises(ValueError, match=words):
        ShortlistRetriever(searches=searches, lister=Shortlister())


def test_what_has_no_scores_is_refused_with_the_remedy():
    for retriever, words in (
        (hybrid(other=EnsembleRetriever(retrievers=[bm25(), bm25()])), "EnsembleRetriever, which returns documents wi"),
        (hybrid(other=lambda query: ["text"]), "it must return pairs of a Document and its score"),
        (hybrid(other=lambda query: [(Document("x"), None)]), "result 0 of the search 'other' has no score"),
        (hybrid(other=lambda query: [(Document("x"), math.nan)]), "has the score nan"),
    ):
        with pytest.raises((InvalidScores, InvalidInput), match=words):
            retriever.invoke(QUESTION)
        assert retriever.summary().rounds == 0
    with pytest.raises(ValueError, match="higher_is_better names 'sparse'"):
        ShortlistRetriever(searches={"d": dense()}, lister=Shortlister(), higher_is_better={"sparse": False})
    with pytest.raises(ValueError, match="whose higher scores are better"):
        ShortlistRetriever(searches={"b": bm25()}, lister=Shortlister(), higher_is_better=False)
    with pytest.raises(InvalidScores, match="which takes one: use score="):
        hybrid(Shortlister(score="relative")).invoke(QUESTION)


def test_with_the_service(tmp_path):
    with running(f"sqlite:///{tmp_path}/log.db") as service, Client(service.url, "docs") as client:
        client.create(coverage=0.9)
        retriever = hybrid(client)
        shown = retriever.invoke(QUESTION)
        retriever.hit(shown[0])
        (logged,) = client.rounds()["rounds"]
        by_id = {each["id"]: each for each in logged["candidates"]}
        assert by_id[shown[0].id]["scores"] == shown[0].metadata["shortlist"]["scores"]
        assert by_id[shown[0].id]["text"] == TEXTS[shown[0].id]
        assert logged["answer"] == {"hit": shown[0].id}


# The compressor.


def test_the_compressor_takes_a_key_or_a_function():
    given = [Document(text, id=name, metadata={"rank_score": i / 10}) for i, (name, text) in enumerate(TEXTS.items())]
    keyed = ShortlistCompressor(lister=Shortlister(), score="rank_score", complete=True)
    kept = keyed.compress_documents(given, QUESTION)
    assert [each.id for each in kept] == list(TEXTS)[::-1]
    assert kept[0].metadata["shortlist"]["scores"] == {"score": 0.5}
    assert kept[0].metadata["rank_score"] == 0.5
    keyed.hit(kept[0])
    with pytest.raises(InvalidScores, match="document 0 has no 'score' in its metadata, only \\['rank_score'\\]"):
        ShortlistCompressor(lister=Shortlister()).compress_documents(given, QUESTION)

    def lengths(query, documents):
        return {"length": [len(each.page_content) for each in documents], "rank": [math.nan, 1, 2, 3, 4, 5]}

    several = ShortlistCompressor(lister=Shortlister(), score=lengths)
    kept = asyncio.run(several.acompress_documents(given, QUESTION))
    notes = {each.id: each.metadata["shortlist"]["scores"] for each in kept}
    assert notes["refunds"] == {"length": len(TEXTS["refunds"]), "rank": None}
    assert kept[0].metadata["shortlist"]["truncated"]
    with pytest.raises(InvalidScores, match="score returned 1 numbers for 6 documents"):
        ShortlistCompressor(lister=Shortlister(), score=lambda *_: [1.0]).compress_documents(given, QUESTION)

    async def awaited(query, documents):
        return [1.0] * len(documents)

    waiting = ShortlistCompressor(lister=Shortlister(), score=awaited)
    assert len(asyncio.run(waiting.acompress_documents(given, QUESTION))) == 6
    with pytest.raises(InvalidInput, match="score has to be awaited: use acompress_documents"):
        waiting.compress_documents(given, QUESTION)


def test_the_compressor_behind_an_ensemble_which_writes_no_scores():
    def score(query, documents):
        wanted = embedding(query)
        return [sum(a * b for a, b in zip(wanted, embedding(each.page_content), strict=True)) for each in documents]

    compressor = ShortlistCompressor(lister=Shortlister(), score=score, complete=True)
    ensemble = EnsembleRetriever(retrievers=[bm25(), dense().as_retriever()])
    retriever = ContextualCompressionRetriever(base_compressor=compressor, base_retriever=ensemble)
    handler = Traced()
    shown = retriever.invoke(QUESTION, config={"callbacks": [handler]})
    compressor.hit(shown[0])
    assert shown[0].id == "invoice"
    assert handler.ended[-1] == [each.id for each in shown]
    assert compressor.summary().hits == 1


@pytest.mark.parametrize("scores", [["high"], [None, 0.1, 0.2], [0.3, math.nan, 0.1], [[1.0, 2.0]]])
def test_a_score_that_is_no_number_is_refused_also_among_more_than_fetch_k(scores):
    pairs = [(Document(f"{i}", id=f"{i}"), score) for i, score in enumerate(scores)]
    with pytest.raises(InvalidScores, match="of the search 'x' has"):
        ShortlistRetriever(searches={"x": lambda _: pairs}, lister=Shortlister(), fetch_k=2).invoke("q")


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (lambda *_: None, "the scores are None; give one number for each result"),
        (lambda *_: 0.5, "the scores are 0.5; give one number for each result"),
        (lambda *_: {"a": ["high"], "b": [0.5]}, "result 0 of the search 'a' has the score 'high'"),
    ],
)
def test_scores_of_a_compressor_that_cannot_be_used_are_refused(score, words):
    with pytest.raises(InvalidScores, match=words):
        ShortlistCompressor(lister=Shortlister(), score=score).compress_documents(documents()[:1], "q")


def test_a_compressor_takes_none_for_a_score_that_is_missing():
    compressor = ShortlistCompressor(lister=Shortlister(), score=lambda *_: {"a": [None, 0.2], "b": [0.5, 0.4]})
    shown = compressor.compress_documents(documents()[:2], "q")
    assert {each.id: each.metadata["shortlist"]["scores"]["a"] for each in shown} == {
        documents()[0].id: None,
        documents()[1].id: 0.2,
    }


def test_what_returns_an_awaitable_is_awaited_or_refused():
    async def search(_):
        return [(documents()[0], 0.5)]

    class Late:
        def __call__(self, query):
            return search(query)

    retriever = ShortlistRetriever(searches={"x": Late()}, lister=Shortlister())
    assert len(asyncio.run(retriever.ainvoke("q"))) == 1
    with pytest.raises(InvalidInput, match="has to be awaited: use ainvoke"):
        retriever.invoke("q")
    with pytest.raises(InvalidInput, match="it must return pairs"):
        ShortlistRetriever(searches={"x": lambda _: None}, lister=Shortlister()).invoke("q")


def test_a_retriever_that_cuts_by_a_threshold_is_refused():
    with pytest.raises(ValueError, match="has a score_threshold in its search_kwargs"):
        ShortlistRetriever(
            searches={"x": dense().as_retriever(search_kwargs={"score_threshold": 0.5})}, lister=Shortlister()
        )


def test_an_empty_list_of_a_chain_knows_its_round():
    """A chain runs its steps in copies of the context, and hands on what they return."""
    found = [(documents()[0], 0.5)]
    retriever = ShortlistRetriever(searches={"x": lambda query: found if query else []}, lister=Shortlister())
    chain = RunnableLambda(lambda query: query) | retriever

    async def within():
        return await chain.ainvoke(""), await chain.ainvoke("")

    retriever.invoke("q")
    first, second = asyncio.run(within())
    assert (first, second) == ([], [])
    retriever.miss(first)
    retriever.absent(second)
    retriever.skip(chain.invoke("").round_id)
    summary = retriever.summary()
    assert (summary.rounds, summary.misses, summary.skipped, summary.open) == (4, 2, 1, 1)


def test_an_async_client_in_a_plain_call_is_named():
    with pytest.raises(InvalidInput, match=r"verbs have to be awaited: call the asynchronous method \(ainvoke"):
        hybrid(AsyncClient("http://127.0.0.1:1", "docs")).invoke(QUESTION)


def test_a_retriever_says_how_it_is_built_again_instead_of_being_pickled():
    for adapter in (hybrid(), ShortlistCompressor(lister=Shortlister())):
        with pytest.raises(InvalidInput, match=r"cannot be pickled, .*Shortlister.load\(path\)"):
            pickle.dumps(adapter)


def test_distances_of_a_store_are_refused_with_the_remedy():
    """A store returns the best first: two results are enough to know."""

    class Distances(InMemoryVectorStore):
        def similarity_search_with_score(self, query, k=4, **kwargs):
            return [(each, 1 - score) for each, score in super().similarity_search_with_score(query, k=k, **kwargs)]

    store = Distances(Words())
    store.add_documents(documents())
    lister = Shortlister()
    with pytest.raises(InvalidScores, match=r"of the search 'faiss' rise from .*higher_is_better={'faiss': False}"):
        ShortlistRetriever(searches={"faiss": store, "bm25": bm25()}, lister=lister).invoke(QUESTION)
    assert lister.summary().rounds == 0
    right = {"searches": {"faiss": store, "bm25": bm25()}, "lister": lister, "higher_is_better": {"faiss": False}}
    assert ShortlistRetriever(**right).invoke(QUESTION)


def test_what_was_never_shown_is_no_hit():
    retriever = ShortlistRetriever(searches={"x": dense()}, lister=Shortlister())
    for item in ("a text", None, documents()[0]):
        with pytest.raises(InvalidInput, match="was not shown by a ShortlistRetriever"):
            retriever.hit(item)
