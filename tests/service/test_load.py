"""A service under mixed load for ten minutes: memory, latency and the growth of its file.

The seconds come from SHORTLIST_SOAK_SECONDS (600 by default). Nothing is said of how fast it is, only that it
does not get slower or larger with time.
"""

import asyncio
import os
import random
import statistics
import time
from pathlib import Path

import httpx
import pytest

from shortlist.service.engine import verify
from shortlist.service.store import Store
from tests.service.running import process

SECONDS = float(os.environ.get("SHORTLIST_SOAK_SECONDS", "600"))


def memory_of(pid):
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("no /proc here: memory cannot be read")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


async def person(url, number, until, latencies):
    """Propose, answer at once, late or never, read, list and watch."""
    rng = random.Random(number)
    late = []
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        while time.monotonic() < until:
            stream = f"s{rng.randrange(20)}"
            scores = [rng.random() for _ in range(rng.randrange(2, 60))]
            listed = [{"id": f"d{i}", "score": score, "text": "some words"} for i, score in enumerate(scores)]
            began = time.monotonic()
            answer = await http.post(
                f"/v1/streams/{stream}/rounds", json={"candidates": listed, "question": f"question {rng.random()}"}
            )
            latencies.append((began, time.monotonic() - began))
            assert answer.status_code == 201, answer.text
            shown = answer.json()
            right = rng.choices([f"d{i}" for i in range(len(scores))], [score**6 for score in scores])[0]
            verdict = {"hit": right} if right in shown["members"] else {"miss": True}
            kind = rng.random()
            if kind < 0.75:
                late.append((stream, shown["round_id"], verdict))
            elif kind < 0.9:
                late.insert(0, (stream, shown["round_id"], {"skip": True}))
            while late and (rng.random() < 0.8 or len(late) > 50):
                of, round_id, given = late.pop(rng.randrange(len(late)))
                began = time.monotonic()
                answer = await http.put(f"/v1/streams/{of}/rounds/{round_id}/feedback", json=given)
                latencies.append((began, time.monotonic() - began))
                assert answer.status_code in (200, 410), answer.text
            if rng.random() < 0.02:
                assert (await http.get(f"/v1/streams/{stream}")).status_code == 200
                assert (await http.get(f"/v1/streams/{stream}/rounds?limit=20")).status_code == 200
                assert (await http.get("/metrics")).status_code == 200


async def watch(pid, file, url, until, seen):
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        while time.monotonic() < until:
            await asyncio.sleep(min(10.0, SECONDS / 30))
            streams = (await http.get("/v1/streams")).json()["streams"]
            size = sum(path.stat().st_size for path in file.parent.glob(f"{file.name}*")) / 2**20
            seen.append((time.monotonic(), memory_of(pid), size, sum(stream["events"] for stream in streams)))


@pytest.mark.soak
def test_ten_minutes_of_mixed_load(sqlite, tmp_path):
    latencies, seen = [], []
    with process(sqlite) as (child, port):
        url = f"http://127.0.0.1:{port}"
        for i in range(20):
            score = ("raw", "relative", "auto")[i % 3]
            httpx.post(f"{url}/v1/streams", json={"name": f"s{i}", "coverage": 0.9, "score": score}, timeout=60)
        until = time.monotonic() + SECONDS

        async def main():
            people = [person(url, number, until, latencies) for number in range(8)]
            await asyncio.gather(watch(child.pid, tmp_path / "log.db", url, until, seen), *people)

        asyncio.run(main())
        child.terminate()
        child.wait()
    print()
    for moment, memory, size, events in seen[:: max(1, len(seen) // 10)]:
        print(f"{moment - seen[0][0]:6.0f} s  memory {memory:6.1f} MB  file {size:7.1f} MB  events {events:,}")
    thirds = [latencies[len(latencies) * i // 3 : len(latencies) * (i + 1) // 3] for i in range(3)]
    medians = [1000 * statistics.median(seconds for _, seconds in third) for third in thirds]
    print(
        "median latency by thirds:",
        " ".join(f"{median:.1f} ms" for median in medians),
        f"of {len(latencies):,} requests",
    )
    late = seen[len(seen) // 2 :]
    per_event = (late[-1][2] - late[0][2]) / (late[-1][3] - late[0][3]) * 1024
    print(f"file: {per_event:.2f} KB an event in the second half")
    assert late[-1][1] < 1.1 * late[0][1] + 5  # memory is flat after the warm-up
    assert medians[2] < 2 * medians[0]
    assert per_event < 10
    store = Store(sqlite, read_only=True)
    assert all(found.problems == [] for found in verify(store))
    store.close()
