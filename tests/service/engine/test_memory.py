"""What is in memory: folded from the log, from the last good snapshot on, each stream by itself."""

import asyncio

import pytest

from shortlist.service.engine import Engine, Settings, verify
from shortlist.service.engine.memory import load
from shortlist.service.engine.stream import LoggedStream
from shortlist.service.store import Store
from tests.service.playing import play
from tests.service.tampering import alter


def test_snapshot_and_tail_give_what_the_whole_log_gives(sqlite):
    async def main():
        async with Engine.open(sqlite, snapshot_every=100) as engine:
            await engine.create_stream("a", Settings(coverage=0.9, score="auto"))
            await play(engine, 333)

    asyncio.run(main())
    store = Store(sqlite, read_only=True)
    with store.reading() as reader:
        row = reader.stream("a")
        short, kept = load(reader, row)
        assert kept > 0
        whole = LoggedStream(row)
        for entry in reader.events(whole.id):
            whole.apply(entry)
    store.close()
    assert short.snapshot() == whole.snapshot()


def test_a_bug_while_storing_leaves_nobody_waiting_and_nothing_half_done(sqlite, monkeypatch, caplog):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            real = LoggedStream.apply

            def broken(*_):
                raise RuntimeError("a bug")

            monkeypatch.setattr(LoggedStream, "apply", broken)
            with pytest.raises(Exception, match="try again"):
                await engine.propose("a", ["x"], [0.5], round_id="r")
            monkeypatch.setattr(LoggedStream, "apply", real)
            _, new = await engine.propose("a", ["x"], [0.5], round_id="r")
            assert not new  # it was on disk before the bug

    asyncio.run(main())
    assert "event 1 of stream a cannot be folded" in caplog.text


def test_a_damaged_snapshot_is_passed_over_and_a_damaged_log_is_told(sqlite, caplog):
    async def main():
        async with Engine.open(sqlite, snapshot_every=50) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 100)
            return await engine.summary("a")

    before = asyncio.run(main())
    alter(sqlite, "UPDATE snapshots SET state = '{}'")

    async def again():
        async with Engine.open(sqlite) as engine:
            return await engine.summary("a")

    assert asyncio.run(again()) == before
    assert "is damaged" in caplog.text
    for body in ("{}", "not JSON"):
        alter(sqlite, f"UPDATE events SET body = '{body}' WHERE number = 7")
        store = Store(sqlite, read_only=True)
        (found,) = verify(store)
        store.close()
        assert "event 7 cannot be read" in found.problems[0]
