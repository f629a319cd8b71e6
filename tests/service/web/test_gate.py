"""The gate: keys, and what is recorded of a request."""

import asyncio
import socket
import time

import pytest

from shortlist import AsyncClient, Client
from shortlist.errors import NotAllowed


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
