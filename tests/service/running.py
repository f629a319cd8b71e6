"""Services to test: in a thread of this process, or in a process of their own that can be killed."""

import asyncio
import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import uvicorn
import uvicorn.server

from shortlist.service.web import create_app

__all__ = ["Running", "free_port", "process", "running"]


class _Quick:
    """asyncio for uvicorn's server, which looks ten times per second whether it should end, and waits as long again."""

    def __getattr__(self, name):
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds):
        await asyncio.sleep(min(seconds, 0.005))


uvicorn.server.asyncio = _Quick()  # a thousand services are started and stopped


class Running:
    """A running service, and a plain HTTP client for it."""

    def __init__(self, port, app=None, loop=None):
        self.port, self.app, self.loop = port, app, loop
        self.url = f"http://127.0.0.1:{port}"
        # Without certificates, which take 17 ms to read.
        self.http = httpx.Client(base_url=self.url, timeout=30, verify=False)

    @property
    def engine(self):
        return self.app.state.engine

    def call(self, coroutine):
        """Run a coroutine in the service's own loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def make(self, name="docs", coverage=0.9, **settings):
        answer = self.http.post("/v1/streams", json={"name": name, "coverage": coverage, **settings})
        assert answer.status_code in (200, 201), answer.text
        return answer

    def propose(self, candidates=(("a", 0.3), ("b", 0.9)), stream="docs", **more):
        listed = [{"id": name, "score": score} for name, score in candidates]
        return self.http.post(f"/v1/streams/{stream}/rounds", json={"candidates": listed, **more})

    def answer(self, round_id, answer, stream="docs"):
        return self.http.put(f"/v1/streams/{stream}/rounds/{round_id}/feedback", json=answer)

    def play(self, count=3, stream="docs"):
        """Show lists, and answer each."""
        for _ in range(count):
            shown = self.propose(stream=stream, question="who").json()
            assert self.answer(shown["round_id"], {"hit": "b"}, stream=stream).status_code == 200


#: Ports below those that the system gives out by itself, a block for each worker: what binds one a moment later must
#: not find it taken.
_PORTS = itertools.cycle(
    range(start := 20_000 + 1_500 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")), start + 1_500)
)


def free_port():
    """Return a port that nobody else is given, for a process that binds it later."""
    for port in _PORTS:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is always another one")


def bound(port):
    """Return a socket that listens: there is no moment in which somebody else could take its port."""
    # Named as TCP, or asyncio leaves Nagle's algorithm on, and every answer takes 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port or 0))
    return listening


@contextlib.contextmanager
def running(address, port=None, app=None, **settings):
    """Run an app in a thread: the one given, or a new one."""
    # On a busy machine a fit may take long, and what is shown next depends on it.
    app = app or create_app(address, **{"fit_patience": 60.0, **settings})
    listening = bound(port)
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
    started = {}

    def run():
        started["loop"] = asyncio.new_event_loop()
        started["loop"].run_until_complete(server.serve(sockets=[listening]))
        started["loop"].close()

    thread = threading.Thread(target=run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.01)
    service = Running(port, app, started["loop"])
    try:
        yield service
    finally:
        service.http.close()
        with contextlib.suppress(AttributeError):
            service.loop.call_soon_threadsafe(service.engine.prepare_shutdown)
        server.should_exit = True
        thread.join()
        listening.close()


@contextlib.contextmanager
def process(address, variant="durable", port=None, before=(), reranker=()):
    """Run the service in a process of its own, perhaps with a reranker; see serve.py for the variants."""
    port = port or free_port()
    script = Path(__file__).with_name("serve.py")
    child = subprocess.Popen([*before, sys.executable, str(script), address, str(port), variant, *reranker])
    try:
        while True:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5)
                break
            assert child.poll() is None, "the service did not start"
            time.sleep(0.02)
        yield child, port
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
