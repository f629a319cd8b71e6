"""Running it: stopping, backing up, upgrading, watching."""

import asyncio
import json
import logging
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import httpx
import pytest

from shortlist import InvalidParameter
from shortlist.service.engine import Engine, Settings, verify
from shortlist.service.store import Store
from shortlist.service.web import logs
from tests.service.running import free_port, process, running
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


def test_what_prometheus_reads(service):
    service.make(on_drift="report")
    for i in range(120):
        service.propose(round_id=f"r{i}")
        service.answer(f"r{i}", {"hit": "b"} if i % 10 else {"miss": True})
    service.propose(round_id="open")
    page = service.http.get("/metrics").text
    figures = dict(re.findall(r"^(shortlist_\S+) (\S+)$", page, flags=re.MULTILINE))
    assert float(figures['shortlist_rounds_total{stream="docs"}']) == 121
    assert float(figures['shortlist_hits_total{stream="docs"}']) == 108
    assert float(figures['shortlist_misses_total{stream="docs"}']) == 12
    assert float(figures['shortlist_open_rounds{stream="docs"}']) == 1
    assert 'shortlist_drift_level{stream="docs"}' in figures
    assert float(figures["shortlist_commit_requests_count"]) >= 241
    route = "/v1/streams/{name}/rounds"
    assert float(figures[f'shortlist_requests_total{{method="POST",route="{route}",status="201"}}']) == 121
    assert float(figures[f'shortlist_request_seconds_count{{route="{route}"}}']) == 121
    assert "docs/rounds" not in page  # routes, never paths: those have no end


def test_ready_means_that_writes_are_taken(sqlite):
    with running(sqlite) as service:
        service.make()
        service.in_writer("PRAGMA query_only = ON")
        assert service.propose().status_code == 503
        assert service.http.get("/readyz").status_code == 503
        assert service.http.get("/healthz").status_code == 200
        service.in_writer("PRAGMA query_only = OFF")
        time.sleep(1.1)  # it tries once a second at most
        assert service.http.get("/readyz").status_code == 200


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


def test_requests_have_ids_and_logs_are_json(sqlite, capsys):
    with running(sqlite) as service:
        service.make()
        answer = service.http.get("/v1/streams", headers={"X-Request-Id": "mine-1"})
        assert answer.headers["x-request-id"] == "mine-1"
        for strange in ("a b", "x" * 100, "é"):
            answer = service.http.get("/v1/streams", headers={"X-Request-Id": strange.encode()})
            assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])
    root, ours = logging.getLogger(), logging.getLogger("shortlist.access")
    before = root.handlers[:], root.level, ours.level
    try:
        logs.configure(access=True)
        ours.info("request", extra={"payload": {"request_id": "mine-1", "status": 200}})
        try:
            int("a bug")
        except ValueError:
            logging.getLogger("shortlist.service").exception("it failed")
    finally:
        root.handlers[:], root.level, ours.level = before
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert lines[0]["request_id"] == "mine-1"
    assert "ValueError" in lines[1]["trace"]


def test_several_workers_share_a_port_on_postgresql(postgresql):
    port = free_port()
    arguments = ["serve", "--database", postgresql, "--port", str(port), "--workers", "2"]
    child = subprocess.Popen([sys.executable, "-m", "shortlist", *arguments], stderr=subprocess.DEVNULL)
    try:
        from shortlist import Client  # noqa: PLC0415

        with Client(f"http://127.0.0.1:{port}", "docs", retries=40) as client:
            client.create()
            for _ in range(30):
                with Client(client.url, "docs", retries=10) as other:  # a new connection each: any worker
                    other.hit(other.propose([0.5]).round_id, 0)
            assert client.summary()["hits"] == 30
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


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
