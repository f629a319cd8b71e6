"""More of a list, and settings that change: over HTTP, in the log, after a crash, on several services."""

import asyncio
import contextlib

import httpx
import pytest

from shortlist.errors import RoundClosed
from shortlist.rounds.events import Configured, Expanded, Listed
from shortlist.service.engine import Engine, StreamSettings, verify
from tests.service.running import process, running
from tests.service.tampering import alter_body
from tests.service.web.checks import problem

FIVE = [(f"d{i}", 0.9 - 0.1 * i) for i in range(5)]
IDS = [name for name, _ in FIVE]


def more(service, round_id="r1", stream="docs", **body):
    return service.http.post(f"/v1/streams/{stream}/rounds/{round_id}/more", json=body)


def summary(service, stream="docs"):
    return service.http.get(f"/v1/streams/{stream}").json()


@pytest.fixture
def paged(service):
    """A stream with pages of two, and a round of five candidates."""
    service.make(score="raw", at_most=2)
    assert service.propose(FIVE, round_id="r1").json()["members"] == IDS[:2]
    return service


def test_the_same_request_again_changes_nothing(paged):
    """A connection may break at any time: who says how many it has may ask again."""
    first = more(paged, count=1, shown=2)
    assert first.json() == {"round_id": "r1", "members": ["d2"], "texts": [None], "left": 2, "truncated": True}
    assert more(paged, count=1, shown=2).json() == first.json()
    assert summary(paged)["events"] == 2
    rest = more(paged, shown=3).json()
    texts = [None, None]
    assert rest == {"round_id": "r1", "members": ["d3", "d4"], "texts": texts, "left": 0, "truncated": False}
    assert more(paged, shown=3).json() == rest
    assert more(paged, shown=0).json()["members"] == IDS
    assert more(paged).json()["members"] == []  # without it, what is new
    assert (summary(paged)["events"], summary(paged)["expanded"]) == (3, 1)
    again = paged.propose(FIVE, round_id="r1")
    assert (again.status_code, again.json()["members"]) == (200, IDS[:2])  # the list is what it was
    view = paged.http.get("/v1/streams/docs/rounds/r1").json()
    assert (view["members"], view["first"], view["truncated"]) == (IDS, 2, False)
    assert [each["shown"] for each in view["candidates"]] == [True] * 5


def test_what_cannot_be_expanded(paged):
    problem(more(paged, "nothing"), 404, "unknown-round")
    problem(more(paged, stream="nowhere"), 404, "unknown-stream")
    problem(more(paged, shown=3), 422, "invalid-parameter")
    for body in ({"count": 0}, {"count": 1.5}, {"shown": -1}, {"all": True}):
        problem(more(paged, **body), 422, "invalid-request")
    assert summary(paged)["events"] == 1


def test_after_the_answer_nothing_more_is_shown(paged):
    taken = more(paged, count=1, shown=2).json()
    paged.answer("r1", {"hit": "d2"})
    assert "has an answer" in problem(more(paged, shown=2), 410, "round-closed")["detail"]
    assert more(paged, count=1, shown=2).json() == taken  # that was shown before
    assert (summary(paged)["hits"], summary(paged)["misses"], summary(paged)["found_after_more"]) == (0, 1, 1)
    paged.propose(FIVE, round_id="r2")
    assert paged.http.post("/v1/streams/docs/expire", json={"older_than": 0}).json() == {"expired": 1}
    problem(more(paged, "r2"), 410, "round-closed")
    paged.propose(FIVE, round_id="r3")
    more(paged, "r3")
    paged.answer("r3", {"miss": True})
    assert more(paged, "r3", shown=2).json()["members"] == IDS[2:]  # all of it was shown


def test_only_what_was_shown_can_be_picked(paged):
    problem(paged.answer("r1", {"hit": "d3"}), 422, "not-shown")
    more(paged, count=1)
    problem(paged.answer("r1", {"hit": "d3"}), 422, "not-shown")
    more(paged, count=1)
    assert paged.answer("r1", {"hit": "d3"}).status_code == 200


def test_there_is_none_is_believed_where_everything_was_shown(paged):
    paged.propose(FIVE, round_id="r2")
    paged.propose(FIVE, round_id="r3")
    more(paged, "r2", count=2)
    more(paged, "r3")
    for name in ("r1", "r2", "r3"):
        assert paged.answer(name, {"absent": True}).status_code == 200
    assert (summary(paged)["misses"], summary(paged)["absent"]) == (2, 1)


def test_a_pick_after_an_empty_list_was_missed_by_it(service):
    """It counts against the error budget, as any list does that did not have it."""
    service.make(score="raw")
    for i in range(80):
        service.propose(FIVE, round_id=f"r{i}")
        service.answer(f"r{i}", {"hit": "d0"})
    assert service.propose(FIVE[1:], round_id="low").json()["members"] == []
    more(service, "low")
    service.answer("low", {"hit": "d1"})
    after = summary(service)
    assert (after["misses"], after["found_after_more"]) == (1, 1)
    assert after["error_budget"]["spent"] == pytest.approx(0.9)


def test_settings_that_change(service):
    service.make(score="raw", delta=0.01)
    changed = service.http.patch("/v1/streams/docs", json={"at_most": 2, "miss_budget": None})
    assert changed.status_code == 200
    assert changed.json()["settings"] == summary(service)["settings"]
    assert (changed.json()["settings"]["at_most"], changed.json()["error_budget"]) == (2, None)
    assert len(service.propose(FIVE).json()["members"]) == 2
    assert service.http.patch("/v1/streams/docs", json={"at_most": 2}).json()["events"] == 2  # it is so already
    assert service.http.patch("/v1/streams/docs", json={"at_most": None}).json()["settings"]["at_most"] is None
    assert len(service.propose(FIVE).json()["members"]) == 5


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ({}, "invalid-request", "at least one setting"),
        ({"coverage": 0.8}, "invalid-request", "coverage"),
        ({"score": "auto"}, "invalid-request", "score"),
        ({"at_most": 0}, "invalid-request", "at_most"),
        ({"at_least": 7, "at_most": 5}, "invalid-parameter", "at_most is 5, but at_least is 7"),
        ({"miss_budget": None}, "invalid-parameter", "whose guarantee is the error budget"),
        ({"explore_share": "auto", "shadow": True}, "invalid-parameter", "shadow mode shows everything anyway"),
        ({"explore_share": None}, None, None),
    ],
    ids=str,
)
def test_settings_that_cannot_change(service, body, kind, words):
    service.make(score="raw")
    if kind is None:  # it is so already
        assert service.http.patch("/v1/streams/docs", json=body).json()["events"] == 0
        return
    assert words in problem(service.http.patch("/v1/streams/docs", json=body), 422, kind)["detail"]
    assert summary(service)["events"] == 0
    problem(service.http.patch("/v1/streams/other", json={"at_most": 5}), 404, "unknown-stream")


def test_exploration_is_turned_on_and_not_off(address, read):
    """A new epoch by the rule for users who only click; the score stays, also after a restart, and `verify` agrees."""
    with running(address) as service:
        service.make()
        for i in range(40):
            five = [(name, 0.9 - 0.1 * ((j + i) % 5) + 0.001 * i) for j, name in enumerate(IDS)]
            service.propose(five, round_id=f"r{i}")
            service.answer(f"r{i}", {"hit": IDS[-i % 5]})
        learned = summary(service)["learned"]
        assert learned is not None
        after = service.http.patch("/v1/streams/docs", json={"explore_share": 0.5}).json()
        assert (after["epoch"], after["threshold"], after["error_budget"]) == (1, None, None)
        assert (after["policy"]["kind"], after["settings"]["unanswered"]) == ("anytime", "ignore")
        detail = problem(service.http.patch("/v1/streams/docs", json={"explore_share": None}), 422, "invalid-parameter")
        assert "not be turned off" in detail["detail"]
        problem(service.http.patch("/v1/streams/docs", json={"miss_budget": 20}), 422, "invalid-parameter")
    with running(address) as service:
        assert summary(service)["learned"] == learned
        explored = [service.propose(FIVE, round_id=f"e{i}").json()["explored"] for i in range(40)]
        assert 5 < sum(explored) < 35  # fails with a probability of 1e-6
    assert [found.problems for found in verify(read(address))] == [[]]


async def play(engine, count, start=0):
    """Show lists of five; some are expanded, some in two steps, and some settings change."""
    for i in range(start, start + count):
        name = f"r{i}"
        if i % 25 == 10:
            await engine.configure("a", {"at_most": 2 + i % 3, "patience": 100 + i})
        await engine.propose("a", IDS, [0.9 - 0.1 * ((j + i) % 5) + 0.001 * i for j in range(5)], round_id=name)
        if i % 4 == 0:
            await engine.more("a", name, 1)
        if i % 8 == 0:
            await engine.more("a", name)
        logged, _, _ = await engine.history.round("a", name)
        await engine.answer("a", name, "hit", logged.members[-1 if i % 4 == 0 else 0])


@pytest.fixture(params=["raw", "auto"])
def expanded(request, sqlite):
    """A log with lists that were expanded and settings that were changed; the score is raw, or learned."""

    async def main():
        async with Engine.open(sqlite, snapshot_every=40) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01, score=request.param))
            await play(engine, 90)

    asyncio.run(main())
    return sqlite


def first(store, kind, after=0):
    """Return the first entry of a kind."""
    with store.reading() as reader:
        row = reader.stream("a")
        return next(entry for entry in reader.events(row.id, after=after) if isinstance(entry.event, kind))


def test_verify_reads_them_and_so_does_a_restart(expanded, read):
    (found,) = verify(read(expanded))
    assert found.problems == []
    assert found.snapshots > 0

    async def after():
        async with Engine.open(expanded, snapshot_every=40) as engine:
            await play(engine, 40, start=90)
            return await engine.summary("a")

    assert asyncio.run(after())["settings"]["patience"] == 210
    (found,) = verify(read(expanded))
    assert found.problems == []


#: Which event is changed, and how.
TAMPERED = {
    "another candidate": (Expanded, lambda body: body.update(positions=[*body["positions"][:-1], 99])),
    "the best ones again": (Expanded, lambda body: body.update(positions=[0])),
    "more that reach the threshold": (Expanded, lambda body: body.update(reached=4)),
    "whether it is truncated": (Expanded, lambda body: body.update(truncated=not body.get("truncated", False))),
    "whether it was expanded before": (Expanded, lambda body: body.update(again=not body.get("again", False))),
    "what was compared": (Expanded, lambda body: body.update(comparable=[0.123] * len(body["positions"]))),
    "another page": (Configured, lambda body: body["changes"].update(at_most=1)),
    "a setting that is fixed": (Configured, lambda body: body["changes"].update(coverage=0.5)),
    "a setting that there is not": (Configured, lambda body: body["changes"].update(nothing=1)),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_verify_notices_what_was_altered(expanded, name, read):
    kind, change = TAMPERED[name]
    entry = first(read(expanded), kind, after=150)
    alter_body(expanded, entry.number, change)
    (found,) = verify(read(expanded))
    assert found.problems


def test_a_hit_after_more_cannot_be_called_one_of_the_list(expanded, read):
    entry = first(read(expanded), Expanded, after=150)
    alter_body(expanded, entry.number + 1, lambda body: body.pop("after_more"))
    (found,) = verify(read(expanded))
    assert "after_more=True" in "\n".join(found.problems)


def test_requests_that_share_a_commit(sqlite, read):
    """A change and a list, more and an answer: whichever comes first, the log can be read again."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="raw", at_most=2))
            for i in range(60):
                name, at_most = f"r{i}", 1 + i % 4
                await engine.propose("a", IDS, [score for _, score in FIVE], round_id=name)
                both = [
                    engine.configure("a", {"at_most": at_most}),
                    engine.propose("a", IDS, [0.9, 0.8, 0.7, 0.6, 0.5]),
                ]
                more = [engine.more("a", name, 1), engine.answer("a", name, "miss")]
                with contextlib.suppress(RoundClosed):
                    await asyncio.gather(*(both if i % 2 else both[::-1]), *(more if i % 3 else more[::-1]))
                last, _ = await engine.propose("a", IDS, [0.9, 0.8, 0.7, 0.6, 0.5])
                assert len(last.members) == at_most

    asyncio.run(main())
    (found,) = verify(read(sqlite))
    assert found.problems == []
    with read(sqlite).reading() as reader:
        kinds = [type(entry.event) for entry in reader.events(reader.stream("a").id)]
    assert {Configured, Listed, Expanded} <= set(kinds)


def test_a_killed_service_keeps_what_was_acknowledged(address):
    """Settings that were changed, and what was shown of a list: both are there after a SIGKILL."""
    with process(address) as (child, port), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as service:
        service.post("/v1/streams", json={"name": "docs", "coverage": 0.9, "score": "raw"}).raise_for_status()
        service.patch("/v1/streams/docs", json={"at_most": 2, "patience": 7}).raise_for_status()
        body = {"candidates": [{"id": name, "score": score} for name, score in FIVE], "round_id": "r1"}
        service.post("/v1/streams/docs/rounds", json=body).raise_for_status()
        service.post("/v1/streams/docs/rounds/r1/more", json={"count": 1, "shown": 2}).raise_for_status()
        child.kill()
        child.wait()
    with running(address) as after:
        settings = summary(after)["settings"]
        assert (settings["at_most"], settings["patience"]) == (2, 7)
        assert more(after, count=1, shown=2).json()["members"] == ["d2"]
        assert after.answer("r1", {"hit": "d2"}).status_code == 200
        assert summary(after)["found_after_more"] == 1
        assert len(after.propose(FIVE).json()["members"]) == 2
        same = {"name": "docs", "coverage": 0.9, "score": "raw"}
        assert after.http.post("/v1/streams", json=same).status_code == 200  # as it was made


def test_replicas_agree(postgresql):
    """Changed on one, in force on the other; expanded on one, picked on the other, expanded there once more."""
    with running(postgresql) as one, running(postgresql) as two:
        one.make(score="raw", at_most=2)
        one.propose(FIVE, round_id="r1")
        assert more(two, count=1, shown=2).json()["members"] == ["d2"]
        assert more(one, count=1, shown=2).json()["members"] == ["d2"]
        assert more(one, count=1, shown=3).json()["members"] == ["d3"]
        assert two.http.patch("/v1/streams/docs", json={"at_most": 3}).status_code == 200
        assert len(one.propose(FIVE).json()["members"]) == 3
        assert two.answer("r1", {"hit": "d3"}).status_code == 200
        problem(more(one, shown=2), 410, "round-closed")
        summaries = [summary(each) for each in (one, two)]
    assert [each["found_after_more"] for each in summaries] == [1, 1]
    assert [each["settings"]["at_most"] for each in summaries] == [3, 3]


def test_an_earlier_request_again_has_its_own_answer(paged):
    first = more(paged, count=1, shown=2).json()
    second = more(paged, count=1, shown=3).json()
    assert (first["members"], first["left"], second["members"], second["left"]) == (["d2"], 2, ["d3"], 1)
    again = more(paged, count=1, shown=2).json()
    assert (again["members"], again["left"]) == (["d2"], 2)
