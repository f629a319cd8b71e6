"""What durability costs: the service beside a route that only validates, and on a slow disk.

Run: ``python benchmarks/service.py [--seconds 60] [--database postgresql://...]``. Everything is
measured in one run, turn by turn, and reported as ratios, because machines differ and are shared.
"""

import argparse
import asyncio
import contextlib
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
from fastapi import FastAPI, Request
from load import Connection, Tally, bodies_of, load

from shortlist.service.store import LogEntry, Store, Text
from shortlist.service.web import create_app, requests, run

#: What a commit costs on the slow disk, in seconds.
SLOW = 0.003


def bare() -> FastAPI:
    """Return routes that validate the same bodies, and store nothing."""
    app = FastAPI()

    @app.post("/v1/streams/{name}/rounds", status_code=201)
    async def propose(request: Request, name: str, body: requests.NewRound) -> dict[str, Any]:  # noqa: ARG001
        return {
            "round_id": body.round_id,
            "threshold": None,
            "members": [candidate.id for candidate in body.candidates],
            "reached": len(body.candidates),
            "truncated": False,
        }

    @app.put("/v1/streams/{name}/rounds/{round_id}/feedback")
    async def answer(name: str, round_id: str, body: requests.NewAnswer) -> dict[str, Any]:  # noqa: ARG001
        return {"round_id": round_id, "answer": body.model_dump(), "threshold": None}

    return app


def slow_disk() -> None:
    """Make every commit cost as much as on a slow disk."""
    quick = Store.append

    def append(store: Store, new: Sequence[LogEntry], written: Sequence[Text] = (), *more: Any) -> None:
        time.sleep(SLOW)
        quick(store, new, written, *more)

    Store.append = append  # type: ignore[assignment, method-assign]


def run_server(kind: str, port: int, address: str) -> None:
    """Be the server: bare, durable, slow, or slow-single."""
    if kind == "bare":
        app = bare()
    else:
        if kind.startswith("slow"):
            slow_disk()
        app = create_app(address, batch_limit=1 if kind == "slow-single" else 512)
    run(lambda: app, port=port)


@contextlib.contextmanager
def server(kind: str, address: str) -> Iterator[int]:
    """Run a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, __file__, "--serve", kind, str(port), address])
    try:
        while True:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=1)
                break
            if process.poll() is not None:
                raise SystemExit(f"the {kind} server did not start")
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def commits_and_requests(url: str) -> tuple[float, float]:
    """Return how many commits there were, and how many requests they stored, from the service's metrics."""
    page = httpx.get(f"{url}/metrics").text
    count, total = (
        re.search(rf"^shortlist_commit_requests_{part} (.*)$", page, re.MULTILINE) for part in ("count", "sum")
    )
    return float(count[1]) if count else 0.0, float(total[1]) if total else 0.0


def measure(kind: str, port: int, seconds: float) -> tuple[Tally, float]:
    """Return what the clients saw, and commits for each acknowledged request."""
    url = f"http://127.0.0.1:{port}"
    if kind == "bare":
        return asyncio.run(load(port, "load", seconds=seconds)), 0.0
    httpx.post(f"{url}/v1/streams", json={"name": "load", "coverage": 0.9})
    before = commits_and_requests(url)
    tally = asyncio.run(load(port, "load", seconds=seconds))
    after = commits_and_requests(url)
    return tally, (after[0] - before[0]) / (after[1] - before[1])


async def _batches(port: int, turns: int) -> tuple[float, float]:
    """Return lists per second in batches of 1,000, and one by one, both on one connection that is kept open."""
    connection = Connection(*await asyncio.open_connection("127.0.0.1", port))
    bodies = [body for body, _ in bodies_of(1000, 20, seed=0)]
    seconds = {"batch": 0.0, "single": 0.0}
    counts = {"batch": 0, "single": 0}
    for turn in range(turns):
        named = [body + f',"round_id":"b{turn}-{i}"}}'.encode() for i, body in enumerate(bodies)]
        began = time.perf_counter()
        status, _ = await connection.send(
            "POST", "/v1/streams/batches/rounds:batch", b'{"rounds":[' + b",".join(named) + b"]}"
        )
        _expect(status, 207)
        seconds["batch"] += time.perf_counter() - began
        counts["batch"] += len(named)
        began = time.perf_counter()
        for body in named[:200]:
            status, _ = await connection.send("POST", "/v1/streams/singles/rounds", body)
            _expect(status, 201)
        seconds["single"] += time.perf_counter() - began
        counts["single"] += 200
    connection.writer.close()
    return counts["batch"] / seconds["batch"], counts["single"] / seconds["single"]


def _expect(status: int, expected: int) -> None:
    if status != expected:
        raise SystemExit(f"the service answered {status}, not {expected}")


def measure_batches(port: int, turns: int) -> tuple[float, float]:
    """Make the streams, and measure."""
    for name in ("batches", "singles"):
        httpx.post(f"http://127.0.0.1:{port}/v1/streams", json={"name": name, "coverage": 0.9})
    return asyncio.run(_batches(port, turns))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--database")
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        kinds = ("bare", "durable", "slow", "slow-single")
        ports: dict[str, int] = {}
        for kind in kinds:
            address = options.database or f"sqlite:///{folder}/{kind}.db"
            if kind != "bare" or not ports:
                ports[kind] = stack.enter_context(server(kind, address))
        totals: dict[str, Tally] = {kind: Tally() for kind in kinds}
        commits = dict.fromkeys(kinds, 0.0)
        for _ in range(options.turns):
            for kind in kinds:
                tally, commits[kind] = measure(kind, ports[kind], options.seconds / options.turns)
                totals[kind].seconds += tally.seconds
                totals[kind].latencies += tally.latencies
                totals[kind].errors += tally.errors
        together, singly = measure_batches(ports["durable"], 2 * options.turns)
        for kind, tally in totals.items():
            figures[kind] = {
                "rate": tally.rate,
                "p50": tally.quantile(0.5),
                "p99": tally.quantile(0.99),
                "commits": commits[kind],
                "errors": len(tally.errors),
            }
            print(
                f"{kind:12} {tally.rate:8,.0f} requests/s   p50 {figures[kind]['p50']:6.1f} ms"
                f"   p99 {figures[kind]['p99']:6.1f} ms   {commits[kind] * 1000:5.0f} commits/1,000 requests"
                f"   {len(tally.errors)} errors"
            )
    ratio = {kind: figures[kind]["rate"] for kind in kinds}
    least = 0.5 if options.database else 0.6
    print(f"durable / bare: {ratio['durable'] / ratio['bare']:.2f} (at least {least})")
    times = together / singly
    print(f"lists in batches of 1,000: {together:,.0f}/s, one by one {singly:,.0f}/s: {times:.1f} (at least 8)")
    print(f"slow disk, shared commits / a commit each: {ratio['slow'] / ratio['slow-single']:.1f} (at least 4)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        run_server(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
