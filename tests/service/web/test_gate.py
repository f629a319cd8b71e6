"""The gate: keys, and what is recorded of a request."""

import asyncio
import re
import socket
import time

import pytest

from shortlist import AsyncClient, Client
from shortlist.errors import NotAllowed
from tests.service.running import running
from tests.service.web.checks import problem


def test_a_revoked_key_is_out_within_seconds(guarded, keys):
    key = keys["file"].create("brief", ["read"])
    time.sleep(1.1)  # the service looks at the file once a second
    assert guarded.http.get("/v1/streams", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    keys["file"].revoke(key.split("_")[1])
    time.sleep(1.1)
    assert guarded.http.get("/v1/streams", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_the_clients_and_the_live_stream_work_with_keys(guarded, keys):
    with Client(guarded.url, "docs", keys["admin"]) as client:
        client.create()
    with Client(guarded.url, "docs", keys["propose"]) as client:
        shown = client.propose([0.5], ids=["a"])
        with pytest.raises(NotAllowed, match="it needs the scope feedback"):
            client.hit(shown.round_id, "a")
    with Client(guarded.url, "docs", keys["feedback"]) as client:
        client.hit(shown.round_id, "a")
    with Client(guarded.url, "docs") as client, pytest.raises(NotAllowed):
        client.summary()
    headers = {"Authorization": f"Bearer {keys['read']}"}
    with guarded.http.stream("GET", "/v1/streams/docs/live", headers=headers) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("event:")) == "event: stream"

    async def read():
        async with AsyncClient(guarded.url, "docs", keys["read"]) as client:
            return await client.summary()

    assert asyncio.run(read())["hits"] == 1


def test_a_file_of_keys_that_disappears_lets_nobody_new_in(guarded, keys):
    headers = {"Authorization": f"Bearer {keys['read']}"}
    assert guarded.http.get("/v1/streams", headers=headers).status_code == 200
    keys["file"].path.write_text("broken")
    time.sleep(1.1)
    assert guarded.http.get("/v1/streams", headers=headers).status_code == 200
    assert guarded.http.get("/v1/streams").status_code == 401


def test_a_request_that_failed_is_logged_and_others_only_if_all_are(guarded, keys, caplog, monkeypatch):
    headers = {"Authorization": f"Bearer {keys['read']}", "X-Request-Id": "mine-1"}
    caplog.set_level("WARNING", "shortlist.access")
    guarded.http.get("/v1/streams", headers=headers)
    assert not [record for record in caplog.records if record.name == "shortlist.access"]

    async def fail(*_, **__):
        raise RuntimeError("a reason")

    monkeypatch.setattr(guarded.engine, "summary", fail)
    guarded.http.get("/v1/streams/docs", headers=headers)
    (record,) = [record for record in caplog.records if record.name == "shortlist.access"]
    assert record.payload.pop("ms") > 0
    assert record.payload == {
        "request_id": "mine-1",
        "method": "GET",
        "path": "/v1/streams/docs",
        "status": 500,
        "key": keys["read"].split("_")[1],
        "why": "RuntimeError: a reason",
    }


def test_a_length_that_is_no_number_is_not_believed(guarded, keys):
    """The server refuses most of them; the gate must not fail on the rest."""
    raw = f"GET /v1/streams HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {keys['read']}\r\nContent-Length: \xb2\r\n\r\n"
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=20) as connection:
        connection.sendall(raw.encode("latin-1"))
        assert int(connection.recv(12).split()[1]) in (200, 400)


def test_a_body_that_grows_too_large_on_the_way(sqlite):
    with running(sqlite, body_limit=10_000) as service:
        service.make()
        headers = {"content-type": "application/json"}
        for content in (iter([b" " * 1000] * 100), b" " * 20_000):
            answer = service.http.post("/v1/streams/docs/rounds", content=content, headers=headers)
            document = problem(answer, 413, "content-too-large")
            assert document["detail"].startswith("the body is larger than 10,000 bytes: send fewer candidates")
            assert answer.headers["connection"] == "close"
        assert service.propose().status_code == 201


def test_a_connection_that_closes_before_its_body_arrived_is_no_fault_of_the_service(sqlite, caplog):
    with running(sqlite) as service:
        service.make()
        head = "POST /v1/streams/docs/rounds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
            connection.sendall(f'{head}Content-Length: 100\r\n\r\n{{"can'.encode())
        wanted = 'shortlist_requests_total{method="POST",route="/v1/streams/{name}/rounds",status="400"} 1.0'
        while wanted not in service.http.get("/metrics").text:
            time.sleep(0.02)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_every_response_has_the_id_of_its_request(sqlite):
    with running(sqlite) as service:
        service.make()
        for path, status in (("/v1/streams", 200), ("/v1/streams/nowhere", 404), ("/nowhere", 404)):
            answer = service.http.get(path, headers={"X-Request-Id": "mine-1"})
            assert (answer.status_code, answer.headers["x-request-id"]) == (status, "mine-1")
        for strange in ("a b", "x" * 100, "é"):
            answer = service.http.get("/v1/streams", headers={"X-Request-Id": strange.encode()})
            assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])
        answer = service.http.get("/v1/streams", headers=[("X-Request-Id", "one"), ("X-Request-Id", "two")])
        assert answer.headers["x-request-id"] == "one"


def test_live_events_end_when_their_key_is_revoked(guarded, keys):
    """Also while nothing happens; and nothing that happens later is sent."""
    with Client(guarded.url, "docs", keys["admin"]) as client:
        client.create()
        key = keys["file"].create("brief", ["read"])
        time.sleep(1.1)  # the service looks at the file once per second
        headers = {"Authorization": f"Bearer {key}"}
        with guarded.http.stream("GET", "/v1/streams/docs/live", headers=headers) as answer:
            lines = answer.iter_lines()
            next(line for line in lines if line == "event: stream")
            keys["file"].revoke(key.split("_")[1])
            time.sleep(1.1)
            client.hit(client.propose([0.5], ids=["a"]).round_id, "a")
            assert not [line for line in lines if line.startswith("data:") and '"hits":1' in line]
    assert guarded.http.get("/v1/streams/docs/live", headers=headers).status_code == 401
