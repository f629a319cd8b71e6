"""The client that waits: its verbs on the wire, with a network that answers from a script."""

import httpx2
import numpy as np
import pytest

from shortlist import Client
from shortlist.errors import ServiceUnavailable
from tests.client.network import Network, problem, shown


def test_its_verbs_on_the_wire(monkeypatch):
    done = [httpx2.Response(204) for _ in range(5)]
    network = Network(shown("x", ["b", "a"], 0.5), *done).replace(monkeypatch)
    with Client("http://host:8000", "docs", api_key="sl_key", scorer_version="v1") as client:
        made = client.propose([0.6, 0.9], ids=["a", "b"], round_id="x")
        client.hit(made.round_id, np.str_("a"))
        client.miss("x")
        client.skip("x")
        client.absent("x")
        client.reveal("x", None)
    first, *answers = network.sent()
    assert first[:2] == ("POST", "/v1/streams/docs/rounds")
    assert (first[2]["round_id"], first[2]["scorer_version"]) == ("x", "v1")
    path = "/v1/streams/docs/rounds/x/feedback"
    expected = [{"hit": "a"}, {"miss": True}, {"skip": True}, {"absent": True}, {"miss": True}]
    assert answers == [("PUT", path, body) for body in expected]
    assert {request.headers["Authorization"] for request in network.requests} == {"Bearer sl_key"}


def test_a_stream_is_made_asked_for_and_deleted(monkeypatch):
    summary = {"threshold": None, "rounds": 3}
    network = Network(
        httpx2.Response(201, json=summary),
        httpx2.Response(200, json=summary),
        httpx2.Response(200, json={"rounds": [], "next": None}),
        httpx2.Response(200, json={"expired": 2}),
        httpx2.Response(200, json={"erased": 4}),
        httpx2.Response(204),
    ).replace(monkeypatch)
    with Client("http://host", "docs") as client:
        assert client.create(0.8, patience=5).rounds == 3
        assert client.threshold == -np.inf
        assert client.rounds(after=7, limit=2, only_open=True)["rounds"] == []
        assert (client.expire(60.0), client.erase_texts()) == (2, 4)
        client.delete()
    assert network.sent()[0][2] == {"name": "docs", "coverage": 0.8, "patience": 5}
    assert dict(network.requests[2].url.params) == {"after": "7", "limit": "2", "open": "true"}
    assert [request.method for request in network.requests] == ["POST", "GET", "GET", "POST", "DELETE", "DELETE"]
    assert "Authorization" not in network.requests[0].headers


def test_more_and_changed_settings_on_the_wire(monkeypatch):
    more = {"round_id": "x", "members": ["c"], "left": 0, "truncated": False}
    summary = {"threshold": None, "settings": {"at_most": 5}}
    network = Network(httpx2.Response(200, json=more), httpx2.Response(200, json=summary)).replace(monkeypatch)
    with Client("http://host", "docs") as client:
        assert client.more("x", 3, shown=2).members == ("c",)
        assert client.configure(at_most=5).settings == {"at_most": 5}
    assert network.sent() == [
        ("POST", "/v1/streams/docs/rounds/x/more", {"count": 3, "shown": 2}),
        ("PATCH", "/v1/streams/docs", {"at_most": 5}),
    ]


def test_it_waits_and_tries_again(monkeypatch):
    pauses = []
    monkeypatch.setattr("shortlist.client._sync.time.sleep", pauses.append)
    network = Network(httpx2.ConnectError("refused"), problem(503), httpx2.Response(204)).replace(monkeypatch)
    with Client("http://host", "docs", retries=2) as client:
        client.miss("x")
    assert len(network.requests) == 3
    assert len(pauses) == 2
    Network(*[httpx2.ConnectError("refused")] * 3).replace(monkeypatch)
    with (
        Client("http://host", "docs", retries=2) as client,
        pytest.raises(ServiceUnavailable, match="is the service running there"),
    ):
        client.summary()
