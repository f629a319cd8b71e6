"""Running the app: uvicorn, in one process or in several that share a socket."""

import asyncio
import contextlib
import functools
import gc
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from shortlist.errors import InvalidParameter
from shortlist.service.web import log_format
from shortlist.service.web.service_metrics import share_counts

__all__ = ["before_shutdown", "listen", "run"]

#: How many seconds the service waits for accepted requests when it stops.
_SHUTDOWN_SECONDS: Final = 4
#: How many of the files that a process may open are not for connections.
_OTHER_FILES: Final = 64


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise if that is not possible."""
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
    make_app: Callable[[], FastAPI],
    *,
    sockets: list[socket.socket] | None = None,
    port: int = 8000,
    workers: int = 1,
    access: bool = False,
) -> None:
    """Serve an app until a signal stops it, on a socket or on a port of this machine.

    Parameters
    ----------
    make_app
        Creates the app, in each worker.
    sockets
        Where to listen.
    port
        The port to listen on, if there are no sockets.
    workers
        The number of processes; more than one need sockets.
    access
        Log every request, not only those that fail.
    """
    log_format.configure(access=access)
    config = uvicorn.Config(
        functools.partial(_create, make_app, access=access),
        factory=True,
        port=port,
        workers=workers,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        server_header=False,
        limit_concurrency=_most_connections(),
        ws="none",  # there are no WebSockets here; a request to switch to them is one like any other
        proxy_headers=False,  # the address of a client is used nowhere
    )
    if workers == 1:
        uvicorn.Server(config).run(sockets)
    else:
        with share_counts():
            Multiprocess(config, sockets or []).run()


def _create(make_app: Callable[[], FastAPI], *, access: bool) -> FastAPI:
    """Create the app in the process that serves it."""
    log_format.configure(access=access)  # a worker does not inherit the logs of its parent
    app = make_app()
    # What exists now is never garbage: scanning it again and again takes a tenth of a second each time. And the rounds
    # in memory are many and long-lived, so full scans are made seldom.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    return app


def _most_connections() -> int | None:
    """Return how many connections there may be: above that, new ones are answered 503 instead of left waiting."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    return max(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHER_FILES)


@contextlib.contextmanager
def before_shutdown(prepare: Callable[[], None]) -> Iterator[None]:
    """Call a function when a signal stops the server, before it waits for the requests that it has accepted.

    Server-sent events never end by themselves, and the server would wait for them. Its own handlers run as well.
    """
    loop = asyncio.get_running_loop()
    handlers: dict[int, Any] = {}

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(prepare)
        handler = handlers[number]
        if callable(handler):
            handler(number, frame)

    with contextlib.suppress(ValueError):  # signals are for the main thread
        for number in (signal.SIGTERM, signal.SIGINT):
            handlers[number] = signal.getsignal(number)
            signal.signal(number, stop)
    try:
        yield
    finally:
        for each, handler in handlers.items():
            if signal.getsignal(each) is stop:
                signal.signal(each, handler)
