"""The client for asyncio: the same calls, awaited."""

import asyncio
import inspect
import math

import httpx2
import pytest

from shortlist import AsyncClient, Client
from shortlist.errors import NotShown
from tests.client.network import Network, problem, shown


def test_its_verbs_on_the_wire(monkeypatch):
    network = Network(
        shown("x", ["a"]),
        httpx2.Response(204),
        problem(422, "not-shown"),
        httpx2.Response(204),
        problem(422, "not-shown"),
    ).replace(monkeypatch)

    async def main():
        async with AsyncClient("http://host", "docs") as client:
            made = await client.propose([0.9], ids=["a"], question="?")
            await client.hit(made.round_id, "a")
            await client.reveal("x", "b")
            with pytest.raises(NotShown):
                await client.hit("x", "b")
            return made

    assert asyncio.run(main()).members == ("a",)
    bodies = [body for _, _, body in network.sent()]
    assert bodies[1:] == [{"hit": "a"}, {"hit": "b"}, {"miss": True}, {"hit": "b"}]


def test_more_and_changed_settings_on_the_wire(monkeypatch):
    more = {"round_id": "x", "members": ["c"], "left": 0, "truncated": False}
    network = Network(httpx2.Response(200, json=more), httpx2.Response(200, json={})).replace(monkeypatch)

    async def main():
        async with AsyncClient("http://host", "docs") as client:
            assert (await client.more("x", shown=2)).members == ("c",)
            assert (await client.configure(shadow=True)).threshold == -math.inf

    asyncio.run(main())
    assert network.sent() == [
        ("POST", "/v1/streams/docs/rounds/x/more", {"shown": 2}),
        ("PATCH", "/v1/streams/docs", {"shadow": True}),
    ]


def test_while_one_call_waits_others_go_on(monkeypatch):
    """A pause is awaited, so two calls that must be tried again wait at the same time."""
    waiting, most = 0, 0
    real = asyncio.sleep

    async def pause(_seconds):
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        await real(0.01)
        waiting -= 1

    monkeypatch.setattr("shortlist.client._async.asyncio.sleep", pause)
    Network(problem(503), problem(503), httpx2.Response(204), httpx2.Response(204)).replace(monkeypatch)

    async def main():
        async with AsyncClient("http://host", "docs") as client:
            await asyncio.gather(client.miss("x"), client.miss("y"))

    asyncio.run(main())
    assert most == 2


def test_it_has_every_verb_of_the_other_with_the_same_parameters():
    """But for `threshold`, which a property cannot await."""
    for name, verb in inspect.getmembers(Client, inspect.isfunction):
        if name.startswith("_"):
            continue
        other = getattr(AsyncClient, name)
        assert inspect.iscoroutinefunction(other), name
        assert list(inspect.signature(other).parameters) == list(inspect.signature(verb).parameters), name
