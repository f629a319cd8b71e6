"""A backup taken under load, and one that is put back after a crash."""

import asyncio
import subprocess
import sys
import threading
import time

import httpx

from shortlist.service.engine import verify
from shortlist.service.store import Store
from tests.service.running import Running, process, running
from tests.service.test_crash import Person


def shortlist(*words):
    """Run a command."""
    return subprocess.run([sys.executable, "-m", "shortlist", *words], capture_output=True, text=True, check=False)


def test_a_backup_under_load_is_sound_and_can_be_served(sqlite, tmp_path):
    with process(sqlite) as (child, port):
        httpx.post(f"http://127.0.0.1:{port}/v1/streams", json={"name": "load", "coverage": 0.9}, timeout=30)
        people = [Person(port, f"p{i}") for i in range(8)]
        copies = []

        def back_up():
            for i in range(3):
                time.sleep(0.4)
                out = tmp_path / f"copy-{i}.db"
                done = shortlist("backup", str(out), "--database", sqlite)
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


def test_a_backup_is_put_back_after_a_crash(sqlite, tmp_path):
    """The journal of the database that was killed is there: it must not meet the backup."""
    copy = tmp_path / "copy.db"
    with process(sqlite) as (child, port):
        service = Running(port)
        service.make()
        service.play(10)
        assert shortlist("backup", str(copy), "--database", sqlite).returncode == 0
        service.play(50)
        refused = shortlist("restore", str(copy), "--database", sqlite)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "in use by another shortlist" in refused.stderr
        child.kill()
        child.wait()
        service.http.close()
    assert (tmp_path / "log.db-wal").stat().st_size > 0
    done = shortlist("restore", str(copy), "--database", sqlite)
    assert done.returncode == 0, done.stderr
    assert "restored 1 stream with 20 events" in done.stderr
    (kept,) = tmp_path.glob("log.db.before-restore-*")
    assert str(kept) in done.stderr
    # 60 rounds, their answers, and three fits of the score.
    for address, events in ((sqlite, 20), (f"sqlite:///{kept}", 123)):
        store = Store(address, read_only=True)
        (found,) = verify(store)
        store.close()
        assert (found.problems, found.events) == ([], events)
    with running(sqlite) as service:
        assert service.http.get("/v1/streams/docs").json()["events"] == 20
        service.play(1)
