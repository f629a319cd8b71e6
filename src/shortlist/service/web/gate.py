"""The gate: what every request passes before a route sees it, and every response on its way out.

In this order: a request id; without keys, the host that was asked for; the key and its scope; the size of the body.
With the response, one line of log and one of metrics. Time limits, rates and floods are for a proxy in front of the
service: `deploy/` has one.
"""

import itertools
import json
import logging
import os
import re
import time
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shortlist.service.keys import KeyFile
from shortlist.service.web.dependencies import KEY
from shortlist.service.web.hosts import Hosts
from shortlist.service.web.problems import PROBLEM_TYPE, WHY, Refusal, document
from shortlist.service.web.scopes import is_public, scope_of
from shortlist.service.web.service_metrics import Metrics

__all__ = ["BODY_LIMIT", "Gate"]

_log = logging.getLogger("shortlist.access")

#: The default size of the largest body, in bytes.
BODY_LIMIT: Final = 2 * 2**20
#: Paths whose responses set their own headers. All other responses are private, and must not be cached or guessed at.
_PAGES: Final = ("/static/", "/page/", "/favicon.ico")
_PRIVATE: Final = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
#: Ids of requests that bring none: a random part per process, and a number; drawing one per request would take long.
_PROCESS: Final = os.urandom(4).hex().encode()
_COUNT: Final = itertools.count()


class Gate:
    """ASGI middleware. See the module's docstring.

    Parameters
    ----------
    app
        The application behind the gate.
    keys
        The keys that are accepted; None accepts every request for this machine.
    hosts
        The names of this machine, where there are no keys.
    body_limit
        The size of the largest body, in bytes.
    metrics
        Counts the requests.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyFile | None,
        hosts: Hosts,
        body_limit: int,
        metrics: Metrics,
    ) -> None:
        self._app, self._keys, self._body_limit, self._metrics = app, keys, body_limit, metrics
        self._hosts = hosts
        self._too_large = f"the body is larger than {body_limit:,} bytes: send fewer candidates, or shorter texts"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), 500, 0
        headers: dict[bytes, bytes] = dict(reversed(list(scope["headers"])))  # the first of each name
        given = headers.get(b"x-request-id", b"")
        request_id = given if _REQUEST_ID.fullmatch(given) else b"%s%08x" % (_PROCESS, next(_COUNT))
        path = scope["path"]
        private = [] if path.startswith(_PAGES) or path == "/" else _PRIVATE

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._body_limit:
                raise HTTPException(413, self._too_large, {"Connection": "close"})
            return message

        async def send_identified(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = message.get("headers", ())
                more = [] if any(name == b"cache-control" for name, _ in own) else private
                message["headers"] = [*own, (b"x-request-id", request_id), *more]
            await send(message)

        try:
            refusal = self._authorize(scope, headers)
            if refusal is None:
                await self._app(scope, receive_limited, send_identified)
            else:
                await _refuse(refusal, send_identified)
        except Exception as error:
            scope[WHY] = f"{type(error).__name__}: {error}"
            raise
        finally:
            self._record(scope, status, request_id, time.perf_counter() - began)

    def _authorize(self, scope: Scope, headers: dict[bytes, bytes]) -> Refusal | None:
        """Return why a request is refused, if it is; the scope then has its key."""
        if self._keys is None:
            refusal = self._hosts.refusal(scope)
            if refusal is not None:
                return refusal
        if is_public(scope["path"]):
            return None
        if self._keys is not None:
            scheme, _, presented = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
            key = self._keys.find(presented.strip()) if scheme.lower() == "bearer" else None
            if key is None:
                detail = "this needs a valid key: send it as `Authorization: Bearer sl_...`"
                return Refusal(document("not-allowed", 401, detail), {"WWW-Authenticate": "Bearer"})
            scope[KEY] = key
            needed = scope_of(scope)
            if not key.may(needed):
                return Refusal(document("not-allowed", 403, f"this key may not do that: it needs the scope {needed}"))
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and (len(length) > 18 or int(length) > self._body_limit):
            return Refusal(document("content-too-large", 413, self._too_large), {"Connection": "close"})
        return None

    def _record(self, scope: Scope, status: int, request_id: bytes, seconds: float) -> None:
        """Count a request that is done, and log it if it failed or if all are logged."""
        self._metrics.request(scope, status, seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        if _log.isEnabledFor(level):
            key = scope.get(KEY)
            payload = {
                "request_id": request_id.decode(),
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "ms": round(1000 * seconds, 2),
                "key": None if key is None else key.id,
            }
            if status >= 500:
                payload["why"] = scope.get(WHY)
            _log.log(level, "request", extra={"payload": payload})


async def _refuse(refusal: Refusal, send: Send) -> None:
    """Respond with a problem document."""
    body = json.dumps(refusal.document).encode()
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    headers += [(b"content-type", PROBLEM_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.document["status"], "headers": headers})
    await send({"type": "http.response.body", "body": body})
