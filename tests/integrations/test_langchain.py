"""LangChain's own in-memory store, two thousand questions, and what can go wrong with stores."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from shortlist import AsyncClient, Client, GroupedShortlister, InvalidInput, Shortlister
from shortlist.errors import InvalidParameter
from shortlist.integrations._candidates import content_name
from shortlist.integrations.langchain import ShortlistCompressor, ShortlistRetriever
from tests.integrations.world import check, learned, questions, vector
from tests.service.running import running


class Given(Embeddings):
    """Embeddings that are known: a text is its own cosine with every question."""

    def embed_documents(self, texts):
        return [vector(float(text.split()[-1])) for text in texts]

    def embed_query(self, text):
        return [1.0, 0.0]


def store(scores, ids=True):
    made = InMemoryVectorStore(Given())
    texts = [f"passage {i} {score!r}" for i, score in enumerate(map(float, scores))]
    made.add_documents([Document(text, id=f"p{i}" if ids else None) for i, text in enumerate(texts)])
    return made


def test_two_thousand_questions():
    lister = Shortlister(coverage=0.9, score="relative")
    shown, hits = [], []
    for scores, right in questions():
        retriever = ShortlistRetriever(searches={"dense": store(scores)}, lister=lister, fetch_k=60)
        documents = retriever.invoke("question")
        found = [document for document in documents if document.id == f"p{right}"]
        shown.append(len(documents))
        hits.append(bool(found))
        if found:
            retriever.hit(found[0])  # from a shown document to its answer: one line
        else:
            retriever.miss(documents)
    check(shown, hits, "LangChain")
    assert lister.summary()["open"] == 0
    assert retriever.summary()["score"] == "relative(0.4)"
    assert retriever.summary()["score_why"] == "as set"


def test_metadata_and_originals():
    made = store([0.9, 0.5, 0.1])
    retriever = ShortlistRetriever(searches={"dense": made}, lister=Shortlister())
    documents = retriever.invoke("question")
    assert [document.id for document in documents] == ["p0", "p1", "p2"]
    assert set(documents[0].metadata) == {"shortlist"}
    note = documents[0].metadata["shortlist"]
    assert set(note) == {"round_id", "member", "score", "scores", "threshold", "truncated", "kept"}
    assert note["scores"] == {"dense": pytest.approx(0.9)}
    assert (note["member"], note["threshold"], note["truncated"], note["kept"]) == ("p0", None, False, True)
    assert 0.5 < note["score"] < 1
    assert made.get_by_ids(["p0"])[0].metadata == {}  # the store's own documents are left alone
    with pytest.raises(InvalidInput, match="was not shown by a ShortlistRetriever"):
        retriever.hit(Document("another"))


def test_what_was_not_fetched_is_marked():
    scores = [0.9 - 0.004 * i for i in range(200)]  # 126 of them are at or above 0.4
    lister = learned()
    documents = ShortlistRetriever(searches={"dense": store(scores)}, lister=lister, fetch_k=5).invoke("question")
    assert len(documents) == 5
    assert all(document.metadata["shortlist"]["truncated"] for document in documents)  # never a silent loss
    documents = ShortlistRetriever(searches={"dense": store(scores)}, lister=lister, fetch_k=200).invoke("question")
    assert len(documents) == sum(score >= lister.threshold for score in scores)
    assert not documents[0].metadata["shortlist"]["truncated"]


def test_distances_are_turned():
    class Distances(InMemoryVectorStore):
        def similarity_search_with_score(self, query, k=4, **kwargs):
            return [(d, 1 - s) for d, s in super().similarity_search_with_score(query, k=k, **kwargs)]

    made = Distances(Given())
    made.add_documents([Document(f"p {score!r}", id=f"p{i}") for i, score in enumerate([0.2, 0.8, 0.5])])
    retriever = ShortlistRetriever(searches={"dense": made}, lister=Shortlister(), higher_is_better=False)
    documents = retriever.invoke("question")
    assert [document.id for document in documents] == ["p1", "p2", "p0"]
    assert documents[0].metadata["shortlist"]["scores"] == {"dense": pytest.approx(0.2)}  # as the store gave it


def test_what_is_refused():
    for wrong in ("nobody", GroupedShortlister()):
        with pytest.raises(ValueError, match=r"must be a Shortlister, a Client|one lister per group"):
            ShortlistRetriever(searches={"dense": store([0.5])}, lister=wrong)
    for wrong, message in (
        ({"fetchk": 2}, "ShortlistRetriever has no setting 'fetchk'; its settings are .*fetch_k"),
        ({"k": 5}, "ShortlistRetriever has no setting 'k'"),
        ({"searches": store([0.5])}, "searches is .*; give at least one by its name, such as {'dense'"),
        ({"fetch_k": "many"}, "fetch_k is 'many'; it must be a whole number of at least 1"),
        ({"higher_is_better": "no"}, "higher_is_better is 'no'; it must be True, or False for distances"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            ShortlistRetriever(**{"searches": {"dense": store([0.5])}, "lister": Shortlister(), **wrong})
    with pytest.raises(InvalidParameter, match="ShortlistRetriever needs 'lister'"):
        ShortlistRetriever(searches={"dense": store([0.5])})
    with pytest.raises(InvalidParameter, match="ShortlistCompressor has no setting 'scores'"):
        ShortlistCompressor(lister=Shortlister(), scores="rank")
    with pytest.raises(ValueError, match="fetch_k is 0"):
        ShortlistRetriever(searches={"dense": store([0.5])}, lister=Shortlister(), fetch_k=0)


def test_a_retriever_may_be_extended():
    class Mine(ShortlistRetriever):
        tenant: str = "x"

    assert Mine(searches={"dense": store([0.5])}, lister=Shortlister(), tenant="y").tenant == "y"


def test_documents_without_ids_are_known_by_what_they_say():
    class Nameless(InMemoryVectorStore):
        def similarity_search_with_score(self, query, k=4, **kwargs):
            pairs = super().similarity_search_with_score(query, k=k, **kwargs)
            return [(Document(document.page_content), score) for document, score in pairs]

    made = Nameless(Given())
    made.add_documents([Document("a 0.5"), Document("b 0.9")])
    retriever = ShortlistRetriever(searches={"dense": made}, lister=Shortlister())
    documents = retriever.invoke("question")
    assert [document.metadata["shortlist"]["member"] for document in documents] == [
        content_name("b 0.9"),
        content_name("a 0.5"),
    ]
    retriever.hit(documents[1])


def test_a_saved_lister_goes_on_where_it_was(tmp_path):
    lister = learned()
    lister.save(tmp_path / "lister.json")
    again = ShortlistRetriever(
        searches={"dense": store([0.9, 0.1])}, lister=Shortlister.load(tmp_path / "lister.json"), fetch_k=10
    )
    (document,) = again.invoke("question")
    assert document.metadata["shortlist"]["threshold"] == lister.threshold


def test_the_service_and_the_loop(tmp_path):
    """With a Client, and with an AsyncClient; questions and texts are stored; the loop is not blocked."""
    with running(f"sqlite:///{tmp_path}/log.db") as service:
        with Client(service.url, "docs") as client:
            client.create(coverage=0.9)
            retriever = ShortlistRetriever(searches={"dense": store([0.9, 0.5])}, lister=client)
            documents = retriever.invoke("What is it?")
            retriever.hit(documents[0])
            seen = client.rounds()["rounds"][0]
            assert (seen["question"], seen["candidates"][0]["text"]) == ("What is it?", "passage 0 0.9")
            assert seen["answer"] == {"hit": "p0"}

        async def main():
            async with AsyncClient(service.url, "docs") as client:
                retriever = ShortlistRetriever(searches={"dense": store([0.9, 0.5])}, lister=client)
                found = await asyncio.gather(*(retriever.ainvoke("question") for _ in range(20)))
                await asyncio.gather(*(retriever.ahit(documents[0]) for documents in found[:19]))
                await retriever.amiss(found[19][0].metadata["shortlist"]["round_id"])
                return await client.summary()

        summary = asyncio.run(main())
        assert (summary["hits"], summary["misses"]) == (20, 1)
        with Client(service.url, "docs") as client:  # a search that finds nothing is a round of its own, here too
            retriever = ShortlistRetriever(searches={"dense": store([])}, lister=client)
            empty = retriever.invoke("question")
            assert empty == []
            retriever.miss(empty)
            assert (client.summary()["rounds"], client.summary()["misses"]) == (22, 2)
