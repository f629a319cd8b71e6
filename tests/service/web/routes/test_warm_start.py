"""Warm start and restart over HTTP: as in the library, once, and in the log."""

import asyncio
import json

import numpy as np
import pytest

import shortlist
from shortlist import AsyncClient, Client
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.store import Store
from tests.service.running import running
from tests.service.tampering import alter, alter_body
from tests.service.web.checks import problem


def examples(count, candidates=8, seed=0):
    """Return lists of scores and the position of the right candidate in each, of which a few have none."""
    rng = np.random.default_rng(seed)
    lists = rng.random((count, candidates)).round(4)
    right = [int(rng.choice(candidates, p=row**6 / sum(row**6))) for row in lists]
    return lists.tolist(), [-1 if i % 40 == 39 else one for i, one in enumerate(right)]


def warm(service, stream="docs", **body):
    return service.http.post(f"/v1/streams/{stream}/warm-start", json=body)


def sound(address):
    store = Store(address, read_only=True)
    found = list(verify(store))
    store.close()
    return [each.problems for each in found] == [[]] * len(found)


@pytest.mark.parametrize("score", ["auto", "raw", "relative"])
def test_a_warm_start_is_that_of_a_lister(address, score):
    lists, right = examples(200)
    lister = shortlist.Shortlister(coverage=0.9, score=score)
    lister.warm_start(lists, right)
    with running(address) as service:
        service.make(score=score)
        view = warm(service, lists=lists, right=right)
        assert view.status_code == 200
        assert view.json()["threshold"] == lister.threshold > 0
        assert view.json()["rounds"] == 0
        with Client(service.url, "docs") as client:
            shown, mine = client.propose(lists[0]), lister.propose(lists[0])
            assert (shown.members, shown.threshold) == (mine.members, mine.threshold)
            client.reveal(shown.round_id, right[0])
        before = service.http.get("/v1/streams/docs").json()
        for path in ("series", "export", "export?format=csv", "rounds"):
            assert service.http.get(f"/v1/streams/docs/{path}").status_code == 200
        kinds = [json.loads(line)["kind"] for line in service.http.get("/v1/streams/docs/export").text.splitlines()]
        assert kinds == ["fitted"] * (score == "auto") + ["warm-started", "listed", "hit"]
    assert sound(address)
    with running(address) as service:  # from the log, or a snapshot
        after = service.http.get("/v1/streams/docs").json()
        assert after == before | {"last_event": after["last_event"]}


def test_lists_of_several_scorers_of_any_length(sqlite_service):
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 9, size=250)
    tables = [{"dense": rng.random(n), "bm25": np.where(rng.random(n) < 0.2, np.nan, rng.random(n))} for n in sizes]
    right = [int(np.argmax(each["dense"])) for each in tables]
    lister = shortlist.Shortlister(coverage=0.9)
    lister.warm_start(tables, right)
    with Client(sqlite_service.url, "docs") as client:
        view = client.warm_start(tables, right)
        assert view["threshold"] == lister.threshold
        assert view["scorers"] == dict(lister.summary()["scorers"])
        assert client.propose(tables[0]).members == lister.propose(tables[0]).members
        with pytest.raises(shortlist.errors.InvalidScores, match="'recency'"):
            client.propose({"recency": [0.5]})


def test_the_same_again_changes_nothing_and_others_are_refused(sqlite_service):
    lists, right = examples(80)
    first = warm(sqlite_service, lists=lists, right=right).json()
    assert warm(sqlite_service, lists=lists, right=right).json() == first
    other = problem(warm(sqlite_service, lists=lists, right=right[::-1]), 409, "conflicting-stream")
    assert "has learned from other examples before" in other["detail"]
    sqlite_service.propose()
    assert warm(sqlite_service, lists=lists, right=right).status_code == 200
    late = problem(warm(sqlite_service, lists=lists[1:], right=right[1:]), 409, "conflicting-stream")
    assert "has already shown a list, and a warm start comes before that" in late["detail"]


def test_what_is_wrong_with_examples_is_named(sqlite_service):
    problem(warm(sqlite_service, "nowhere", lists=[[0.5]], right=[0]), 404, "unknown-stream")
    sqlite_service.make("strict", delta=0.01)
    few = problem(warm(sqlite_service, "strict", lists=[[0.5, 0.4]], right=[0]), 422, "invalid-parameter")
    assert "there are 1 lists with a right candidate, and learning the score takes 30" in few["detail"]
    wide = problem(warm(sqlite_service, lists=[[[0.5, 0.4]]], right=[0]), 422, "invalid-scores")
    assert "name the 2 scorers" in wide["detail"]
    away = problem(warm(sqlite_service, lists=[[0.5]], right=[1]), 422, "invalid-parameter")
    assert "right[0] is 1" in away["detail"]
    problem(warm(sqlite_service, lists=[[]], right=[-1]), 422, "invalid-scores")
    sqlite_service.make("raw", score="raw")
    problem(warm(sqlite_service, "raw", lists=[[[0.5, 0.4]]], right=[0], scorers=["a", "b"]), 422, "invalid-scores")
    problem(warm(sqlite_service, lists=[[0.123456789] * 1_000] * 1_000, right=[0] * 1_000), 413, "content-too-large")
    assert sqlite_service.http.get("/v1/streams/docs").json()["events"] == 0


def test_a_warm_start_and_a_list_in_one_batch(sqlite):
    """Whichever comes first: the log can be folded, and verified."""
    lists, right = examples(80)

    async def main(name, *order):
        async with Engine.open(sqlite) as engine:
            await engine.create_stream(name, StreamSettings.of(coverage=0.9))
            await engine.create_stream("x", StreamSettings.of(coverage=0.9))  # so that both wait for one commit
            calls = {
                "warm": lambda: engine.warm_start(name, lists, right),
                "list": lambda: engine.propose(name, ["a"], [0.5], round_id="r"),
                "named": lambda: engine.propose(name, ["a"], {"bm25": [0.5]}, round_id="n"),
            }
            return await asyncio.gather(*(calls[each]() for each in order), return_exceptions=True)

    asyncio.run(main("a", "warm", "list"))
    asyncio.run(main("b", "warm", "warm", "named"))
    assert sound(sqlite)


def restart(service, stream="docs", **body):
    return service.http.post(f"/v1/streams/{stream}/restart", json=body)


def test_a_restart_is_that_of_a_lister(address):
    lists, right = examples(430)
    lister = shortlist.Shortlister(coverage=0.8)
    with running(address) as service, Client(service.url, "docs", timeout=30) as client:
        client.create(coverage=0.8)
        for i, (scores, one) in enumerate(zip(lists, right, strict=True)):
            if i in (190, 380):
                assert lister.threshold > -float("inf")  # it has learned something
                lister.restart(refit=i == 380)
                assert client.restart(refit=i == 380)["epoch"] == (1 if i == 190 else 2)
                assert client.threshold == lister.threshold
            shown, mine = client.propose(scores), lister.propose(scores)
            assert (shown.members, shown.threshold) == (mine.members, mine.threshold), i
            client.reveal(shown.round_id, one if one >= 0 else None)
            lister.reveal(mine.round_id, one if one >= 0 else None)
        assert client.threshold == lister.threshold
        assert client.summary()["epoch"] == lister.summary()["epoch"] == 2
        assert service.http.get("/v1/streams/docs/series").status_code == 200
    assert sound(address)


def test_the_same_restart_again_changes_nothing(sqlite_service):
    assert restart(sqlite_service, epoch=0).json()["epoch"] == 1
    assert restart(sqlite_service, epoch=0).json()["epoch"] == 1
    assert restart(sqlite_service).json()["epoch"] == 2
    old = problem(restart(sqlite_service, epoch=0), 409, "conflicting-stream")
    assert "is in epoch 2, not in 0" in old["detail"]
    problem(restart(sqlite_service, epoch=5), 409, "conflicting-stream")


def test_restarts_that_cannot_be(sqlite_service):
    sqlite_service.make("silent", unanswered="ignore")
    assert 'has unanswered "ignore"' in problem(restart(sqlite_service, "silent"), 422, "invalid-parameter")["detail"]
    sqlite_service.make("raw", score="raw")
    assert "learns no score" in problem(restart(sqlite_service, "raw", refit=True), 422, "invalid-parameter")["detail"]
    problem(restart(sqlite_service, "nowhere"), 404, "unknown-stream")


def test_the_client_that_is_awaited_has_both(sqlite_service):
    async def main():
        async with AsyncClient(sqlite_service.url, "docs") as client:
            assert (await client.warm_start(*examples(320)))["threshold"] is not None
            return await client.restart()

    assert asyncio.run(main())["epoch"] == 1


@pytest.mark.parametrize(
    ("number", "change", "words"),
    [
        (2, lambda body: body.update(epoch=3), "starts epoch 3, and the log gives 1"),
        (2, lambda body: body.update(refit=True), "which the settings do not allow"),
    ],
)
def test_a_restart_that_was_changed_is_noticed(sqlite, number, change, words):
    lists, right = examples(80)

    async def main():
        async with Engine.open(sqlite, snapshot_every=10_000) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            await engine.warm_start("a", lists, right)
            await engine.restart("a")

    asyncio.run(main())
    assert sound(sqlite)
    alter_body(sqlite, number, change)
    store = Store(sqlite, read_only=True)
    (found,) = verify(store)
    store.close()
    assert any(words in problem for problem in found.problems)


def test_a_warm_start_twice_in_the_log_is_noticed(sqlite):
    async def main():
        async with Engine.open(sqlite, snapshot_every=10_000) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw"))
            await engine.warm_start("a", *examples(80))
            await engine.restart("a")

    asyncio.run(main())
    alter(sqlite, "UPDATE events SET kind = 'warm-started', body = '{\"scores\": [0.5]}' WHERE number = 2")
    assert not sound(sqlite)
