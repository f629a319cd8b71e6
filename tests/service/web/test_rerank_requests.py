"""The request of Cohere's rerank."""

import pytest
from pydantic import ValidationError

from shortlist.errors import InvalidParameter
from shortlist.service.web.rerank_requests import Rerank


def of(**more):
    return Rerank.model_validate({"model": "docs", "query": "cat", "documents": ["a", "b"], **more})


def test_texts_are_those_of_strings_and_objects():
    assert of(documents=["a", {"text": "b", "id": 3}]).texts() == ["a", "b"]
    documents = [{"title": "T", "body": "B", "n": 1}, {"body": "C"}]
    assert of(documents=documents, rank_fields=["body", "title"]).texts() == ["body: B\ntitle: T", "body: C"]


def test_what_clients_send_besides_is_accepted():
    of(max_tokens_per_doc=512, max_chunks_per_doc=10, priority=0, return_documents=True, top_n=None, rank_fields=None)


@pytest.mark.parametrize(
    "more",
    [
        {"documents": []},
        {"documents": ["a"] * 1_001},
        {"documents": [3]},
        {"query": ""},
        {"top_n": 0},
        {"top_n": "3"},
        {"top_k": 3},
        {"model": "no/stream"},
    ],
)
def test_what_would_be_misread_is_refused(more):
    with pytest.raises(ValidationError):
        of(**more)


def test_documents_without_a_text():
    for more in (
        {"documents": ["a", {"title": "a"}]},
        {"documents": ["a", {"text": 3}]},
        {"documents": ["a", {"title": "a"}], "rank_fields": ["body"]},
    ):
        with pytest.raises(InvalidParameter, match="document 1 has no"):
            of(**more).texts()
