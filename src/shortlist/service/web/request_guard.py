"""One request and its response: the request's id, the limits of its body, the status it was answered with."""

import asyncio
import itertools
import json
import os
import re
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.types import Message, Receive, Scope, Send

from shortlist.service.web.limits import BodyLimits
from shortlist.service.web.problems import Refusal

__all__ = ["KEEP", "BodyRefused", "RequestGuard"]

#: What has headers of its own; all other responses are of today, of this caller, and what they say they are.
_PAGES: Final = ("/static/", "/page/", "/favicon.ico")
_PRIVATE: Final = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
#: The key in the scope of a function that a route which reads a body in parts calls with the bytes it keeps.
KEEP: Final = "shortlist.keep"
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


#: Ids of requests that bring none: what this process drew, and a number. To draw one for each would take long.
_PROCESS: Final = os.urandom(4).hex().encode()
_COUNT: Final = itertools.count()


class BodyRefused(Exception):
    """The body is too large or too slow, or there are too many."""


class RequestGuard:
    """One request on its way in, and its response on its way out.

    Parameters
    ----------
    scope, receive, send
        As ASGI has them.
    limits
        Of bodies.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: BodyLimits) -> None:
        self.scope, self._receive, self._send, self._limits = scope, receive, send, limits
        #: The first header of each name.
        self.headers: dict[bytes, bytes] = dict(reversed(list(scope["headers"])))
        given = self.headers.get(b"x-request-id", b"")
        self.request_id = given if _REQUEST_ID.fullmatch(given) else b"%s%08x" % (_PROCESS, next(_COUNT))
        self.began = time.perf_counter()
        self.status, self.started, self.refused = 500, False, False
        #: Why the body is not read further, if it is not.
        self.refusal: Refusal | None = None
        # How much of the body is in memory, whether all of it is, and until when it may take.
        self._held, self._complete = 0, False
        self._deadline: float | None = None
        # Whether the body is read in parts, and the task that waits for it.
        self._in_parts = False
        self._reader: asyncio.Task[Any] | None = None
        self.key_id: str | None = None
        path = scope.get("path", "")
        self._is_page = path.startswith(_PAGES) or path == "/"
        self._check: Callable[[RequestGuard], None] = _allow
        self._task: asyncio.Task[Any] | None = None
        #: Whether the response was broken off because its key was revoked.
        self.cut_off = False

    def check_parts(self, check: Callable[["RequestGuard"], None]) -> None:
        """Have this called before each part of a response that comes in parts, such as live events or an export.

        The caller runs the request: its task is the one that `cut` ends.
        """
        self._check, self._task = check, asyncio.current_task()

    def cut(self) -> None:
        """Break the response off: what is not sent yet is not sent."""
        if not self.cut_off and self._task is not None:
            self.cut_off = True
            self._task.cancel()

    def uncut(self) -> None:
        """Take back the cancellation, which has done its work."""
        if self._task is not None:
            self._task.uncancel()

    def read_in_parts(self) -> None:
        """Let the body be of any size, because the route reports how much of it is still in memory."""
        self._in_parts = True
        self.scope[KEEP] = self._hold

    async def receive(self) -> Message:
        """Pass on what comes in, as long as it is within the limits."""
        if self._complete:
            return await self._receive()
        self._reader = asyncio.current_task()
        deadline = self._limits.expect(self, self._deadline)
        self._deadline = None if self._in_parts else deadline
        try:
            message = await self._receive()
        except asyncio.CancelledError:
            if self.refusal is None or self._reader is None:
                raise
            self._reader.uncancel()
            raise BodyRefused from None
        finally:
            self._limits.arrived(self)
        if message["type"] == "http.disconnect":
            self._refuse_body(self._limits.gone)
        self._complete = not message.get("more_body")
        fits = self._hold(self._held + len(message.get("body", b"")))
        if not self._in_parts and self._held > self._limits.size:
            self._refuse_body(self._limits.too_large)
        elif not fits:
            self._refuse_body(self._limits.full)
        return message

    def close(self) -> None:
        """Let go of the body."""
        self._hold(0)

    def give_up(self, refusal: Refusal) -> None:
        """Wait for the body no longer."""
        self.refusal = refusal
        if self._reader is not None:
            self._reader.cancel()

    def _hold(self, count: int) -> bool:
        before, self._held = self._held, count
        return self._limits.hold(before, count)

    def _refuse_body(self, refusal: Refusal) -> None:
        # Code that reads the body may turn this into a response of its own, so `send` checks it too.
        self.refusal = refusal
        raise BodyRefused

    async def send(self, message: Message) -> None:
        """Pass on what goes out, with the request's id; drop a response to a body that was not read."""
        if self.refusal is not None and not self.started and not self.refused:
            return
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
            headers = [*message.get("headers", ()), (b"x-request-id", self.request_id)]
            if not self._is_page and not any(name == b"cache-control" for name, _ in headers):
                headers += _PRIVATE
            message["headers"] = headers
        elif message.get("more_body"):
            self._check(self)
            if self.cut_off:
                await asyncio.get_running_loop().create_future()  # the cancellation arrives here: nothing more is sent
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Respond with a problem document."""
        self.refused = True
        body = json.dumps(refusal.document).encode()
        headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
        headers += [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": refusal.document["status"], "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _allow(_exchange: RequestGuard) -> None:
    """Let every part of a response pass."""
