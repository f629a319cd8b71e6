"""A new scorer beside the one in use, over HTTP: made, fed, watched, and put into use; on several services."""

import asyncio
import json

import numpy as np
import pytest

import shortlist
from shortlist import AsyncClient, Client
from shortlist.service.engine import verify
from tests.service.running import process, running
from tests.service.web.checks import problem

THREE = [("a", 0.9), ("b", 0.5), ("c", 0.1)]


@pytest.fixture
def beside(service):
    """A stream, and one that shadows it."""
    service.make("docs", score="raw", at_most=2)
    service.make("new", score="raw", shadows="docs", at_most=1)
    return service


def view(service, stream="new"):
    return service.http.get(f"/v1/streams/{stream}").json()


def test_a_new_scorer_is_tried_and_put_into_use(beside):
    assert (view(beside)["shadows"], view(beside)["settings"]["shadows"], view(beside)["shadow"]) == (
        "docs",
        "docs",
        True,
    )
    shown = beside.propose(THREE, round_id="r1", also={"new": [0.2, 0.7, 0.6]})
    assert (shown.status_code, shown.json()["members"]) == (201, ["a", "b"])
    assert beside.propose(THREE, round_id="r1", also={"new": [0.2, 0.7, 0.6]}).status_code == 200
    problem(beside.propose(THREE, round_id="r1", also={"new": [0.2, 0.7, 0.5]}), 409, "conflicting-round")
    problem(beside.propose(THREE, round_id="r1"), 409, "conflicting-round")
    for answer in (
        beside.propose(THREE, stream="new"),
        beside.answer("r1", {"hit": "a"}, stream="new"),
        beside.http.post("/v1/streams/new/rounds/r1/more", json={}),
        beside.http.post("/v1/streams/new/expire", json={"older_than": 0}),
    ):
        assert problem(answer, 409, "conflicting-stream")["detail"].startswith(
            "stream new shadows docs: its rounds and"
        )
    assert beside.http.post("/v1/streams/docs/rounds/r1/more", json={}).json()["members"] == ["c"]
    assert beside.answer("r1", {"hit": "c"}).status_code == 200
    logged = beside.http.get("/v1/streams/new/rounds/r1").json()
    assert (logged["answer"], logged["members"], logged["seen"], logged["first"]) == (
        {"hit": "c"},
        ["b", "c", "a"],
        "docs",
        None,
    )
    assert beside.http.get("/v1/streams/docs/rounds/r1").json()["seen"] is None
    assert (view(beside)["hits"], view(beside)["coverage_seen"]) == (1, 1.0)
    problem(beside.http.delete("/v1/streams/docs"), 409, "conflicting-stream")
    for path in ("series", "export", "export?format=csv", "rounds?newest=true"):
        assert beside.http.get(f"/v1/streams/new/{path}").status_code == 200
    refused = beside.http.patch("/v1/streams/new", json={"shadows": "docs"})
    assert "only when a stream is created" in problem(refused, 422, "invalid-request")["detail"]
    ended = beside.http.patch("/v1/streams/new", json={"shadows": None}).json()
    assert (ended["shadows"], ended["shadow"], ended["settings"]["at_most"]) == (None, False, 1)
    assert beside.propose(THREE, stream="new", round_id="own").json()["members"] == ["a"]
    assert beside.answer("own", {"hit": "a"}, stream="new").status_code == 200
    assert beside.http.delete("/v1/streams/docs").status_code == 204


def test_what_is_wrong_with_also_is_named(beside):
    for also, status, kind, words in (
        ({"new": [0.5]}, 422, "invalid-scores", "also has 1 scores for 'new', and there are 3 candidates"),
        ({"new": [0.5, "x", 1]}, 422, "invalid-request", "also"),
        ({"new": [0.5, None, 1]}, 422, "invalid-request", "also"),
        ({"other": [0.5, 0.5, 1]}, 422, "invalid-parameter", "also names 'other', and there is no such stream"),
        ({"docs": [0.5, 0.5, 1]}, 409, "conflicting-stream", "also names 'docs', which does not shadow docs"),
        ({"new": [{"bm25": 1.0, "dense": None}] * 3}, 422, "invalid-scores", "score is 'raw'"),
        ({"new": [{}] * 3}, 422, "invalid-request", "also"),
        ({f"s{i}": [0.5] * 3 for i in range(11)}, 422, "invalid-request", "also"),
    ):
        assert words in problem(beside.propose(THREE, also=also), status, kind)["detail"], also
    assert (view(beside, "docs")["rounds"], view(beside)["rounds"]) == (0, 0)


def test_streams_that_cannot_shadow_are_refused(service):
    service.make("docs", grace=2)
    for settings, words in (
        ({"shadows": "nowhere"}, "there is no such stream"),
        ({"shadows": "new"}, "which is the stream itself"),
        ({"shadows": "docs", "grace": 1}, "grace is 1, and docs has 2"),
        ({"shadows": "docs", "grace": 2, "explore_share": 0.1, "miss_budget": None}, "nothing can be explored here"),
    ):
        made = service.http.post("/v1/streams", json={"name": "new", "coverage": 0.9, **settings})
        assert words in problem(made, 422, "invalid-parameter")["detail"]


def test_the_clients_send_it(sqlite):
    """The new stream is a lister in shadow mode, also with two scorers of which one lacks some."""
    rng = np.random.default_rng(0)
    lister = shortlist.Shortlister(coverage=0.8, fit_rounds=20, shadow=True)
    with running(sqlite) as service, Client(service.url, "docs", timeout=30) as client:
        client.create(shadow=True)
        with Client(service.url, "new") as new:
            new.create(coverage=0.8, fit_rounds=20, shadows="docs")
        for _ in range(120):
            old = rng.random(8)
            right = int(rng.choice(8, p=old**6 / sum(old**6)))
            table = {"dense": old + 0.1 * rng.random(8), "bm25": np.where(rng.random(8) < 0.3, np.nan, rng.random(8))}
            shown, mine = client.propose(old, also={"new": table}), lister.propose(table)
            client.hit(shown.round_id, right)
            lister.hit(mine.round_id, right)
        assert view(service)["threshold"] == lister.threshold > 0
        with pytest.raises(shortlist.errors.InvalidScores, match="also has 2 scores for 'new', and there are 1"):
            client.propose([0.5], also={"new": [0.5, 0.4]})
        with Client(service.url, "new") as new, pytest.raises(shortlist.errors.ConflictingStream):
            new.propose([0.5])

        async def main():
            async with AsyncClient(service.url, "docs") as later:
                await later.propose(old, also={"new": table})

        asyncio.run(main())
        assert (view(service)["rounds"], view(service, "docs")["rounds"]) == (121, 121)


def test_two_services_on_one_database(postgresql, read):
    """Lists on one, answers on the other, which has never heard of the stream that shadows."""
    with process(postgresql) as (_, one), process(postgresql) as (_, other):
        streams = [
            Client(f"http://127.0.0.1:{port}", name, timeout=30) for port in (one, other) for name in ("docs", "new")
        ]
        client, new, answering, there = streams
        client.create(score="raw", shadow=True)
        new.create(coverage=0.8, score="raw", shadows="docs")
        for i in range(60):
            shown = client.propose([0.9, 0.5, 0.1], also={"new": [0.1 * (i % 7), 0.5, 0.3]})
            answering.hit(shown.round_id, i % 2)
        mine, theirs = new.summary(), there.summary()
        for each in streams:
            each.close()
    assert mine["hits"] == 60
    assert (mine["threshold"], mine["events"], mine["open"]) == (theirs["threshold"], theirs["events"], 0)
    assert [found.problems for found in verify(read(postgresql))] == [[], []]


def test_a_key_that_may_propose_may_do_so_for_both(sqlite, keys):
    with running(sqlite, keys=keys["file"]) as service:
        service.http.headers["Authorization"] = f"Bearer {keys['admin']}"
        service.make("docs")
        service.make("new", shadows="docs")
        service.http.headers["Authorization"] = f"Bearer {keys['propose']}"
        assert service.propose(THREE, also={"new": [0.1, 0.2, 0.3]}).status_code == 201


def test_the_export_says_what_people_saw(beside):
    beside.propose(THREE, round_id="r1", also={"new": [0.2, 0.7, 0.6]})
    (line,) = beside.http.get("/v1/streams/new/export").text.splitlines()
    assert json.loads(line)["seen"] == {"stream": "docs", "positions": [0, 1]}
    (line,) = beside.http.get("/v1/streams/docs/export").text.splitlines()
    assert json.loads(line)["also"] == ["new"]
