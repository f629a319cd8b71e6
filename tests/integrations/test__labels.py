"""Labeled questions in, short lists from the first one on: through every adapter, as its own merge would make them."""

import asyncio

import numpy as np
import pytest
from haystack import Document as HaystackDocument
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from shortlist import Client, InvalidInput, Shortlister
from shortlist.errors import InvalidParameter
from shortlist.integrations.haystack import ShortlistFilter, ShortlistJoiner
from shortlist.integrations.langchain import ShortlistCompressor, ShortlistRetriever
from shortlist.integrations.llama_index import ShortlistFusionRetriever, ShortlistPostprocessor
from tests.integrations.test_guarantee import DOCUMENTS, FEW, Retrieved, Store, same, search, two_scorers
from tests.service.running import running

LABELS = 300


def langchain(lister, tables):
    retriever = ShortlistRetriever(
        searches={"dense": Store(tables[0]), "bm25": Store(tables[1])}, lister=lister, fetch_k=FEW
    )
    return retriever, None, lambda i: [each.id for each in retriever.invoke(str(i))]


def compressor(lister, tables):
    found = lambda question: [  # noqa: E731
        Document("", id=f"p{j}", metadata={"score": score})
        for j, score in zip(*search(tables[0][int(question)], FEW), strict=True)
    ]
    made = ShortlistCompressor(lister=lister)
    return made, found, lambda i: [each.id for each in made.compress_documents(found(str(i)), "?")]


def fusion(lister, tables):
    retriever = ShortlistFusionRetriever({"dense": Retrieved(tables[0]), "bm25": Retrieved(tables[1])}, lister)
    return retriever, None, lambda i: [each.node_id for each in retriever.retrieve(str(i))]


def postprocessor(lister, tables):
    found = lambda question: [  # noqa: E731
        NodeWithScore(node=TextNode(text="", id_=f"p{j}"), score=score)
        for j, score in zip(*search(tables[0][int(question)], FEW), strict=True)
    ]
    made = ShortlistPostprocessor(lister=lister)
    return made, found, lambda i: [each.node_id for each in made.postprocess_nodes(found(str(i)))]


def in_haystack(scores):
    return [HaystackDocument(id=f"p{j}", content="", score=s) for j, s in zip(*search(scores, FEW), strict=True)]


def joiner(lister, tables):
    made = ShortlistJoiner(["dense", "bm25"], *same(lister))
    found = lambda question: {  # noqa: E731
        name: {"documents": in_haystack(table[int(question)])}
        for name, table in zip(("dense", "bm25"), tables, strict=True)
    }
    outputs = lambda i: {name: each["documents"] for name, each in found(i).items()}  # noqa: E731
    return made, found, lambda i: [each.id for each in made.run(**outputs(i))["documents"]]


def component(lister, tables):
    made = ShortlistFilter(*same(lister))
    found = lambda question: {"documents": in_haystack(tables[0][int(question)])}  # noqa: E731
    return made, found, lambda i: [each.id for each in made.run(found(i)["documents"])["documents"]]


@pytest.mark.parametrize(
    ("make", "delta"),
    [*((make, None) for make in (langchain, compressor, fusion, postprocessor, joiner, component)), (langchain, 0.05)],
)
def test_lists_are_short_and_cover_from_the_first_one_on(make, delta):
    """Coverage of 200 lists: below 0.8 by chance in 1e-5 at 0.9; seeds are fixed."""
    tables = two_scorers()
    adapter, documents, ask = make(Shortlister(0.8, delta), tables)
    questions, told = [str(i) for i in range(LABELS)], []
    found = adapter.warm_start(questions, ["p0"] * LABELS, documents, progress=lambda *done: told.append(done))
    several = make in (langchain, fusion, joiner)
    there = [
        "p0" in {f"p{j}" for table in (tables if several else tables[:1]) for j in search(table[i], FEW)[0]}
        for i in range(LABELS)
    ]
    assert found == sum(there) < LABELS
    assert told[-1] == (LABELS, LABELS)
    lists = [ask(i) for i in range(LABELS, LABELS + 200)]
    assert len(lists[0]) < FEW
    assert np.mean([len(shown) for shown in lists[:50]]) < 0.7 * FEW
    assert np.mean(["p0" in shown for shown in lists]) > 0.72
    assert adapter.summary().counted >= (LABELS if delta is None else 150)


def test_through_a_client_and_without_blocking_the_loop(tmp_path):
    with running(f"sqlite:///{tmp_path}/log.db") as service, Client(service.url, "docs") as client:
        client.create(coverage=0.8)
        retriever, _, ask = langchain(client, two_scorers())
        found = asyncio.run(retriever.awarm_start([str(i) for i in range(100)], ["p0"] * 100))
        assert 80 < found < 100
        assert len(ask(200)) < FEW


PARTS = [Document(f"part {i}", id=f"part-{i}", metadata={"source": f"doc-{i // 3}"}) for i in range(9)]


def parts(lister=None, found=None):
    scores = lambda query: [(each, 1 - 0.1 * i) for i, each in enumerate(PARTS if found is None else found)]  # noqa: E731
    return ShortlistRetriever(searches={"x": scores}, lister=lister or Shortlister(0.8))


@pytest.mark.parametrize("by", ["source", lambda metadata: metadata["source"]])
def test_right_documents_by_their_metadata(by):
    """Of the parts of a document the one that stands highest is the right one."""
    lister = Shortlister(0.8, score="raw")
    assert parts(lister).warm_start(["?"] * 40, ["doc-1"] * 40, by=by) == 40
    assert lister.threshold == 0.7  # that of part 3


def test_several_that_are_all_needed_and_one_that_is_not_found():
    lister = Shortlister(0.8, score="raw")
    right = [["part-1", "part-5"]] * 39 + [["part-1", "elsewhere"]]
    assert parts(lister).warm_start(["?"] * 40, right) == 39
    assert lister.threshold == 0.5
    assert lister.summary().counted == 40


def test_labels_that_fit_nothing_are_refused():
    for retriever, questions, right, options, message in (
        (parts(), ["?"], ["doc-1"], {}, "right_ids are like 'doc-1', and documents are like 'part-0'"),
        (parts(), ["?"], [1], {}, "right_ids are like 1"),
        (parts(), ["?", "!"], ["part-1"], {}, "there are 2 questions and 1 right_ids"),
        (parts(), "?", "p", {}, "questions is '\\?'; give a list with one entry per question"),
        (parts(), ["?"], {"part-1": 1}, {}, "right_ids is "),
        (parts(), [], [], {}, "questions is empty"),
        (parts(), ["?"], [None], {}, r"right_ids\[0\] is None; it must be the id of a document"),
        (parts(), ["?"], [[]], {}, r"right_ids\[0\] is \[\]"),
        (parts(), ["?"], [{"part-1"}], {}, r"right_ids\[0\] is \{'part-1'\}"),
        (parts(), ["?"], ["part-1"], {"documents": [[]]}, "a ShortlistRetriever searches by itself: leave it out"),
        (ShortlistCompressor(lister=Shortlister()), ["?"], ["a"], {}, "give a function from a question"),
        (
            ShortlistCompressor(lister=Shortlister()),
            ["?"],
            ["a"],
            {"documents": []},
            "documents is a list of 0, and",
        ),
        (parts(found=[]), ["?"], ["a"], {}, "documents are like None"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            retriever.warm_start(questions, right, **options)
        assert retriever.summary().counted == 0
    retriever = parts()
    retriever.invoke("?")
    with pytest.raises(InvalidParameter, match="a warm start comes before the first"):
        retriever.warm_start(["?"], ["part-1"])


def test_any_list_of_labels_will_do():
    pandas = pytest.importorskip("pandas")
    for questions, right in (
        (np.array(["?"] * 20), np.array(["part-2"] * 20)),
        (pandas.Series(["?"] * 20, index=range(7, 27)), pandas.Series(["part-2"] * 20)),
        (("?" for _ in range(20)), iter(["part-2"] * 20)),
    ):
        retriever = parts()
        assert retriever.warm_start(questions, right) == 20


def test_ids_are_compared_never_positions():
    """A document without an id is nobody's; one that is found twice still has its own; LangChain's ids are texts."""
    scored = [(Document("same", id="7"), 0.9), (Document("no id"), 0.8), (Document("again", id="7"), 0.7)]
    made = ShortlistCompressor(lister=Shortlister(0.8), score=lambda _, documents: [0.9, 0.8, 0.7][: len(documents)])
    documents = [[each for each, _ in scored]] * 20
    assert made.warm_start(["?"] * 20, [7] * 20, documents) == 20
    made = ShortlistCompressor(lister=Shortlister(0.8), score=lambda _, documents: [0.5] * len(documents))
    with pytest.raises(InvalidParameter, match="right_ids are like 0, and documents are like None"):
        made.warm_start(["?"], [0], [[Document("one"), Document("two")]])


def test_searches_scores_and_documents_may_have_to_be_awaited():
    async def found(query):
        return [(each, 1 - 0.1 * i) for i, each in enumerate(PARTS)]

    async def documents(query):
        return PARTS

    async def score(query, documents):
        return [1 - 0.1 * i for i, _ in enumerate(documents)]

    retriever = ShortlistRetriever(searches={"x": found}, lister=Shortlister(0.8))
    assert asyncio.run(retriever.awarm_start(["?"] * 20, ["part-2"] * 20)) == 20
    made = ShortlistCompressor(lister=Shortlister(0.8), score=score)
    assert asyncio.run(made.awarm_start(["?"] * 20, ["part-2"] * 20, documents)) == 20
    with pytest.raises(InvalidInput, match="documents has to be awaited: use awarm_start"):
        ShortlistCompressor(lister=Shortlister()).warm_start(["?"], ["a"], documents)


def test_an_async_client_is_named():
    class Waiting(Shortlister):
        async def propose(self, *arguments, **named):
            return super().propose(*arguments, **named)

    with pytest.raises(InvalidInput, match="warm_start has to be awaited with an AsyncClient: use awarm_start"):
        parts(Waiting()).warm_start(["?"], ["part-1"])


def test_it_is_saved(tmp_path):
    retriever = ShortlistRetriever(
        searches={"x": lambda _: [(each, 1.0 - i) for i, each in enumerate(PARTS)]},
        lister=Shortlister(0.8, score="raw"),
        autosave=tmp_path / "lister.json",
    )
    retriever.warm_start(["?"] * 20, ["part-2"] * 20)
    assert Shortlister.load(tmp_path / "lister.json").threshold == retriever.lister.threshold == -1.0
    assert DOCUMENTS > FEW
