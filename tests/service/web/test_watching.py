"""Responses that last end when their key is revoked."""

import asyncio
import time

import httpx
import pytest

from shortlist import Client


def test_live_events_end_when_their_key_is_revoked(guarded, keys):
    """While nothing happens too; and nothing that happens later is told."""
    with Client(guarded.url, "docs", keys["admin"]) as client:
        client.create()
    key = keys["file"].create("brief", ["read"])
    time.sleep(1.1)
    heard = []
    with guarded.http.stream("GET", "/v1/streams/docs/live", headers={"Authorization": f"Bearer {key}"}) as answer:
        parts = answer.iter_raw()
        while not any(b"event: stream" in each for each in heard):
            heard.append(next(parts))
        keys["file"].revoke(key.split("_")[1])
        with pytest.raises(httpx.RemoteProtocolError):  # broken off, not ended
            heard.append(next(parts))
        assert b"event: end" not in b"".join(heard)
    with guarded.http.stream(
        "GET", "/v1/streams/docs/live", headers={"Authorization": f"Bearer {keys['read']}"}
    ) as answer:
        assert answer.status_code == 200  # that of others goes on


def test_an_export_ends_when_its_key_is_revoked(guarded, keys, monkeypatch):
    with Client(guarded.url, "docs", keys["admin"]) as client:
        client.create()
    key = keys["file"].create("brief", ["read"])
    time.sleep(1.1)

    async def long(*_):
        for _ in range(200):
            yield "a line\n"
            await asyncio.sleep(0.05)

    monkeypatch.setattr(guarded.engine.history, "export", long)
    seen, others = [], {"Authorization": f"Bearer {keys['read']}"}
    with guarded.http.stream("GET", "/v1/streams/docs/export", headers={"Authorization": f"Bearer {key}"}) as answer:
        parts = answer.iter_raw()
        seen.append(next(parts))
        keys["file"].revoke(key.split("_")[1])
        with pytest.raises(httpx.RemoteProtocolError):
            seen.extend(parts)
    assert b"a line" in seen[0]
    with guarded.http.stream("GET", "/v1/streams/docs/export", headers=others) as answer:
        assert next(answer.iter_raw())


def test_keys_are_looked_at_for_as_long_as_a_response_lasts(guarded, keys):
    with Client(guarded.url, "docs", keys["admin"]) as client:
        client.create()
    headers = {"Authorization": f"Bearer {keys['read']}"}
    with guarded.http.stream("GET", "/v1/streams/docs/live", headers=headers) as answer:
        parts = answer.iter_raw()  # held: it ends the response when it goes
        next(parts)
        assert [task for task in all_tasks(guarded) if task == "shortlist-watch"]
    deadline = time.monotonic() + 20
    while "shortlist-watch" in all_tasks(guarded):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def all_tasks(service):
    async def names():
        return [task.get_name() for task in asyncio.all_tasks()]

    return service.call(names())
