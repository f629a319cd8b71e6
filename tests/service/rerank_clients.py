"""Ask a service to rerank, through a client of the field's own: run by `test_rerank_clients.py` in `.peers`.

Reads lines of JSON with query, documents and right (an index, or null), asks `PEER` (cohere-v1, cohere-v2, litellm) at
`URL`, answers each list, and prints what came of it as JSON. Every tenth request is sent twice.
"""

import json
import os
import sys
import time
import urllib.request

# Collected by pytest it has no arguments, and asks nobody.
URL, PEER, FEEDBACK = sys.argv[1:4] if __name__ == "__main__" else ("", "", "")


def ask_cohere(version):
    """Return what asks with Cohere's client."""
    import cohere  # noqa: PLC0415 - one at a time

    client = (cohere.Client if version == 1 else cohere.ClientV2)("key", base_url=URL)

    def ask(query, documents, key):
        options = {"additional_headers": {"Idempotency-Key": key}}
        answer = client.rerank(model="docs", query=query, documents=documents, top_n=10, request_options=options)
        return answer.id, [each.index for each in answer.results], [each.relevance_score for each in answer.results]

    return ask


def ask_litellm():
    """Return what asks with LiteLLM."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm  # noqa: PLC0415 - one at a time

    def ask(query, documents, key):
        answer = litellm.rerank(
            model="cohere/docs",
            query=query,
            documents=documents,
            top_n=10,
            api_base=URL,
            api_key="key",
            headers={"Idempotency-Key": key},
        )
        rows = answer.results
        return answer.id, [each["index"] for each in rows], [each["relevance_score"] for each in rows]

    return ask


def give(round_id, answer):
    """Send feedback."""
    request = urllib.request.Request(
        f"{URL}/v1/streams/docs/rounds/{round_id}/feedback",
        json.dumps(answer).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request) as reply:
        assert reply.status == 200


def main():
    """Ask, and answer."""
    ask = ask_litellm() if PEER == "litellm" else ask_cohere(int(PEER[-1]))
    lengths, hits, seconds = [], [], []
    for number, line in enumerate(sys.stdin):
        row = json.loads(line)
        key = f"{PEER} {number}"
        began = time.perf_counter()
        round_id, indexes, scores = ask(row["query"], row["documents"], key)
        seconds.append(time.perf_counter() - began)
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)
        if number % 10 == 0:
            assert ask(row["query"], row["documents"], key) == (round_id, indexes, scores)
        hit = row["right"] in indexes
        if FEEDBACK == "feedback":
            give(round_id, {"hit": row["right"]} if hit else {"miss": True})
        lengths.append(len(indexes))
        hits.append(hit)
    print(json.dumps({"lengths": lengths, "hits": hits, "seconds": seconds}))


if __name__ == "__main__":
    main()
