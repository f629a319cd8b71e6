"""Four attacks on a service of its own, with and without the proxy of deploy/nginx.conf: what each does to others.

Slow headers, slow bodies, 10,000 connections that say nothing, and a flood; meanwhile a client that behaves sends a
request twenty times per second, on a new connection each. All on this machine; four minutes. Needs nginx.
"""

import asyncio
import contextlib
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from statistics import median
from typing import Any

SECONDS = 15.0
ROUND = json.dumps({"candidates": [{"id": f"c{i}", "score": i / 50} for i in range(50)]}).encode()
Attack = Callable[[int], Coroutine[Any, Any, None]]


def request(body: bytes, length: int | None = None) -> bytes:
    """Return a request for a list, perhaps with a body that is announced longer than it is."""
    head = (
        "POST /v1/streams/docs/rounds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


async def drip(port: int, first: bytes, rest: bytes) -> None:
    """Open a connection, send something at once, and then a few bytes per second until it is closed."""
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.closing(writer):
            writer.write(first)
            while not writer.is_closing():
                await asyncio.sleep(1.0)
                writer.write(rest)
                await writer.drain()


async def slow_headers(port: int) -> None:
    """2,000 connections that send a header per second."""
    await asyncio.gather(*(drip(port, b"GET /v1/streams HTTP/1.1\r\n", b"X-A: b\r\n") for _ in range(2_000)))


async def slow_bodies(port: int) -> None:
    """2,000 connections that send a kilobyte of a megabyte per second."""
    await asyncio.gather(*(drip(port, request(b"", 2**20), b" " * 2**10) for _ in range(2_000)))


async def connections(port: int) -> None:
    """10,000 connections that say nothing."""
    await asyncio.gather(*(drip(port, b"", b"") for _ in range(10_000)))


async def flood(port: int) -> None:
    """64 connections that send lists as fast as they are answered."""

    async def send() -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                with contextlib.closing(writer):
                    while True:
                        writer.write(request(ROUND))
                        await answer(reader)

    await asyncio.gather(*(send() for _ in range(64)))


async def answer(reader: asyncio.StreamReader) -> int:
    """Read a response; return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))
    return int(head.split()[1])


async def behave(port: int, seconds: float, local: str = "127.0.0.2") -> list[tuple[int, float]]:
    """Send twenty requests per second from an address of its own; return status (0: none) and seconds of each."""
    done = list[tuple[int, float]]()

    async def one() -> None:
        began, status = time.perf_counter(), 0
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(local, 0))
                with contextlib.closing(writer):
                    writer.write(request(ROUND))
                    status = await answer(reader)
        done.append((status, time.perf_counter() - began))

    async with asyncio.TaskGroup() as group:
        for _ in range(round(20 * seconds)):
            group.create_task(one())
            await asyncio.sleep(0.05)
    return done


def free_ports() -> tuple[int, int]:
    """Return two ports that are free."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])


def proxy_configuration(folder: Path, inner: int, outer: int) -> str:
    """Return deploy/nginx.conf for this folder and these ports, without TLS."""
    text = (Path(__file__).parents[1] / "deploy/nginx.conf").read_text()
    lines = [line for line in text.splitlines() if "ssl_certificate" not in line]
    text = "\n".join(lines).replace("listen 443 ssl", f"listen {outer}").replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    own = "access_log off;\n" + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    here = f"user root; pid {folder}/nginx.pid; error_log {folder}/nginx.log; daemon off;\n"
    text = text.replace("worker_rlimit_nofile 32768", f"worker_rlimit_nofile {most_files()}")
    return here + text.replace("http {", "http {\n" + own, 1)


@contextlib.contextmanager
def running(command: list[str], open_files: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that may open so many files, and kill it."""
    limited = ["prlimit", f"--nofile={open_files}:{open_files}", *command]
    with subprocess.Popen(limited, stderr=subprocess.DEVNULL) as child:  # noqa: S603 - commands of our own
        try:
            yield child
        finally:
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


async def create_stream(port: int) -> None:
    """Create the stream, as soon as the service listens."""
    body = b'{"name": "docs", "coverage": 0.9}'
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.closing(writer):
                writer.write(request(body).replace(b"/docs/rounds", b""))
                if await answer(reader) < 300:
                    return
        await asyncio.sleep(0.1)


@contextlib.asynccontextmanager
async def service(folder: Path, proxied: bool) -> AsyncIterator[tuple[int, int]]:
    """Run the service, perhaps behind the proxy; yield the port to attack and the process of the service."""
    inner, outer = free_ports()
    database = f"sqlite:///{folder}/log.db"
    serve = [sys.executable, "-m", "shortlist", "serve", "--database", database, "--port", str(inner)]
    with contextlib.ExitStack() as stack:
        child = stack.enter_context(running(serve, 1024))  # as most systems have it
        if proxied:
            (folder / "nginx.conf").write_text(proxy_configuration(folder, inner, outer))
            stack.enter_context(running(["nginx", "-c", str(folder / "nginx.conf")], most_files()))
        port = outer if proxied else inner
        await create_stream(port)
        yield port, child.pid


def most_files() -> int:
    """Return how many files a process of ours may open at the most."""
    return min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 32_768)


def memory(process: int) -> float:
    """Return the resident memory of a process, in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


async def main() -> None:
    """Print a row for each attack, without the proxy and with it."""
    print("| attack | proxy | answered | median ms | worst ms | memory of the service |\n|---|---|---|---|---|---|")
    for attack in (None, slow_headers, slow_bodies, connections, flood):
        for proxied in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                async with service(Path(folder), proxied) as (port, process):
                    before = memory(process)
                    task = None if attack is None else asyncio.create_task(attack(port))
                    await asyncio.sleep(2)
                    done = await behave(port, SECONDS)
                    after = memory(process)
                    if task is not None:
                        task.cancel()
                        await asyncio.gather(task, return_exceptions=True)
            good = [seconds for status, seconds in done if status == 201]
            times = f"{1000 * median(good):.0f} | {1000 * max(good):.0f}" if good else "- | -"
            name = "none" if attack is None else (attack.__doc__ or "").rstrip(".")
            way = "nginx" if proxied else "none"
            print(f"| {name} | {way} | {len(good)} of {len(done)} | {times} | {after - before:+.0f} MB |", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files(), most_files()))
    asyncio.run(main())
