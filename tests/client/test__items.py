"""Calls about items, without a service: what is sent, and what is made of the answers."""

import httpx2
import pytest

from shortlist import Client, errors
from tests.client.network import Network, problem


@pytest.fixture
def network(monkeypatch):
    return Network().replace(monkeypatch)


@pytest.fixture
def client():
    return Client("http://service", "images", scorer_version="v1")


def test_items_are_sent_as_rounds_or_as_they_are(network, client):
    results = [{"id": "a", "status": 201}, {"id": "b", "status": 409, "problem": {"status": 409, "detail": "other"}}]
    network.script.append(httpx2.Response(207, json={"results": results}))
    plain = {"id": "b", "candidates": [{"id": "x", "score": 0.5}]}
    image = "https://pictures.example.org/1.png"
    items = [{"id": "a", "scores": [0.5], "ids": ["x"], "question": "who", "image": image}, plain]
    first, second = client.add_items(items)
    assert first is None
    assert "other" in str(second)
    ((method, path, body),) = network.sent()
    assert (method, path) == ("POST", "/v1/streams/images/items")
    assert body["items"] == [
        {
            "id": "a",
            "candidates": [{"id": "x", "score": 0.5}],
            "question": "who",
            "scorer_version": "v1",
            "image": image,
        },
        {"scorer_version": "v1", **plain},
    ]


@pytest.mark.parametrize("item", [{"scores": [0.5]}, {"id": 5, "scores": [0.5]}, "a"])
def test_items_without_an_id(network, client, item):
    with pytest.raises(errors.InvalidParameter, match="it needs an 'id'"):
        client.add_items([item])
    with pytest.raises(errors.InvalidParameter, match="give a list of them"):
        client.add_items({"id": "a", "scores": [0.5]})
    assert network.requests == []


def test_one_bad_item_does_not_keep_others_out(network, client):
    results = [{"id": "b", "status": 201}, {"id": "d", "status": 409, "problem": {"status": 409, "detail": "taken"}}]
    network.script.append(httpx2.Response(207, json={"results": results}))
    items = [
        {"id": "a", "scores": [float("nan")]},
        {"id": "b", "scores": [0.5]},
        {"id": "c"},
        {"id": "d", "scores": [1]},
    ]
    nan, none, empty, taken = client.add_items(items)
    assert "item a: scores[0] is nan" in str(nan)
    assert none is None
    assert isinstance(empty, errors.InvalidParameter)
    assert str(empty).startswith("item c: ")
    assert "taken" in str(taken)
    ((_, _, body),) = network.sent()
    assert [item["id"] for item in body["items"]] == ["b", "d"]


def test_next_renew_and_give_back(network, client):
    network.script += [
        httpx2.Response(200, json={"round_id": "a b", "holder": "h"}),
        httpx2.Response(200, json={"lease_until": 7.0}),
        httpx2.Response(204),
        httpx2.Response(204),
        httpx2.Response(200, json={"waiting": 3}),
    ]
    assert client.next(lease=30, annotator="ann")["round_id"] == "a b"
    assert client.renew("a b", "h", lease=5) == 7.0
    client.give_back("a b", "h")
    assert client.next() is None
    assert client.queue() == {"waiting": 3}
    assert [each.url.raw_path for each in network.requests] == [
        b"/v1/streams/images/next",
        b"/v1/streams/images/rounds/a%20b/lease",
        b"/v1/streams/images/rounds/a%20b/lease?holder=h",
        b"/v1/streams/images/next",
        b"/v1/streams/images/items",
    ]
    assert [body for _, _, body in network.sent()][:2] == [
        {"lease": 30, "annotator": "ann"},
        {"holder": "h", "lease": 5},
    ]


def test_what_was_lost(network, client):
    network.script.append(problem(409, "lease-lost", "it is somebody else's"))
    with pytest.raises(errors.LeaseLost, match="somebody else's"):
        client.renew("a", "h")


def test_next_is_not_sent_twice(network, client):
    """What was given out and not received comes back when its lease ends; a second one would be held for nothing."""
    network.script.append(httpx2.ConnectError("gone"))
    with pytest.raises(errors.ServiceUnavailable):
        client.next()
    assert len(network.requests) == 1


def test_a_label_is_corrected(network, client):
    network.script += [httpx2.Response(200, json={}), httpx2.Response(200, json={})]
    client.correct("a b", "heron", note="the bill")
    client.correct("c", None)
    assert [(method, body) for method, _, body in network.sent()] == [
        ("PUT", {"label": "heron", "note": "the bill"}),
        ("PUT", {"label": None, "note": None}),
    ]
    assert network.requests[0].url.raw_path == b"/v1/streams/images/labels/a%20b"
