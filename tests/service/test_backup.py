"""A backup taken under load."""

import asyncio
import subprocess
import sys
import threading
import time

import httpx

from shortlist.service.engine import verify
from shortlist.service.store import Store
from tests.service.running import process, running
from tests.service.test_crash import Person


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
