"""Clients of the field's own against `rerank`: Cohere's, both versions, and LiteLLM's.

With a small reranker behind the service: the cosine of a latent semantic index. The candidates of a question are the 30
passages with most words in common. They are of SQuAD where its raw data is there, else of the standard library.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from shortlist._bm25 import BM25
from shortlist.service.reranker import RerankerSettings
from tests.service.running import process, running
from tests.service.upstream import reranking

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".peers" / "bin" / "python"
SQUAD = ROOT.parent / "shared" / "data" / "squad" / "squad_v1.1_dev_reconstructed.json.gz"
FETCH, QUESTIONS = 30, 1_500

pytestmark = pytest.mark.skipif(not PEERS.exists(), reason="the peers are not installed: make .peers/.installed")


@pytest.fixture(scope="module")
def corpus():
    sys.path.insert(0, str(ROOT / "examples"))
    import corpora  # noqa: PLC0415 - not a package

    return corpora.squad(str(SQUAD)) if SQUAD.exists() else corpora.standard_library()


@pytest.fixture(scope="module")
def rows(corpus):
    """Return questions with their candidates, and where the right one is."""
    names, texts = list(corpus.texts), list(corpus.texts.values())
    index = BM25(texts)
    made = []
    for query, right in corpus.ask(QUESTIONS):
        best = index.best(query, FETCH).tolist()
        candidates = [names[i] for i in best]
        order = np.random.default_rng(len(made)).permutation(FETCH).tolist()
        place = [candidates[i] for i in order].index(right) if right in candidates else None
        made.append({"query": query, "documents": [texts[best[i]] for i in order], "right": place})
    return made


def ask(url, peer, rows, feedback="feedback"):
    """Return what a client saw."""
    script = Path(__file__).with_name("rerank_clients.py")
    done = subprocess.run(
        [str(PEERS), str(script), url, peer, feedback],
        input="\n".join(map(json.dumps, rows)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.soak
@pytest.mark.parametrize("peer", ["cohere-v1", "cohere-v2", "litellm"])
def test_a_client_of_the_field(sqlite, corpus, rows, peer):
    vectors = dict(zip(corpus.texts.values(), corpus.embed(list(corpus.texts.values())), strict=True))

    def cosines(body):
        (query,) = np.array(corpus.embed([body["query"]]))
        scores = np.array([vectors[each] for each in body["documents"]]) @ query
        return [{"index": i, "relevance_score": value} for i, value in enumerate(scores.tolist())]

    with reranking() as upstream, running(sqlite, reranker=RerankerSettings(upstream.url)) as service:
        upstream.answer = cosines
        service.make(coverage=0.8)
        told = ask(service.url, peer, rows)
        summary = service.http.get("/v1/streams/docs").json()
        assert summary["rounds"] == QUESTIONS  # what was sent twice is counted once
        assert summary["hits"] == sum(told["hits"])
        lengths, hits = np.array(told["lengths"]), np.array(told["hits"])
        reachable = np.mean([row["right"] is not None for row in rows])
        assert hits.mean() > 0.8 - 20 / QUESTIONS - (1 - reachable)
        assert lengths.max() <= 10
        # Without feedback: as many as are asked for, however often.
        service.make("silent")
        before = {"model": "silent", "query": rows[0]["query"], "documents": rows[0]["documents"], "top_n": 7}
        for _ in range(300):
            assert len(service.http.post("/v2/rerank", json=before).json()["results"]) == 7
    ranks = _ranks(rows, vectors, corpus)
    top_k = {name: next(k for k in range(1, FETCH + 1) if (of < k).mean() >= hits.mean()) for name, of in ranks.items()}
    print(
        f"\n{peer}: {lengths.mean():.2f} of {FETCH} at {hits.mean():.3f} ({reachable:.3f} reachable), first 200 "
        f"{lengths[:200].mean():.2f}, last 500 {lengths[-500:].mean():.2f} at {hits[-500:].mean():.3f}; "
        f"top-k at the same coverage: {top_k}; {1000 * np.median(told['seconds']):.1f} ms at p50"
    )
    assert lengths.mean() < min(top_k.values())


@pytest.mark.soak
@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_a_stream_that_was_taught_by_labels_cuts_for_a_tool_without_feedback(sqlite, rows, coverage):
    """300 labeled questions, then 900 in silence: with BM25 alone."""
    lengths, hits = [], []
    with running(sqlite) as service:
        service.make(coverage=coverage, unanswered="ignore")
        for number, row in enumerate(rows[:1_200]):
            body = {"model": "docs", "query": row["query"], "documents": row["documents"], "top_n": 10}
            answer = service.http.post("/v2/rerank", json=body).json()
            shown = [result["index"] for result in answer["results"]]
            hits.append(row["right"] in shown)
            lengths.append(len(shown))
            if number < 300:
                service.answer(answer["id"], {"hit": row["right"]} if hits[-1] else {"miss": True})
    silent = np.array(lengths[300:]), np.array(hits[300:])
    print(f"\n{coverage}: {silent[0].mean():.2f} at {silent[1].mean():.3f}")
    assert abs(silent[1].mean() - coverage) < 0.06  # four standard errors of the labels, and the budget's part
    assert silent[0].mean() < 5
    assert silent[0][-300:].mean() < 1.2 * silent[0][:300].mean()  # it does not grow


def _ranks(rows, vectors, corpus):
    """Return the rank of the right passage by the reranker, by BM25, and by their fusion."""
    ranks = {"reranker": [], "BM25": [], "RRF": []}
    for row in rows:
        (query,) = np.array(corpus.embed([row["query"]]))
        columns = {
            "reranker": np.array([vectors[each] for each in row["documents"]]) @ query,
            "BM25": BM25(row["documents"]).scores(row["query"]),
        }
        places = {name: (-scores).argsort(kind="stable").argsort() for name, scores in columns.items()}
        fused = sum(1 / (60 + place) for place in places.values())
        places["RRF"] = (-fused).argsort(kind="stable").argsort()
        for name, place in places.items():
            ranks[name].append(FETCH if row["right"] is None else int(place[row["right"]]))
    return {name: np.array(each) for name, each in ranks.items()}


@pytest.mark.soak
def test_the_proxys_own_time(tmp_path, rows):
    """Beside the same requests straight to the reranker, one after the other in turns, in processes of their own."""
    address = f"sqlite:///{tmp_path / 'own.db'}"
    seconds = {"straight": [], "draft": [], "round": []}
    with (
        reranking() as upstream,
        process(address, reranker=[upstream.url]) as (_, port),
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as http,
        httpx.Client() as straight,
    ):
        http.post("/v1/streams", json={"name": "docs", "coverage": 0.9})
        for kind in ("draft", "round"):
            for row in rows[:500]:
                body = {"query": row["query"], "documents": row["documents"], "top_n": 10}
                began = time.perf_counter()
                straight.post(upstream.url, json=body)
                between = time.perf_counter()
                answer = http.post("/v2/rerank", json={"model": "docs", **body}).json()
                seconds[kind].append(time.perf_counter() - between)
                seconds["straight"].append(between - began)
                assert answer["meta"].keys() == {"api_version", "billed_units", "shortlist"}
                assert answer["meta"]["shortlist"]["counts"] is (kind == "round")
                if kind == "round":
                    http.put(f"/v1/streams/docs/rounds/{answer['id']}/feedback", json={"miss": True})
            http.put(f"/v1/streams/docs/rounds/{answer['id']}/feedback", json={"miss": True})
    p50 = {kind: round(1000 * float(np.median(each)), 1) for kind, each in seconds.items()}
    print(f"\nms at p50, 30 documents of about 750 characters: {p50}")
