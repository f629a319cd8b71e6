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
        (
            parts(),
            ["?"],
            ["doc-1"],
            {},
            r"of any of 1 questions: right_ids are like 'doc-1', and documents are like 'part-0'",
        ),
        (parts(), ["?"], [1], {}, "right_ids are like 1"),
        (parts(), ["?", "!"], ["part-1"], {}, "give a list of questions, and the id of the right document of each"),
        (parts(), "?", "p", {}, "give a list of questions"),
        (parts(), [], [], {}, "questions is empty"),
        (parts(), ["?"], ["part-1"], {"documents": [[]]}, "a ShortlistRetriever searches by itself: leave it out"),
        (
            ShortlistCompressor(lister=Shortlister()),
            ["?"],
            ["a"],
            {},
            "give a function from a question to its documents",
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
