"""Running it: stopping, backing up, upgrading, watching."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import httpx
import pytest

from shortlist.errors import InvalidParameter
from shortlist.service.engine import Engine, Settings, verify
from shortlist.service.store import Store
from tests.service.running import process, running
from tests.service.test_crash import Person, missing
from tests.service.test_engine import play


def test_stopped_under_load_with_a_listener_nothing_acknowledged_is_lost(address):
    """It ends by itself, by the signal and not by force, and the listener hears the end."""
    with process(address) as (child, port):
        url = f"http://127.0.0.1:{port}"
        httpx.post(f"{url}/v1/streams", json={"name": "load", "coverage": 0.9}, timeout=30)
        heard = []

        def listen():
            with httpx.stream("GET", f"{url}/v1/streams/load/live", timeout=60) as answer:
                heard.extend(line for line in answer.iter_lines() if line.startswith("event:"))

        listener = threading.Thread(target=listen)
        listener.start()
        people = [Person(port, f"p{i}") for i in range(16)]
        stopped = []

        def stop():
            stopped.append(time.monotonic())
            child.send_signal(signal.SIGTERM)

        threading.Timer(1.5, stop).start()

        async def all_work():
            await asyncio.gather(*(person.work() for person in people))

        asyncio.run(all_work())
        assert child.wait(60) in (0, -signal.SIGTERM)
        print(f"stopped after {time.monotonic() - stopped[0]:.1f} s")
        listener.join()
    assert heard[-1] == "event: end"
    assert sum(len(person.answered) for person in people) > 50
    assert missing(address, people) == []
    store = Store(address, read_only=True)
    (found,) = verify(store)
    store.close()
    assert found.problems == []
    assert found.snapshots >= 1  # the last one was kept on the way out


def test_a_backup_under_load_is_sound_and_can_be_served(sqlite, tmp_path):
    with process(sqlite) as (child, port):
        httpx.post(f"http://127.0.0.1:{port}/v1/streams", json={"name": "load", "coverage": 0.9}, timeout=30)
        people = [Person(port, f"p{i}") for i in range(8)]
        copies = []

        def back_up():
            for i in range(3):
                time.sleep(0.4)
                out = tmp_path / f"copy-{i}.db"
                command = [sys.executable, "-m", "shortlist", "backup", str(out), "--database", sqlite]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
                copies.append(out)
            child.terminate()

        thread = threading.Thread(target=back_up)
        thread.start()

        async def all_work():
            await asyncio.gather(*(person.work() for person in people))

        asyncio.run(all_work())
        thread.join()
    assert len(copies) == 3
    sizes = []
    for copy in copies:
        store = Store(f"sqlite:///{copy}", read_only=True)
        (found,) = verify(store)
        store.close()
        assert found.problems == []
        sizes.append(found.events)
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    with running(f"sqlite:///{copies[-1]}") as service:
        assert service.http.get("/v1/streams/load").json()["events"] == sizes[-1]
        assert service.propose(stream="load").status_code == 201


def test_backups_that_cannot_be(sqlite, postgresql, tmp_path):
    Store(sqlite).close()
    store = Store(sqlite, read_only=True)
    there = tmp_path / "there.db"
    there.write_text("precious")
    with pytest.raises(InvalidParameter, match="is there already"):
        store.backup(there)
    assert there.read_text() == "precious"
    with pytest.raises(Exception, match="cannot be written"):
        store.backup(tmp_path / "nowhere" / "copy.db")
    store.close()
    Store(postgresql).close()
    store = Store(postgresql, read_only=True)
    with pytest.raises(InvalidParameter, match="pg_dump"):
        store.backup(tmp_path / "copy.db")
    store.close()


def test_old_rounds_and_texts_go_by_themselves(sqlite):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await engine.propose("a", ["x"], [0.5], round_id="r", question="?")
            await engine.retain(3600, 3600)
            assert (await engine.summary("a"))["open"] == 1
            await engine.retain(-1, -1)
            assert (await engine.summary("a"))["expired"] == 1
            assert (await engine.round("a", "r"))[1] is None

    asyncio.run(main())


def test_a_backup_is_one_file(sqlite, tmp_path):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 10)
            store = Store(sqlite, read_only=True)
            store.backup(tmp_path / "copy.db")
            store.close()

    asyncio.run(main())
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.db"]
    with sqlite3.connect(tmp_path / "copy.db") as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (20,)
    connection.close()
