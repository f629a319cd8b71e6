"""Haystack: a pipeline with its own in-memory store, saved, loaded, and going on with the same threshold."""

import asyncio

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from shortlist import InvalidInput
from shortlist.errors import InvalidParameter
from shortlist.integrations.haystack import ShortlistFilter
from tests.integrations.world import check, questions, vector
from tests.service.running import running


def documents(scores):
    values = [float(score) for score in scores]
    return [Document(id=f"p{i}", content=f"p {score}", embedding=vector(score)) for i, score in enumerate(values)]


def pipeline(**settings):
    made = Pipeline()
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    made.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=60, scale_score=False))
    made.add_component("shortlist", ShortlistFilter(**settings))
    made.connect("retriever.documents", "shortlist.documents")
    return made, store


def ask(made):
    return made.run({"retriever": {"query_embedding": [1.0, 0.0]}})["shortlist"]


def test_two_thousand_questions():
    made, store = pipeline(score="relative", complete=True)
    component = made.get_component("shortlist")
    shown, hits = [], []
    for scores, right in questions():
        store.write_documents(documents(scores), policy=DuplicatePolicy.OVERWRITE)
        result = ask(made)
        found = [document for document in result["documents"] if document.id == f"p{right}"]
        shown.append(len(result["documents"]))
        hits.append(bool(found))
        if found:
            component.hit(found[0])
        else:
            component.miss(result["round_id"])
    check(shown, hits, "Haystack")
    assert component.summary()["score"] == "relative(0.4)"


def test_a_pipeline_is_saved_and_loaded_and_goes_on(tmp_path):
    made, store = pipeline(path=str(tmp_path / "lister.json"), complete=True)
    store.write_documents(documents([0.9, 0.5, 0.1]))
    for _ in range(120):
        result = ask(made)
        made.get_component("shortlist").hit(result["documents"][0])
    assert result["threshold"] > 0.8
    assert [document.id for document in result["documents"]] == ["p0"]
    assert set(result["documents"][0].meta) == {"shortlist"}
    text = made.dumps()
    assert "lister.json" in text
    again = Pipeline.loads(text, allowed_modules=["shortlist.integrations.haystack"])
    component = again.get_component("shortlist")
    assert component.lister.threshold == made.get_component("shortlist").lister.threshold
    assert component.lister.summary() == made.get_component("shortlist").lister.summary()


def test_it_cannot_fetch_more_and_says_so():
    made, store = pipeline()
    store.write_documents(documents([0.9, 0.5, 0.1]))
    result = ask(made)
    assert result["truncated"]
    assert all(document.meta["shortlist"]["truncated"] for document in result["documents"])


def test_with_the_service(tmp_path):
    with running(f"sqlite:///{tmp_path}/log.db") as service:
        service.make("docs")
        component = ShortlistFilter(url=service.url, stream="docs", complete=True)
        given = [Document(id="a", score=0.9, content="A"), Document(id="b", score=0.2, content="B")]
        result = component.run(documents=given, query="Which?")
        component.hit(result["documents"][0])

        async def main():
            result = await component.run_async(documents=given)
            component.miss(result["round_id"])

        asyncio.run(main())
        assert service.http.get("/v1/streams/docs").json()["misses"] == 1
        assert "api_key" not in component.to_dict()["init_parameters"]
        again = ShortlistFilter.from_dict(component.to_dict())
        assert again.url == service.url
        again.lister.close()
        component.lister.close()


def test_what_is_refused():
    with pytest.raises(InvalidParameter, match="give url and stream"):
        ShortlistFilter(url="http://localhost:8000")
    with pytest.raises(InvalidParameter, match="no path to save to"):
        ShortlistFilter().save()
    with pytest.raises(InvalidInput, match="was not shown"):
        ShortlistFilter().hit(Document(content="x"))


def test_a_file_that_was_learned_with_other_settings_is_refused(tmp_path):
    path = str(tmp_path / "lister.json")
    ShortlistFilter(coverage=0.9, path=path).save()
    for asked, message in (
        ({"coverage": 0.95}, r"was learned with coverage 0\.9, and this component has coverage 0\.95"),
        (
            {"delta": 0.2, "score": "rank"},
            r"delta None, score auto, and this component has policy AnytimeSPS, delta 0\.2, score Rank",
        ),
        ({"score": "raw"}, r"with score auto, and this component has score Raw"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            ShortlistFilter(**{"coverage": 0.9, "path": path, **asked})
    assert ShortlistFilter(coverage=0.9, path=path).lister.summary().rounds == 0
