"""`verify` finds what was altered."""

import asyncio

import pytest

from shortlist.errors import StoreUnavailable
from shortlist.service.engine import Engine, Settings, verify
from shortlist.service.store import Reader
from tests.service.playing import play
from tests.service.tampering import alter, alter_body

ALTERED = {
    "an answer that is missing": ("DELETE FROM events WHERE number = 2", "event 3: follows event 1"),
    "a log that ends early": ("DELETE FROM events WHERE number > 300", "the log ends at event 300"),
    "a snapshot of something else": (
        "UPDATE snapshots SET state = replace(state, '\"hits\":', '\"hits\":1')",
        "is not what the log gives",
    ),
    "a hit with another score": (
        "UPDATE events SET body = replace(body, '\"score\":', '\"score\":1') WHERE kind = 'hit'",
        "has another score than in its list",
    ),
    "an event of another kind": ("UPDATE events SET kind = 'nonsense' WHERE number = 2", "event 2 cannot be read"),
}

#: The fields of an event, the number of the event, and the problem.
FIELDS = {
    "a threshold that was too high": (1, {"threshold": 0.001}, "cut at 0.001, above the -inf that the log gives"),
    "a candidate that was hidden": (1, {"positions": [0, 0, 0]}, "says that positions is [0, 0, 0]"),
    "an epoch that had not come": (5, {"epoch": 3}, "has epoch 3, and the log gives 0"),
    "a list that says it is truncated": (1, {"truncated": True}, "says that truncated is True"),
    "fewer that reach the threshold": (1, {"reached": 3}, "says that reached is 3"),
    "an answer to a round that was never shown": (2, {"round_id": "other"}, "and is of other"),
    "an answer that says more than its list": (2, {"below_cut": True}, "and its list gives"),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_was_altered_is_found(played, name, read):
    sql, problem = ALTERED[name]
    assert [found.problems for found in verify(read(played))] == [[]]
    alter(played, sql)
    (found,) = verify(read(played))
    assert problem in "\n".join(found.problems)


@pytest.mark.parametrize("name", FIELDS)
def test_fields_that_were_altered_are_found(played, name, read):
    number, fields, problem = FIELDS[name]
    alter_body(played, number, lambda body: body.update(fields))
    (found,) = verify(read(played))
    assert problem in "\n".join(found.problems)


@pytest.mark.parametrize("place", ["comparable", "leading", "other"])
def test_comparable_scores_that_were_altered_are_found(sqlite, place, read):
    """Also those of a score that does not lead: it may lead later."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9, score="auto"))
            await play(engine, 20)

    asyncio.run(main())
    assert [found.problems for found in verify(read(sqlite))] == [[]]

    def change(body):
        scores = body["comparable"] if place == "comparable" else body["race"][place == "other"][1][1]
        scores[-1] += 0.001

    alter_body(sqlite, 39, change)
    (found,) = verify(read(sqlite))
    assert found.problems == ["event 39: has other comparable scores than its scores give"]


def test_a_database_that_does_not_answer_is_not_a_finding(sqlite, read, monkeypatch):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))

    asyncio.run(main())

    def away(*_, **__):
        raise StoreUnavailable("the database does not take this now")

    monkeypatch.setattr(Reader, "events", away)
    with pytest.raises(StoreUnavailable):
        list(verify(read(sqlite)))


def test_silent_rounds_behind_an_open_one_come_back_after_a_restart(sqlite, read):
    """A set has an order that depends on its history: what is stored must not."""

    async def part(start, stop):
        async with Engine.open(sqlite, snapshot_every=50) as engine:
            await engine.create_stream("a", Settings(coverage=0.9, patience=1000))
            for i in range(start, stop):
                await engine.propose("a", ["x", "y"], [0.1, 0.9], round_id=f"r{i}")
                if i % 7:
                    await engine.answer("a", f"r{i}", "skip" if i % 3 else "miss")

    for start in range(0, 600, 150):
        asyncio.run(part(start, start + 150))
    (finding,) = verify(read(sqlite))
    assert finding.snapshots > 0
    assert finding.problems == []
