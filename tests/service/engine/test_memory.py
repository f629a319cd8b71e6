"""What is in memory: folded from the log, from the last good snapshot on, each stream by itself."""

import asyncio

import pytest

from shortlist.errors import DamagedLog, ServiceUnavailable
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.memory import Memory, load
from shortlist.service.store import Store, StreamRow
from tests.service.playing import play
from tests.service.store.entries import hit, listed
from tests.service.tampering import alter


def test_snapshot_and_tail_give_what_the_whole_log_gives(sqlite):
    async def main():
        async with Engine.open(sqlite, snapshot_every=100) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, score="auto"))
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
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
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
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
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


def memory_of(*names):
    """Return a memory with new streams, numbered from 1."""
    memory = Memory()
    for number, name in enumerate(names, 1):
        memory.add(LoggedStream(StreamRow(number, name, {"coverage": 0.9}, 0.0, 0)), 0)
    return memory


def test_an_entry_that_cannot_be_folded_drops_its_own_stream_alone(caplog):
    memory = memory_of("a", "b")
    first, second = memory.by_id[1], memory.by_id[2]
    failed = memory.fold([listed(first, 1), listed(second, 1), hit(first, 2, "nothing"), listed(second, 2, "other")])
    assert {stream_id: type(error) for stream_id, error in failed.items()} == {1: ServiceUnavailable}
    assert list(memory.by_name) == ["b"]
    assert second.number == 2
    assert memory.cache.get((1, "r")) is None
    assert memory.cache.get((2, "r")) is not None
    assert not first.deleted  # only to be read again
    assert "event 2 of stream a cannot be folded" in caplog.text


def test_who_listens_is_woken_by_what_happens_to_their_stream():
    async def main():
        memory = memory_of("a", "b")
        changed, other = memory.listen(1), memory.listen(2)
        memory.fold([listed(memory.by_id[1], 1)])
        assert (changed.is_set(), other.is_set()) == (True, False)
        changed.clear()
        memory.forget(memory.by_id[1], deleted=True)
        assert changed.is_set()
        changed.clear()
        memory.unlisten(1, changed)
        memory.wake_all()
        assert (changed.is_set(), other.is_set()) == (False, True)

    asyncio.run(main())


def test_a_damaged_stream_is_dropped_and_the_first_reason_stays():
    memory = memory_of("a")
    first = memory.mark_damaged(1, "a", DamagedLog("event 3 cannot be read"))
    assert "stream 'a' is damaged: event 3 cannot be read; `shortlist verify` says more" in str(first)
    assert memory.mark_damaged(1, "a", DamagedLog("event 9 cannot be read")) is first
    assert not memory.by_id


def test_a_snapshot_from_after_the_end_of_the_log_is_not_used(sqlite, read):
    """The log is what counts: a snapshot of what it does not have is of something that was never stored."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await play(engine, 10)

    asyncio.run(main())
    alter(sqlite, "DELETE FROM events WHERE number > 15")
    alter(sqlite, "UPDATE streams SET last_number = 15")
    with read(sqlite).reading() as reader:
        stream, kept = load(reader, reader.stream("a"))
    assert (stream.number, kept) == (15, 0)
