"""The form of Cohere's answer."""

from shortlist.service.web.rerank_replies import Reranked


def test_an_answer_without_documents_or_warnings_is_whole():
    meta = {
        "api_version": {"version": "2"},
        "billed_units": {"search_units": 0},
        "shortlist": {"threshold": None, "truncated": False, "counts": False},
    }
    answer = Reranked.model_validate({"id": "a", "results": [{"index": 0, "relevance_score": 1}], "meta": meta})
    assert answer.results[0].document is None
    assert answer.meta.warnings is None
