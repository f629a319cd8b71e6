"""Running the app: uvicorn in this process, or in several that share a socket."""

import asyncio
import contextlib
import functools
import gc
import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

from shortlist.errors import InvalidParameter
from shortlist.service.web import logs
from shortlist.service.web.connections import HeaderTimeout, most_connections
from shortlist.service.web.metrics import forget_worker, share_counts

__all__ = ["Server", "listen", "run", "run_workers"]

_log = logging.getLogger("shortlist.service")
#: How many seconds the service waits for accepted requests when it stops.
_GRACE: Final = 4


class Server(uvicorn.Server):
    """Ends server-sent events when it stops: they would never end by themselves. Closes connections that are slow."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.header_timeout = HeaderTimeout()

    async def on_tick(self, counter: int) -> bool:
        """Do what is due ten times per second."""
        if counter % 10 == 0:  # once per second
            self.header_timeout.look(self.server_state.connections)
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        # What exists now stays: scanning it again and again costs the collector a tenth of a second. And the rounds
        # in memory are many and long-lived, so a full scan is made seldom.
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: end live streams too, and let no request wait for long."""
        super().handle_exit(sig, frame)
        engine = getattr(self._app.state, "engine", None)
        if engine is not None:
            self._loop.call_soon_threadsafe(engine.hurry)

    @property
    def _app(self) -> FastAPI:
        app = self.config.app
        assert isinstance(app, FastAPI)  # noqa: S101 - for the type checker
        return app


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP: only then does asyncio turn off Nagle's algorithm, which makes an answer wait for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidParameter(f"cannot listen on {host} port {port}: {reason}; try another --port") from None
    listener.listen(2048)
    listener.set_inheritable(True)
    return listener


def run(
    app: FastAPI,
    *,
    sockets: list[socket.socket] | None = None,
    port: int = 8000,
    access: bool = False,
    proxies: Sequence[str] = (),
) -> None:
    """Serve an app until a signal stops it, on a socket or on a port of this machine.

    `X-Forwarded-For` is believed where it comes from one of the proxies; from others it would let anybody choose
    under which address their requests are counted.
    """
    logs.configure(access=access)
    config = uvicorn.Config(
        app,
        port=port,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
        limit_concurrency=most_connections(),
        ws="none",  # there are no WebSockets here; a request to switch to them is one like any other
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
    )
    Server(config).run(sockets)


def run_workers(
    make_app: Callable[[], FastAPI],
    count: int,
    sockets: list[socket.socket],
    *,
    access: bool,
    proxies: Sequence[str] = (),
) -> None:
    """Serve from several processes until a signal stops them; one that dies is restarted."""
    logs.configure(access=access)
    with share_counts():
        _run_workers(functools.partial(_work, make_app, sockets, access, proxies), count)


def _run_workers(work: Callable[[], None], count: int) -> None:
    context = multiprocessing.get_context("spawn")
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    workers: list[Any] = []
    while not stopping:
        for worker in [worker for worker in workers if not worker.is_alive()]:
            _log.warning("worker %s ended with %s; starting another", worker.pid, worker.exitcode)
            workers.remove(worker)
            forget_worker(worker.pid)
            time.sleep(1.0)
        while len(workers) < count:
            worker = context.Process(target=work)
            worker.start()
            workers.append(worker)
        time.sleep(0.2)
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            worker.terminate()
    for worker in workers:
        worker.join(2 * _GRACE)
        if worker.is_alive():
            worker.kill()


def _work(make_app: Callable[[], FastAPI], sockets: list[socket.socket], access: bool, proxies: Sequence[str]) -> None:
    run(make_app(), sockets=sockets, access=access, proxies=proxies)
