"""Killed at any moment, nothing that was acknowledged is lost, and nothing is there twice.

Clients write down every acknowledgement they get. The service is killed with SIGKILL while they are at
it; then its log is read. A kill does not empty the system's page cache, so a
trace of system calls, further down, shows that the sync comes before the acknowledgement.
"""

import asyncio
import contextlib
import itertools
import json
import random
import shutil
import subprocess
import time

import pytest

from shortlist.rounds.shown import to_null
from shortlist.service.engine import verify
from shortlist.service.engine.round_cache import Round
from shortlist.service.store import Store
from tests.service.running import free_port, process

CANDIDATES = [f"doc-{i}" for i in range(8)]


class Person:
    """Shows lists and answers them over a socket, and remembers what was acknowledged."""

    def __init__(self, port, name):
        self.port, self.name, self.rng = port, name, random.Random(name)
        self.shown, self.answered = {}, {}

    async def send(self, method, path, body):
        raw = json.dumps(body).encode()
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            f"Content-Length: {len(raw)}",
        )
        self.writer.write("\r\n".join((*lines, "", "")).encode() + raw)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        return int(head[9:12]), json.loads(await self.reader.readexactly(length))

    async def ask(self, method, path, body):
        """Ask, and return status and answer."""
        return await self.send(method, path, body)

    def right(self, scores):
        """Return what this person looks for."""
        return self.rng.choices(CANDIDATES, [score**6 for score in scores])[0]

    async def play(self, count):
        """Show a list, answer it, and remember what was acknowledged."""
        round_id = f"{self.name}-{count}"
        scores = [self.rng.random() for _ in CANDIDATES]
        listed = [{"id": name, "score": score} for name, score in zip(CANDIDATES, scores, strict=True)]
        status, shown = await self.ask("POST", "/v1/streams/load/rounds", {"candidates": listed, "round_id": round_id})
        assert status in (200, 201), shown
        self.shown[round_id] = (shown["threshold"], shown["members"])
        right = self.right(scores)
        answer = {"hit": right} if right in shown["members"] else {"miss": True}
        status, taken = await self.ask("PUT", f"/v1/streams/load/rounds/{round_id}/feedback", answer)
        assert status == 200, taken
        self.answered[round_id] = answer

    async def work(self):
        """Go on until the service is gone."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            with contextlib.closing(self.writer):
                for count in itertools.count():  # until the connection breaks
                    await self.play(count)


async def work_until(people, answers, end):
    """Let everybody work; end the service once so many answers are acknowledged."""

    async def watch():
        while sum(len(person.answered) for person in people) < answers:  # noqa: ASYNC110 - of sixteen clients
            await asyncio.sleep(0.002)
        end()

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(person.work() for person in people))
    watching.cancel()


def kill_under_load(address, kills, variant="durable", seed=0, clients=16):
    """Return how many rounds and answers were acknowledged, and which of them the log does not have."""
    rng = random.Random(seed)
    acknowledged, lost = 0, []
    for turn in range(kills):
        with process(address, variant) as (child, port):
            import httpx  # noqa: PLC0415

            httpx.post(f"http://127.0.0.1:{port}/v1/streams", json={"name": "load", "coverage": 0.9}, timeout=30)
            people = [Person(port, f"k{turn}-{i}") for i in range(clients)]
            asyncio.run(work_until(people, rng.randint(20, 250), child.kill))
            child.wait()
        lost += missing(address, people)
        acknowledged += sum(len(person.shown) + len(person.answered) for person in people)
    return acknowledged, lost


def missing(address, people):
    """Return what was acknowledged and is not in the log, or is there with other content."""
    for _ in range(100):
        with contextlib.suppress(Exception):  # PostgreSQL may still be closing the connection that was cut
            store = Store(address, read_only=True)
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the log cannot be read")
    lost = []
    with store.reading() as reader:
        row = reader.stream("load")
        for person in people:
            found = reader.rounds(row.id, person.shown)
            shown = {entry.round_id: Round(entry) for entry in found if entry.is_list}
            closed = {entry.round_id: entry for entry in found if not entry.is_list}
            for round_id, acknowledged in person.shown.items():
                there = shown.get(round_id)
                if there is None or acknowledged != (to_null(there.listed.threshold), there.members):
                    lost.append(round_id)
            for round_id, answer in person.answered.items():
                entry = closed.get(round_id)
                if entry is None or answer != Round(shown[round_id].shown, entry).answer():
                    lost.append(f"answer to {round_id}")
    store.close()
    return lost


def sound(address):
    store = Store(address, read_only=True)
    (found,) = verify(store)
    store.close()
    return found


def check(address, kills, seed):
    acknowledged, lost = kill_under_load(address, kills, seed=seed)
    assert lost == []
    assert acknowledged > 20 * kills
    found = sound(address)
    assert found.problems == []
    print(
        f"{kills} kills, {acknowledged:,} acknowledged, none lost; {found.events:,} events, {found.snapshots} snapshots"
    )


def test_killed_on_sqlite(sqlite):
    check(sqlite, 3, seed=1)


def test_killed_on_postgresql(postgresql):
    check(postgresql, 2, seed=2)


def test_the_kill_test_notices_a_write_that_comes_after_the_acknowledgement(sqlite):
    """The negative control: the same test fails when the order is wrong."""
    for seed in range(3):
        acknowledged, lost = kill_under_load(sqlite, 1, variant="ack-first", seed=seed)
        if lost:
            return
    pytest.fail(f"{acknowledged} were acknowledged before they were written, and nothing was missed")


@pytest.mark.soak
def test_killed_a_hundred_times_on_sqlite(sqlite):
    check(sqlite, 100, seed=3)


@pytest.mark.soak
def test_killed_thirty_times_on_postgresql(postgresql_server):
    check(postgresql_server.new_database(), 30, seed=4)


def trace(address, folder, variant, requests=20):
    """Return the order of syncs (S) and acknowledgements (A) of a service with one client."""
    out = folder / f"{variant}.trace"
    before = ["strace", "-f", "-s", "64", "-e", "trace=fsync,fdatasync,write,writev,sendto,sendmsg", "-o", str(out)]
    with process(address, variant, port=free_port(), before=before) as (child, port):
        import httpx  # noqa: PLC0415

        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
            http.post("/v1/streams", json={"name": "load", "coverage": 0.9})
            for i in range(requests):
                body = {"candidates": [{"id": "a", "score": 0.5}], "round_id": f"r{i}"}
                assert http.post("/v1/streams/load/rounds", json=body).status_code == 201
                assert http.put(f"/v1/streams/load/rounds/r{i}/feedback", json={"hit": "a"}).status_code == 200
        subprocess.run(["pkill", "-TERM", "-P", str(child.pid)], check=False)
        child.wait()
    order = ""
    for line in out.read_text().splitlines():
        if ("fsync" in line or "fdatasync" in line) and line.rstrip().endswith("= 0"):
            order += "S"
        elif "HTTP/1.1 20" in line:
            order += "A"
    return order[: order.rindex("A") + 1]


needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: no trace of syncs")


def acknowledged_before_synced(order, requests):
    """Return how many of the last acknowledgements have no sync of their own before them."""
    gaps = order.split("A")[:-1][-2 * requests :]
    return sum("S" not in gap for gap in gaps)


@needs_strace
def test_the_sync_comes_before_the_acknowledgement(sqlite, tmp_path):
    """From a trace of system calls: every acknowledgement has a sync of its own before it."""
    order = trace(sqlite, tmp_path, "durable")
    assert order.count("A") >= 40
    assert acknowledged_before_synced(order, 20) == 0


@needs_strace
def test_the_trace_notices_when_nothing_is_synced(sqlite, tmp_path):
    """The negative control: with synchronous = OFF the same trace shows acknowledgements without a sync."""
    order = trace(sqlite, tmp_path, "unsynced")
    assert order.count("A") >= 40
    assert acknowledged_before_synced(order, 20) > 30
