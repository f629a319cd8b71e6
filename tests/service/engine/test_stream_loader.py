"""Streams are read when they are asked for, stop nobody while they are, and leave memory again."""

import asyncio
import gc
import threading
import tracemalloc

import psycopg
import pytest

from shortlist.errors import ServiceUnavailable, UnknownStream
from shortlist.service.engine import Engine, StreamSettings, stream_loader, verify, writer
from shortlist.service.engine.memory import load
from shortlist.service.store import Store
from shortlist.service.store import store as store_log
from tests.service.playing import play
from tests.service.tampering import alter


async def one_round(engine, name):
    made, _ = await engine.propose(name, ["x", "y"], [0.2, 0.9])
    return await engine.answer(name, made.shown.round_id, "hit", "y")


@pytest.fixture
def long_log(sqlite, monkeypatch):
    """A database with a stream that takes long to read, and one that does not; what lets the first be read."""

    async def main():
        async with Engine.open(sqlite) as engine:
            for name in ("long", "short"):
                await engine.create_stream(name, StreamSettings.of(coverage=0.9))
                await play(engine, 30, name=name)

    asyncio.run(main())
    alter(sqlite, "DELETE FROM snapshots WHERE stream_id = 1")
    go_on, read = threading.Event(), load

    def slow(reader, row, stopping=bool):
        if row.name == "long" and stopping is not bool:
            while not go_on.wait(0.01):
                if stopping():
                    raise ServiceUnavailable("no longer")
        return read(reader, row, stopping)

    monkeypatch.setattr(stream_loader, "load", slow)
    monkeypatch.setattr(stream_loader, "MOST_TAIL", 50)
    monkeypatch.setattr(stream_loader, "_PATIENCE", 1.0)
    return sqlite, go_on


def test_a_stream_that_takes_long_to_read_stops_nobody(long_log, read):
    address, go_on = long_log

    async def main():
        async with Engine.open(address) as engine:
            for ask in (engine.summary, lambda name: engine.propose(name, ["x"], [0.5])):
                with pytest.raises(ServiceUnavailable, match="'long' is being read from its log"):
                    await ask("long")
            for _ in range(3):  # who writes, who reads and who asks whether it is ready do not wait
                await one_round(engine, "short")
                await engine.summary("short")
                await engine.check()
            go_on.set()
            while True:
                try:
                    return await engine.summary("long"), await one_round(engine, "long")
                except ServiceUnavailable:
                    await asyncio.sleep(0.01)

    summary, _ = asyncio.run(main())
    assert summary["rounds"] == 30
    (long, _) = verify(read(address))
    assert (long.problems, long.rounds) == ([], 31)
    with Store(address, read_only=True).reading() as reader:  # it took long, and does not take so long again
        assert [snapshot.number for snapshot in reader.snapshots(1)][-1] == summary["events"]


def test_stopping_does_not_wait_for_a_long_log(long_log):
    address, _ = long_log

    async def main():
        async with Engine.open(address) as engine:
            with pytest.raises(ServiceUnavailable):
                await engine.summary("long")

    asyncio.run(main())


def test_a_stream_that_is_replaced_while_it_is_read(long_log):
    address, go_on = long_log

    async def main():
        async with Engine.open(address) as engine:
            with pytest.raises(ServiceUnavailable):
                await engine.summary("long")
            await engine.delete_stream("long")
            await engine.create_stream("long", StreamSettings.of(coverage=0.8))
            go_on.set()
            made = await engine.summary("long")
            await engine.delete_stream("long")
            with pytest.raises(UnknownStream):
                await engine.summary("long")
            return made

    assert asyncio.run(main())["settings"]["coverage"] == 0.8


def test_a_stream_that_is_asked_for_while_it_is_deleted_is_gone(long_log, monkeypatch):
    """Whoever asks meanwhile has it read again; nobody waits for that once it is deleted."""
    address, _ = long_log
    asked = threading.Event()

    async def main():
        async with Engine.open(address) as engine:
            delete = engine.store.delete_stream
            monkeypatch.setattr(engine.store, "delete_stream", lambda stream_id: asked.wait(30) and delete(stream_id))
            deletion = asyncio.create_task(engine.delete_stream("long"))
            while not engine._writer.lock.locked():  # noqa: ASYNC110 - there is nothing to wait for
                await asyncio.sleep(0.01)
            with pytest.raises(ServiceUnavailable):
                await engine.summary("long")
            asked.set()
            await deletion
            with pytest.raises(UnknownStream):
                await engine.summary("long")
            made, created = await engine.create_stream("long", StreamSettings.of(coverage=0.8))
            return made["rounds"], created

    assert asyncio.run(main()) == (0, True)


def test_streams_leave_memory_and_come_back_as_they_were(address, read):
    """With room for three of ten, asked for by turns and all at once."""

    async def main(limit):
        async with Engine.open(address, stream_limit=limit, snapshot_every=7) as engine:
            names = [f"s{i}" for i in range(10)]
            for name in names:
                await engine.create_stream(name, StreamSettings.of(coverage=0.9))
            for _ in range(4):
                for name in names:
                    await one_round(engine, name)
                    assert len(engine.in_memory) <= limit
            await asyncio.gather(*(one_round(engine, name) for _ in range(6) for name in names))
            summaries = [await engine.summary(name) for name in names]
            return [summary["rounds"] for summary in summaries], len(engine.in_memory)

    rounds, left = asyncio.run(main(3))
    assert rounds == [10] * 10
    assert left == 3
    assert asyncio.run(main(1)) == ([20] * 10, 1)
    assert [(found.problems, found.rounds) for found in verify(read(address))] == [([], 20)] * 10


def test_a_stream_that_another_process_has_deleted_leaves_memory(postgresql):
    """There is nothing to keep a snapshot of, and whoever needs the room goes on."""
    noticed = []

    async def main():
        async with (
            Engine.open(postgresql, stream_limit=1, notice=noticed.append) as one,
            Engine.open(postgresql) as two,
        ):
            for name in ("a", "b"):
                await one.create_stream(name, StreamSettings.of(coverage=0.9))
            await one_round(one, "a")
            await two.delete_stream("a")
            await one_round(one, "b")
            await one_round(one, "b")
            return one.in_memory

    assert asyncio.run(main()) == ["b"]
    assert "commit failed" not in noticed


def test_a_stream_that_somebody_listens_to_stays(sqlite):
    async def main():
        async with Engine.open(sqlite, stream_limit=2) as engine:
            for i in range(6):
                await engine.create_stream(f"s{i}", StreamSettings.of(coverage=0.9))
            changes = engine.changes("s0", pause=0)
            first = await anext(changes)
            for i in range(1, 6):
                await one_round(engine, f"s{i}")
            assert "s0" in engine.in_memory
            await one_round(engine, "s0")
            second = await anext(changes)
            await changes.aclose()
            return first.number, second.number

    assert asyncio.run(main()) == (0, 2)


def test_streams_are_listed_without_being_taken_into_memory(address):
    async def make():
        async with Engine.open(address) as engine:
            for i in range(30):
                await engine.create_stream(f"s{i:02}", StreamSettings.of(coverage=0.9))
                await one_round(engine, f"s{i:02}")

    async def list_all():
        async with Engine.open(address) as engine:
            pages, after = [], ""
            while after is not None:
                page = await engine.streams(after=after, limit=10)
                pages.append([(stream["name"], stream["rounds"]) for stream in page["streams"]])
                after = page["next"]
            return pages, engine.in_memory

    asyncio.run(make())
    pages, in_memory = asyncio.run(list_all())
    assert [stream for page in pages for stream in page] == [(f"s{i:02}", 1) for i in range(30)]
    assert in_memory == []


def test_a_stream_takes_little_memory(sqlite):
    """After 1,000 rounds, 60 kB at the most: what is allocated for five more of it, a fifth."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await play(engine, 1000)

    asyncio.run(main())
    store = Store(sqlite, read_only=True)
    with store.reading() as reader:
        row = reader.stream("a")
        kept, sizes = [load(reader, row)], []
        for _ in range(3):  # other threads of this process may allocate something meanwhile
            gc.collect()
            tracemalloc.start()
            before, _ = tracemalloc.get_traced_memory()
            kept += [load(reader, row) for _ in range(5)]
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            sizes.append((after - before) / 5)
    store.close()
    assert kept[0][0].stream.tally.rounds == 1000
    assert min(sizes) <= 60_000


def test_a_stream_that_another_process_holds_delays_itself_alone(postgresql):
    async def main():
        async with Engine.open(postgresql) as engine:
            for name in ("held", "free"):
                await engine.create_stream(name, StreamSettings.of(coverage=0.9))
            with psycopg.connect(postgresql) as other:
                other.execute("SELECT * FROM streams WHERE name = 'held' FOR UPDATE")
                held = [asyncio.create_task(one_round(engine, "held"))]
                for _ in range(3):
                    await one_round(engine, "free")
                held.append(asyncio.create_task(one_round(engine, "held")))
                for _ in range(3):
                    await one_round(engine, "free")
                assert [task for task in held if task.done()] == []
            await asyncio.gather(*held)
            return [(await engine.summary(name))["rounds"] for name in ("held", "free")]

    assert asyncio.run(main()) == [2, 6]


def test_a_stream_that_is_held_for_too_long_is_refused(postgresql, monkeypatch):
    monkeypatch.setattr(writer, "_PATIENCE", 0.3)

    async def main():
        async with Engine.open(postgresql) as engine:
            await engine.create_stream("held", StreamSettings.of(coverage=0.9))
            with psycopg.connect(postgresql) as other:
                other.execute("SELECT * FROM streams WHERE name = 'held' FOR UPDATE")
                with pytest.raises(ServiceUnavailable, match="stream held is held by another process"):
                    await one_round(engine, "held")
            await one_round(engine, "held")
            return (await engine.summary("held"))["rounds"]

    assert asyncio.run(main()) == 1


def test_a_service_that_is_about_to_stop_waits_for_no_stream(postgresql, monkeypatch):
    monkeypatch.setattr(writer, "_PATIENCE", 3600.0)

    async def main():
        async with Engine.open(postgresql) as engine:
            for name in ("held", "free"):
                await engine.create_stream(name, StreamSettings.of(coverage=0.9))
            with psycopg.connect(postgresql) as other:
                other.execute("SELECT * FROM streams WHERE name = 'held' FOR UPDATE")
                held = asyncio.create_task(one_round(engine, "held"))
                await one_round(engine, "free")
                while not engine.waiting:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                engine.prepare_shutdown()
                with pytest.raises(ServiceUnavailable, match="stream held is held by another process"):
                    await asyncio.wait_for(held, 30)
                await one_round(engine, "free")  # what can be written still is

    asyncio.run(main())


def test_all_requests_of_a_stream_wait_for_it_together(postgresql, monkeypatch):
    """However many they are, it is looked for once in each try."""
    for module in (stream_loader, store_log):
        monkeypatch.setattr(module, "MOST_TAIL", 5)

    async def main():
        async with Engine.open(postgresql) as one, Engine.open(postgresql) as two:
            await one.create_stream("a", StreamSettings.of(coverage=0.9))
            await two.summary("a")
            for _ in range(10):
                await one_round(one, "a")
            looked, defer = [], two._writer._defer
            monkeypatch.setattr(
                two._writer, "_defer", lambda batch, busy: looked.append(busy.positions) or defer(batch, busy)
            )
            await asyncio.gather(*(one_round(two, "a") for _ in range(20)))
            return looked, (await one.summary("a"))["rounds"]

    looked, rounds = asyncio.run(main())
    assert rounds == 30
    assert {len(places) for places in looked} == {20}


def test_a_replica_that_is_far_behind_reads_the_stream_again(postgresql, monkeypatch):
    """Neither on the event loop nor while the writer holds the stream."""
    for module in (stream_loader, store_log):
        monkeypatch.setattr(module, "MOST_TAIL", 5)

    async def main():
        async with Engine.open(postgresql) as one, Engine.open(postgresql) as two:
            await one.create_stream("a", StreamSettings.of(coverage=0.9))
            rounds = []
            for behind in ("reading", "writing"):
                await two.summary("a")
                for _ in range(10):
                    await one_round(one, "a")
                if behind == "writing":
                    await one_round(two, "a")
                rounds.append((await two.summary("a"))["rounds"])
            return rounds, (await one.summary("a"))["rounds"]

    assert asyncio.run(main()) == ([10, 21], 21)
