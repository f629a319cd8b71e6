"""What was once wrong, or nearly: each held down by a test."""

import asyncio
import json
import subprocess
import sys
import threading
import time

import httpx
import pytest
import sqlalchemy as sa

import shortlist
from shortlist import Client
from shortlist.errors import ScorerChanged, UnknownStream
from shortlist.service.engine import Engine, Settings, verify
from shortlist.service.store import Event, Store, Text, database
from tests.service.running import running
from tests.service.test_engine import play


def test_rounds_of_a_batch_are_at_hand_however_large_they_are(sqlite):
    """More candidates in one batch than the cache holds: nobody is told that a round was never shown."""

    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            ids, scores = list(range(10_000)), [0.5] * 10_000
            for i in range(24):
                await engine.propose("a", ids, scores, round_id=f"r{i}")
            done = await asyncio.gather(*(engine.answer("a", f"r{i}", "hit", 3) for i in range(24)))
            assert all(new for _, new in done)
            done = await asyncio.gather(*(engine.propose("a", ids, scores, round_id=f"r{i}") for i in range(24)))
            assert not any(new for _, new in done)

    asyncio.run(main())


def test_two_processes_on_one_database_see_the_same(postgresql):
    async def main():
        async with Engine.open(postgresql) as one, Engine.open(postgresql) as two:
            await one.create_stream("a", Settings(coverage=0.9))
            heard = []

            async def listen():
                heard.extend([summary["rounds"] async for summary in two.changes("a", pause=0) if summary])

            listening = asyncio.create_task(listen())
            for i in range(5):
                await one.propose("a", ["x"], [0.5], round_id=f"r{i}")
            assert (await two.summary("a"))["rounds"] == 5
            assert len(await two.rounds("a", only_open=True)) == 5
            await asyncio.gather(*(two.answer("a", f"r{i}", "hit", "x") for i in range(5)))
            assert await one.rounds("a", only_open=True) == []
            both = await asyncio.gather(*(play(engine, 60, seed) for seed, engine in enumerate((one, two))))
            assert len(both) == 2
            assert (await one.summary("a"))["threshold"] == (await two.summary("a"))["threshold"]
            await one.delete_stream("a")
            with pytest.raises(UnknownStream):
                await two.summary("a")
            await asyncio.wait_for(listening, 20)
            assert heard[-1] > 5
            _, new = await two.create_stream("a", Settings(coverage=0.5))
            assert new
            assert (await one.summary("a"))["settings"]["coverage"] == 0.5
            _, new = await one.propose("a", ["x"], [0.5], round_id="r0")
            assert new
            made = await asyncio.gather(
                *(engine.create_stream(f"s{i}", Settings(coverage=0.9)) for i in range(20) for engine in (one, two))
            )
            assert sum(new for _, new in made) == 20

    asyncio.run(main())
    store = Store(postgresql, read_only=True)
    assert all(found.problems == [] for found in verify(store))
    store.close()


def test_a_snapshot_that_cannot_be_kept_stops_nobody(sqlite, monkeypatch, caplog):
    async def main():
        async with Engine.open(sqlite, snapshot_every=10) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))

            def fail(*_):
                raise MemoryError

            monkeypatch.setattr(Store, "save_snapshot", fail)
            with pytest.raises(shortlist.errors.ServiceUnavailable):
                await play(engine, 20)
            monkeypatch.undo()
            await play(engine, 20)
            await engine.check()

    asyncio.run(main())
    assert "a batch could not be stored" in caplog.text
    store = Store(sqlite, read_only=True)
    assert [found.problems for found in verify(store)] == [[]]
    store.close()


def test_the_client_escapes_names(service):
    service.make("docs")
    for name in ("docs?tmp", "docs#old", "../streams/docs", "docs/"):
        with Client(service.url, name) as client, pytest.raises(shortlist.ShortlistError):
            client.delete()
    for name in ("", ".", ".."):
        with pytest.raises(shortlist.errors.InvalidParameter):
            Client(service.url, name)
    assert service.http.get("/v1/streams/docs").status_code == 200


def test_a_reader_delays_no_deletion_and_what_is_deleted_leaves_the_journal_after_it(sqlite, tmp_path):
    store, reader = Store(sqlite), Store(sqlite, read_only=True)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    other, _ = store.create_stream("b", {"coverage": 0.9}, 0.0)
    store.append([Event(row.id, 1, "shown", "r", 0.0, {})], [Text(row.id, 1, "the secret", None)])

    def bytes_on_disk():
        return b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))

    with reader.reading() as open_reader:
        assert open_reader.stream("a")
        store.delete_stream(row.id)
        assert b"the secret" in bytes_on_disk()  # the reader still reads it
    for i in range(120):
        store.append([Event(other.id, i + 1, "shown", f"r{i}", 0.0, {})])
    assert b"the secret" not in bytes_on_disk()
    reader.close()
    store.close()


def test_two_versions_of_a_scorer_in_one_batch(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            done = await asyncio.gather(
                engine.propose("a", ["x"], [0.5], scorer_version="v1"),
                engine.propose("a", ["x"], [0.5], scorer_version="v2"),
                return_exceptions=True,
            )
            assert isinstance(done[1], ScorerChanged)

    asyncio.run(main())


def test_a_damaged_snapshot_is_passed_over_and_a_damaged_log_is_told(sqlite, caplog):
    async def main():
        async with Engine.open(sqlite, snapshot_every=50) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 100)
            return await engine.summary("a")

    before = asyncio.run(main())

    def alter(sql):
        engine = database.make_engine(sqlite)
        with engine.begin() as connection:
            connection.execute(sa.text(sql))
        engine.dispose()

    alter("UPDATE snapshots SET state = '{}'")

    async def again():
        async with Engine.open(sqlite) as engine:
            return await engine.summary("a")

    assert asyncio.run(again()) == before
    assert "is damaged" in caplog.text
    for body in ("{}", "not JSON"):
        alter(f"UPDATE events SET body = '{body}' WHERE number = 7")
        store = Store(sqlite, read_only=True)
        (found,) = verify(store)
        store.close()
        assert "event 7 cannot be" in found.problems[0]  # applied, or read


def test_an_export_that_fails_leaves_the_old_file(sqlite, tmp_path):
    Store(sqlite).close()
    old = tmp_path / "old.jsonl"
    old.write_text("precious")
    command = [sys.executable, "-m", "shortlist", "export", "typo", "--database", sqlite, "--out", str(old)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
    assert old.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []


def test_many_answers_are_sent_in_parts(sqlite):
    with running(sqlite) as service, Client(service.url, "docs") as client:
        client.create()
        told = client.answer_many((f"r{i}", {"miss": True}) for i in range(1500))
        assert len(told) == 1500
        assert all(isinstance(each, shortlist.errors.UnknownRound) for each in told)


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
