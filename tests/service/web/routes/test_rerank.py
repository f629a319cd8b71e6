"""Reranking over HTTP."""

import concurrent.futures

import pytest

from shortlist.service.reranker import RerankerSettings
from shortlist.service.web.rerank_replies import Reranked
from tests.service.running import running
from tests.service.upstream import reranking
from tests.service.web.checks import problem, strict

DOCUMENTS = ["the cat sat", "dogs are nice", "fish swim", "the cat and the dog"]


def ask(service, path="/v2/rerank", key=None, **more):
    body = {"model": "docs", "query": "where is the cat", "documents": DOCUMENTS, **more}
    return service.http.post(path, json=body, headers={} if key is None else {"Idempotency-Key": key})


def indexes(answer):
    assert answer.status_code == 200, answer.text
    return [each["index"] for each in answer.json()["results"]]


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank"])
def test_the_form_is_coheres(sqlite_service, path):
    answer = ask(sqlite_service, path, top_n=2, return_documents=True).json()
    strict(Reranked).model_validate(answer)
    assert [each["document"]["text"] for each in answer["results"]] == ["the cat sat", "the cat and the dog"]
    assert 1 >= answer["results"][0]["relevance_score"] >= answer["results"][1]["relevance_score"] > 0
    assert answer["meta"]["api_version"] == {"version": path[2]}
    assert answer["meta"]["shortlist"]["counts"] is False
    assert "warnings" not in answer["meta"]
    plain = ask(sqlite_service, path).json()
    assert len(plain["results"]) == 4
    assert "document" not in plain["results"][0]


def test_feedback_by_id_and_index(sqlite_service):
    first = ask(sqlite_service, top_n=2).json()
    taken = sqlite_service.answer(first["id"], {"hit": 0})
    assert taken.json()["answer"] == {"hit": 0}
    assert ask(sqlite_service).json()["meta"]["shortlist"]["counts"] is True
    assert sqlite_service.http.get("/v1/streams/docs").json()["rounds"] == 2
    view = sqlite_service.http.get(f"/v1/streams/docs/rounds/{first['id']}").json()
    assert (view["question"], [each["text"] for each in view["candidates"]]) == ("where is the cat", [None] * 4)


def test_the_same_key_is_the_same_round(service):
    service.make()
    draft = ask(service, key="a")
    assert ask(service, key="a").json() == draft.json()
    service.answer(draft.json()["id"], {"hit": 0})
    again = ask(service, key="a").json()
    assert again["meta"]["shortlist"].pop("counts") is True
    assert again["id"] == draft.json()["id"]
    first = ask(service, key="b", top_n=3)
    assert ask(service, key="b", top_n=3).json() == first.json()
    # Another body is another round, and so is a request without a key.
    assert len({ask(service, key="b", top_n=2).json()["id"], ask(service).json()["id"], first.json()["id"]}) == 3
    assert service.http.get("/v1/streams/docs").json()["rounds"] == 4
    problem(ask(service, key="a" * 256), 422, "invalid-request")


def test_the_same_key_many_times_at_once(service):
    service.make()
    service.answer(ask(service).json()["id"], {"miss": True})
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: ask(service, key="one").json(), range(64)))
    assert all(each == answers[0] for each in answers)
    assert service.http.get("/v1/streams/docs").json()["rounds"] == 2


def test_all_documents_for_clients_that_expect_a_score_each(sqlite_service):
    sqlite_service.http.patch("/v1/streams/docs", json={"rerank_all": True})
    answer = ask(sqlite_service, top_n=1).json()
    assert [each["index"] for each in answer["results"]] == [0, 1, 2, 3]
    assert [each["relevance_score"] > 0 for each in answer["results"]] == [True, False, False, False]
    assert sqlite_service.http.get("/v1/streams/docs").json()["settings"]["rerank_all"] is True


def test_what_is_refused(sqlite_service):
    problem(ask(sqlite_service, model="nowhere"), 404, "unknown-stream")
    assert "top_k" in problem(ask(sqlite_service, top_k=3), 422, "invalid-request")["detail"]
    sqlite_service.http.patch("/v1/streams/docs", json={"shadow": True})
    problem(ask(sqlite_service), 409, "conflicting-stream")
    sqlite_service.make("raw", score="raw")
    assert indexes(ask(sqlite_service, model="raw", top_n=1)) == [0]


def test_two_scorers_need_a_score_that_takes_them(sqlite):
    with reranking() as upstream, running(sqlite, reranker=RerankerSettings(upstream.url)) as service:
        service.make("raw", score="raw")
        assert "takes one" in problem(ask(service, model="raw"), 422, "invalid-scores")["detail"]


def test_a_reranker_behind_it(sqlite):
    with reranking() as upstream, running(sqlite, reranker=RerankerSettings(upstream.url, "m")) as service:
        service.make()
        answer = ask(service, query="nice dogs", top_n=1)
        assert indexes(answer) == [1]
        assert "warnings" not in answer.json()["meta"]
        upstream.how = "fails"
        answer = ask(service, query="nice dogs", top_n=1)
        assert indexes(answer) == [1]
        assert "BM25 alone" in answer.json()["meta"]["warnings"][0]
        upstream.how = "well"
        service.answer(answer.json()["id"], {"hit": 1})
        summary = service.http.get("/v1/streams/docs").json()
        assert summary["hits"] == 1
        view = service.http.get(f"/v1/streams/docs/rounds/{answer.json()['id']}").json()
        assert view["candidates"][1]["scores"]["reranker"] is None


def test_a_reranker_that_is_required(sqlite):
    settings = RerankerSettings("http://127.0.0.1:9/rerank", required=True)
    with running(sqlite, reranker=settings) as service:
        service.make()
        answer = ask(service)
        detail = problem(answer, 503, "service-unavailable")["detail"]
        assert "127.0.0.1" not in detail
        assert answer.headers["retry-after"] == "1"


def test_a_caller_has_no_part_in_the_upstream_request(sqlite):
    with reranking() as upstream, running(sqlite, reranker=RerankerSettings(upstream.url, "mine", "key")) as service:
        service.make()
        headers = {"Authorization": "Bearer theirs", "X-Forwarded-Host": "elsewhere", "Cookie": "a=b"}
        body = {"model": "docs", "query": "q", "documents": ["a"], "max_tokens_per_doc": 3}
        assert service.http.post("/v2/rerank", json=body, headers=headers).status_code == 200
        ((_, sent, received),) = upstream.requests
        assert received == {"model": "mine", "query": "q", "documents": ["a"], "top_n": 1}
        assert sent["Authorization"] == "Bearer key"
        assert not {"Cookie", "X-Forwarded-Host"} & set(sent)


def test_keys(guarded, keys):
    body = {"model": "docs", "query": "q", "documents": ["a"]}
    for scope, status in ((None, 401), ("read", 403), ("feedback", 403), ("propose", 404)):
        headers = {} if scope is None else {"Authorization": f"Bearer {keys[scope]}"}
        assert guarded.http.post("/v2/rerank", json=body, headers=headers).status_code == status
