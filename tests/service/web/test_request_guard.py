"""One request and its response: its id, and the limit of its body."""

import asyncio
import re

import pytest

from shortlist.service.web.limits import BodyLimits
from shortlist.service.web.problems import Refusal
from shortlist.service.web.request_guard import BodyRefused, RequestGuard
from tests.service.running import running


def test_a_body_that_grows_too_large_on_the_way(sqlite):
    with running(sqlite, limits=BodyLimits(10_000)) as service:
        service.make()

        def drops():
            for _ in range(100):
                yield b" " * 1000

        headers = {"content-type": "application/json"}
        answer = service.http.post("/v1/streams/docs/rounds", content=drops(), headers=headers)
        assert answer.status_code == 413
        assert answer.json()["type"].endswith("content-too-large")
        answer = service.http.post("/v1/streams/docs/rounds", content=b" " * 20_000, headers=headers)
        assert answer.status_code == 413


def test_every_response_has_the_id_of_its_request(sqlite):
    with running(sqlite) as service:
        service.make()
        for path, status in (("/v1/streams", 200), ("/v1/streams/nowhere", 404), ("/nowhere", 404)):
            answer = service.http.get(path, headers={"X-Request-Id": "mine-1"})
            assert (answer.status_code, answer.headers["x-request-id"]) == (status, "mine-1")
        for strange in ("a b", "x" * 100, "é"):
            answer = service.http.get("/v1/streams", headers={"X-Request-Id": strange.encode()})
            assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])


def test_the_first_header_of_a_name_counts():
    scope = {"headers": [(b"x-request-id", b"one"), (b"x-request-id", b"two")]}
    assert RequestGuard(scope, None, None, BodyLimits()).request_id == b"one"


def test_a_response_to_a_body_that_was_too_large_is_dropped():
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"12345", "more_body": True}

    async def send(message):
        sent.append(message)

    async def main():
        guard = RequestGuard({"headers": []}, receive, send, BodyLimits(8))
        await guard.receive()
        with pytest.raises(BodyRefused):
            await guard.receive()
        await guard.send({"type": "http.response.start", "status": 500})  # of whoever read the body
        assert not guard.started
        await guard.refuse(Refusal({"status": 413}, {"Connection": "close"}))
        return guard

    guard = asyncio.run(main())
    assert (guard.refusal.document["status"], guard.status) == (413, 413)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert (b"connection", b"close") in sent[0]["headers"]
