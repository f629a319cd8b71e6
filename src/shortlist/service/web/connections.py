"""Connections: how many there may be, and how long one may take to say what it wants.

The web server waits for the headers of a request without end, and each connection takes a file descriptor: a few
thousand that say nothing, and nobody else gets in. What it shows of a connection is enough to see that: the request
under way, and whether it counts the seconds between two requests by itself.
"""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from typing import Any, Final
from weakref import WeakKeyDictionary

from shortlist.service.web.problems import PROBLEM_TYPE, document

__all__ = ["HeaderTimeout", "most_connections"]

#: In how many seconds the headers of a request have to arrive.
_SECONDS: Final = 10.0
#: How many files may be open, if the system lets us, and how many of them are not for connections.
_FILES: Final = 8192
_OTHER_FILES: Final = 64


def most_connections() -> int | None:
    """Return how many connections there may be; the limit of open files is raised first, as far as it may be."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES:
        soft = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHER_FILES)


class HeaderTimeout:
    """Closes connections whose headers do not arrive in time.

    Parameters
    ----------
    seconds
        How long they may take.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        # The last request of each connection that waits for headers, and when it was first seen to.
        self._waiting: WeakKeyDictionary[Any, tuple[Any, float]] = WeakKeyDictionary()
        detail = f"the headers did not arrive within {seconds:g} seconds: send the request again, faster"
        body = json.dumps(document("request-timeout", 408, detail))
        self._response = (
            f"HTTP/1.1 408 Request Timeout\r\nContent-Type: {PROBLEM_TYPE}\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n\r\n{body}"
        ).encode()

    def look(self, connections: Iterable[Any]) -> None:
        """Look at the web server's connections, and close those that have waited for too long."""
        now = asyncio.get_running_loop().time()
        for connection in list(connections):
            request = connection.cycle
            is_waiting = (request is None or request.response_complete) and connection.timeout_keep_alive_task is None
            if not is_waiting:
                self._waiting.pop(connection, None)
                continue
            last, since = self._waiting.get(connection, (request, now))
            if last is not request:
                since = now
            self._waiting[connection] = request, since
            if now - since >= self._seconds:
                self._close(connection)

    def _close(self, connection: Any) -> None:
        if not connection.transport.is_closing():
            if connection.cycle is None:  # else what is on its way may be the rest of a body
                connection.transport.write(self._response)
            connection.transport.close()
