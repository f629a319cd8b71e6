"""The reranker behind the service: what it may answer, and what it can reach."""

import asyncio
import logging
import math

import pytest

from shortlist._bm25 import BM25
from shortlist.errors import InvalidParameter, MissingExtra, ServiceUnavailable
from shortlist.service import reranker as module
from shortlist.service.reranker import Reranker, RerankerSettings, score
from tests.service.upstream import BODIES, overlap, reranking

QUERY, DOCUMENTS = "where is the cat", ["the cat is here", "a dog"]


@pytest.fixture
def upstream():
    with reranking() as upstream:
        yield upstream


def scored(settings, documents=DOCUMENTS, times=1):
    async def run():
        client = Reranker(settings)
        try:
            return [await score(QUERY, documents, client) for _ in range(times)]
        finally:
            await client.close()

    return asyncio.run(run())


def test_the_scores_are_its_own_beside_bm25(upstream):
    settings = RerankerSettings(f"{upstream.url}/rerank?a=b", "small", "key")
    (result,) = scored(settings)
    assert result.scores["reranker"] == [overlap(QUERY, each) for each in DOCUMENTS]
    assert result.scores["bm25"] == BM25(DOCUMENTS).scores(QUERY).tolist()
    assert result.warning is None
    ((path, headers, body),) = upstream.requests
    assert path == "/rerank?a=b"
    assert headers["Authorization"] == "Bearer key"
    assert body == {"model": "small", "query": QUERY, "documents": DOCUMENTS, "top_n": 2}


def test_without_model_and_key_none_is_sent(upstream):
    scored(RerankerSettings(upstream.url))
    ((_, headers, body),) = upstream.requests
    assert "Authorization" not in headers
    assert "model" not in body


def test_long_documents_are_scored_by_the_same_words():
    documents = ["the cat " * 10_000, "a dog"]
    result = asyncio.run(score(QUERY, documents, None))
    assert result.scores == {"bm25": BM25(documents).scores(QUERY).tolist()}


@pytest.mark.parametrize("how", ["redirects", "large", "compressed", "fails", *BODIES])
def test_what_cannot_be_used_is_left_out(upstream, how, caplog):
    upstream.how = how
    with caplog.at_level(logging.WARNING, "shortlist.service"):
        (result,) = scored(RerankerSettings(upstream.url))
    assert all(math.isnan(each) for each in result.scores["reranker"])
    assert "BM25 alone" in result.warning
    assert "secret" not in caplog.text + result.warning
    assert len(upstream.requests) == 1  # it did not follow
    assert f"the reranker at {upstream.url.removeprefix('http://')} did not score" in caplog.text
    with pytest.raises(ServiceUnavailable, match="does not answer"):
        scored(RerankerSettings(upstream.url, required=True))


def test_one_that_hangs_is_left_alone_for_a_while(upstream, monkeypatch, caplog):
    upstream.how = "hangs"
    with caplog.at_level(logging.WARNING, "shortlist.service"):
        results = scored(RerankerSettings(upstream.url, timeout=0.05), times=6)
    assert len(upstream.requests) == 3
    assert all("BM25 alone" in each.warning for each in results)
    assert caplog.messages[-1].endswith("(no answer within 0.05 s); it is left alone for 10 s")
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    scored(RerankerSettings(upstream.url, timeout=0.05), times=5)
    assert len(upstream.requests) == 8


def test_one_that_is_away_is_said_to_be():
    (result,) = scored(RerankerSettings("http://127.0.0.1:9/rerank"))
    assert "BM25 alone" in result.warning


def test_nothing_of_the_environment_is_used(upstream, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (result,) = scored(RerankerSettings(upstream.url))
    assert result.warning is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://host/rerank", "give the whole address"),
        ("file:///etc/passwd", "give the whole address"),
        ("host:80", "give the whole address"),
        ("", "give the whole address"),
        ("http://host/#part", "give the whole address"),
        ("http://user:pass@host/rerank", "SHORTLIST_RERANKER_KEY"),
    ],
)
def test_an_address_that_is_none(url, words):
    with pytest.raises(InvalidParameter, match=words) as error:
        RerankerSettings(url)
    assert "pass@" not in str(error.value)


def test_a_timeout_that_is_none():
    with pytest.raises(InvalidParameter, match="reranker_timeout"):
        RerankerSettings("http://host", timeout=0)


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="client"):
        RerankerSettings("http://host")
