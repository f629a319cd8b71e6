"""The writer: group commit, and nothing half-done when writing fails."""

import asyncio
import json
import math
import threading
import time

import httpx
import pytest

from shortlist.errors import ConflictingAnswer, StoreUnavailable
from shortlist.rounds.events import kind_of
from shortlist.service.engine import Engine, StreamSettings, verify
from shortlist.service.engine.writer import Writer
from shortlist.service.store import Store
from tests.service.playing import play, refused
from tests.service.running import running


def test_requests_that_arrive_together_share_a_commit_and_see_each_other(address):
    seen = []

    async def main():
        async with Engine.open(address, observe=lambda *what: seen.append(what)) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            made = await asyncio.gather(
                *(engine.propose("a", ["x"], [0.5], round_id=f"r{i % 10}") for i in range(100)),
            )
            assert sum(new for _, new in made) == 10
            done = await asyncio.gather(
                *(engine.answer("a", f"r{i % 10}", "hit", "x") for i in range(50)),
                *(engine.answer("a", f"r{i % 10}", "miss") for i in range(50)),
                return_exceptions=True,
            )
            assert sum(outcome[1] for outcome in done[:50]) == 10
            assert all(isinstance(outcome, ConflictingAnswer) for outcome in done[50:])

    asyncio.run(main())
    assert [(requests, events) for requests, events, _ in seen] == [(100, 10), (100, 10)]


def test_requests_that_are_being_read_join_the_batch(address):
    """Each comes a turn of the event loop after the one before; the first does not go alone."""
    seen = []

    async def arrive(engine, turns):
        for _ in range(turns):
            await asyncio.sleep(0)
        await engine.propose("a", ["x"], [0.5], round_id=f"r{turns}")

    async def main():
        async with Engine.open(address, observe=lambda *what: seen.append(what)) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await asyncio.gather(*(arrive(engine, turns) for turns in range(20)))

    asyncio.run(main())
    assert [requests for requests, *_ in seen] == [20]


def test_rounds_of_a_batch_are_at_hand_however_large_they_are(sqlite):
    """More candidates in one batch than the cache holds: no answer is refused as that of a round never shown."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            ids, scores = list(range(10_000)), [0.5] * 10_000
            for i in range(24):
                await engine.propose("a", ids, scores, round_id=f"r{i}")
            done = await asyncio.gather(*(engine.answer("a", f"r{i}", "hit", 3) for i in range(24)))
            assert all(new for _, new in done)
            done = await asyncio.gather(*(engine.propose("a", ids, scores, round_id=f"r{i}") for i in range(24)))
            assert not any(new for _, new in done)

    asyncio.run(main())


@pytest.mark.parametrize("dies", [False, True])
def test_what_is_due_is_written_before_the_next_list(address, monkeypatch, dies, constants):
    """A restart stands in the log right after its alarm; if the process dies in between, the next one writes it."""
    constants(alarm=50)
    settings = StreamSettings.of(coverage=0.9, delta=0.01, score="raw", on_drift="restart")

    async def first():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", settings)
            await play(engine, 100)
            if dies:
                monkeypatch.setattr(Writer, "_settle", lambda *_: asyncio.sleep(0))
            for i in range(400):
                await engine.propose("a", [0, 1], [0.5, 0.6], round_id=f"m{i}")
                await engine.answer("a", f"m{i}", "miss")
                summary = await engine.summary("a")
                if summary["drift"]["alarm_count"]:
                    return summary["epoch"]
            raise AssertionError("no alarm rang")

    async def second():
        async with Engine.open(address) as engine:
            shown, _ = await engine.propose("a", [0, 1], [0.5, 0.6], round_id="next")
            return shown.listed.epoch, shown.listed.threshold

    assert asyncio.run(first()) == int(not dies)
    monkeypatch.undo()
    constants(alarm=50)
    assert asyncio.run(second()) == (1, -math.inf)
    store = Store(address, read_only=True)
    (found,) = verify(store)
    assert found.problems == []
    with store.reading() as reader:
        kinds = [kind_of(entry.event) for entry in reader.events(reader.stream("a").id)]
    store.close()
    assert kinds[-3:] == ["miss", "restarted", "listed"]
    assert kinds.count("restarted") == 1


def test_lists_and_answers_of_one_batch_around_a_fit(sqlite):
    """Lists that are judged with the pick that completes the fit are complete, and never count."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9, delta=0.01))
            await play(engine, 29)
            await engine.propose("a", [0, 1], [0.1, 0.2], round_id="last")
            _, (beside, _) = await asyncio.gather(
                engine.answer("a", "last", "hit", 1),
                engine.propose("a", [0, 1], [0.1, 0.2], round_id="beside"),
            )
            assert beside.listed.fit == 0
            assert beside.members == [1, 0]
            after, _ = await engine.propose("a", [0, 1], [0.1, 0.2], round_id="after")
            assert after.listed.fit == 1
            await engine.answer("a", "beside", "hit", 1)
            assert (await engine.summary("a"))["counted"] == 0
            await engine.answer("a", "after", "hit", 1)
            return await engine.summary("a")

    assert asyncio.run(main())["counted"] == 1
    store = Store(sqlite, read_only=True)
    assert [found.problems for found in verify(store)] == [[]]
    store.close()


def test_a_write_that_fails_changes_nothing_and_the_next_one_works(address, monkeypatch):
    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            await play(engine, 100)
            before = await engine.summary("a")
            real = Store.append

            def fail(self, *_):
                self.rollback()
                raise StoreUnavailable("the database did not accept this")

            monkeypatch.setattr(Store, "append", fail)
            await refused(StoreUnavailable, engine.propose("a", ["x"], [0.5], round_id="r"))
            assert await engine.summary("a") == before
            monkeypatch.setattr(Store, "append", real)
            _, new = await engine.propose("a", ["x"], [0.5], round_id="r")
            assert new

    asyncio.run(main())


def test_a_commit_of_which_nobody_heard_is_found_in_the_log(address, monkeypatch):
    """The connection breaks after the commit: the request fails, its repetition finds it done."""

    async def main():
        async with Engine.open(address) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
            real = Store.append

            def break_off(self, *new):
                real(self, *new)
                raise StoreUnavailable("the connection was lost")

            monkeypatch.setattr(Store, "append", break_off)
            await refused(StoreUnavailable, engine.propose("a", ["x"], [0.5], round_id="r"))
            monkeypatch.setattr(Store, "append", real)
            made, new = await engine.propose("a", ["x"], [0.5], round_id="r")
            assert not new
            _, new = await engine.answer("a", made.shown.round_id, "hit", "x")
            assert new
            assert (await engine.summary("a"))["events"] == 2

    asyncio.run(main())


def test_a_snapshot_that_cannot_be_kept_stops_nobody(sqlite, monkeypatch, caplog):
    async def main():
        async with Engine.open(sqlite, snapshot_every=10) as engine:
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))

            def fail(*_):
                raise MemoryError

            monkeypatch.setattr(Store, "save_snapshot", fail)
            await play(engine, 20)  # it is read again from the log each time, and who asks does not notice
            monkeypatch.undo()
            await play(engine, 20)
            await engine.check()

    asyncio.run(main())
    assert "a batch could not be stored" in caplog.text
    store = Store(sqlite, read_only=True)
    assert [found.problems for found in verify(store)] == [[]]
    store.close()


def test_a_client_that_leaves_harms_nobody(sqlite):
    """Its round is stored or not; the next one is served."""
    with running(sqlite) as service:
        service.make()
        stop = threading.Event()

        def leave():
            while not stop.is_set():
                with httpx.Client(base_url=service.url, timeout=0.002) as http:
                    try:
                        http.post("/v1/streams/docs/rounds", json={"candidates": [{"id": "a", "score": 0.5}]})
                    except httpx.TransportError:
                        continue

        threads = [threading.Thread(target=leave) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(100):
            assert service.propose(round_id=f"r{i}").status_code == 201
        stop.set()
        for thread in threads:
            thread.join()
        time.sleep(0.2)
        assert json.loads(service.http.get("/v1/streams/docs").text)["rounds"] >= 100
