"""The gate: what every request passes before anything looks at it, and every answer on its way out.

In this order: a request id; without keys, the host that was asked for; the key and its scope; the key's
rate; the size of the body. Then, with the answer, one line of log and one of metrics. A route that nobody
has thought of needs an admin's key: only what is listed here is open.

Without keys the only protection is that nobody else reaches this machine. A web page can: its name may be
made to point here (DNS rebinding), and the browser then takes us for its own server. So a request must
ask for this machine by address, as localhost, or by a name that was allowed.
"""

import contextlib
import ipaddress
import json
import logging
import math
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shortlist.service.keys import Key, KeyFile
from shortlist.service.web.metrics import Metrics
from shortlist.service.web.problems import document

__all__ = ["PUBLIC", "PUBLIC_FOLDERS", "SCOPES", "Gate", "scope_of"]

_log = logging.getLogger("shortlist.access")

#: What answers without a key.
PUBLIC: Final = frozenset({"/healthz", "/readyz", "/openapi.json", "/", "/favicon.ico"})
PUBLIC_FOLDERS: Final = ("/static/", "/page/")
#: What each route needs, by its operation; all others need an admin's key.
SCOPES: Final = {
    "propose": "propose",
    "answer": "feedback",
    "answer_many": "feedback",
    **dict.fromkeys(
        ("list_streams", "get_stream", "live", "get_rounds", "get_round", "get_series", "export", "metrics"), "read"
    ),
}
#: A problem document, and headers to go with it.
_Refusal = tuple[dict[str, Any], dict[str, str]]
#: A host as a request names it: an address in brackets, or a name or address without, and perhaps a port.
_HOST: Final = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::\d+)?")
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


def is_public(path: str) -> bool:
    """Return whether a path answers without a key."""
    return path in PUBLIC or path.startswith(PUBLIC_FOLDERS)


def scope_of(scope: Scope) -> str:
    """Return what the route of a request needs, whatever its streams and rounds are called; admin if in doubt."""
    for route in scope["app"].routes:
        if route.matches(scope)[0] is Match.FULL:
            return SCOPES.get(getattr(route, "operation_id", None) or "", "admin")
    return "admin"


class _Hosts:
    """Which hosts a request may ask for where there are no keys: this machine, and names that were allowed."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = frozenset(name.lower().rstrip(".") for name in allowed)

    def refusal(self, method: str, headers: Headers) -> _Refusal | None:
        """Return why a request is refused, if it is."""
        hosts = headers.getlist("host")
        if len(hosts) > 1 or (hosts and not self._is_ours(hosts[0])):
            detail = (
                f"this service has no keys and is not called {hosts[0]!r}: use localhost or its address, or start it "
                "with --allowed-host, or with keys (--api-key-file)"
            )
            return document("misdirected-request", 421, detail), {}
        origin = headers.get("origin")
        if origin is not None and method not in ("GET", "HEAD") and not self._is_same(origin, hosts):
            detail = f"a page of {origin!r} may not change anything here: this service has no keys"
            return document("not-allowed", 403, detail), {}
        return None

    def _is_same(self, origin: str, hosts: list[str]) -> bool:
        """Return whether a page comes from the host that it asks, or from a name that was allowed."""
        try:
            where = urlsplit(origin)
        except ValueError:
            return False
        return where.netloc.lower() in {host.lower() for host in hosts} or where.hostname in self._allowed

    def _is_ours(self, host: str) -> bool:
        """Return whether a host is ours; an address is, because only a name can be made to point elsewhere."""
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match["address"] or match["name"].rstrip(".")
        if name in {"localhost"} | self._allowed:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class _Buckets:
    """Token buckets, one for each key: so many requests a second, and as many again at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> float:
        """Take a token; return 0, or the seconds until there is one."""
        now = time.monotonic()
        tokens, last = self._buckets.pop(name, (self._rate, now))
        tokens = min(self._rate, tokens + (now - last) * self._rate)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
        self._buckets[name] = (tokens - (wait == 0.0), now)
        while len(self._buckets) > 10_000:
            self._buckets.popitem(last=False)
        return wait


class _TooLarge(Exception):
    pass


class _Passage:
    """One request on its way through."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, body_limit: int) -> None:
        self.scope, self._receive, self._send, self._room = scope, receive, send, body_limit
        self.headers = Headers(scope=scope)
        wanted = self.headers.get("x-request-id", "")
        self.request_id = wanted if _REQUEST_ID.fullmatch(wanted) else uuid.uuid4().hex[:16]
        self.began = time.perf_counter()
        self.status, self.started, self.refused = 500, False, False
        self.key: Key | None = None

    @property
    def too_large(self) -> bool:
        """Whether more came in than there is room for."""
        return self._room < 0

    async def receive(self) -> Message:
        """Hand on what comes in, while there is room for it."""
        message = await self._receive()
        self._room -= len(message.get("body", b""))
        if self.too_large:
            # Whoever reads the body may turn this into an answer of its own, so `send` looks at it too.
            raise _TooLarge
        return message

    async def send(self, message: Message) -> None:
        """Hand on what goes out, with the request's id; what is said of a body too large is ours to say."""
        if self.too_large and not self.started and not self.refused:
            return
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self.request_id.encode())]
        await self._send(message)

    async def refuse(self, told: dict[str, Any], headers: dict[str, str]) -> None:
        """Answer with a problem document."""
        self.refused = True
        body = json.dumps(told).encode()
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        raw += [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": told["status"], "headers": raw})
        await self.send({"type": "http.response.body", "body": body})


class Gate:
    """ASGI middleware. See the module's docstring.

    Parameters
    ----------
    app
        What is behind the gate.
    keys
        Who may pass; None lets everybody who asks for this machine.
    allowed_hosts
        Names by which it may be asked for where there are no keys, besides localhost.
    rate
        Requests a second for each key (for each address, where there are no keys); None for no limit.
    body_limit
        The largest body, in bytes.
    metrics
        Where to count.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyFile | None,
        allowed_hosts: Iterable[str],
        rate: float | None,
        body_limit: int,
        metrics: Metrics,
    ) -> None:
        self._hosts = _Hosts(allowed_hosts)
        self._app, self._keys, self._body_limit, self._metrics = app, keys, body_limit, metrics
        self._buckets = None if rate is None else _Buckets(rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passage = _Passage(scope, receive, send, self._body_limit)
        try:
            refusal = self._judge(passage)
            if refusal is None:
                with contextlib.suppress(_TooLarge):
                    await self._app(scope, passage.receive, passage.send)
                if passage.too_large and not passage.started:
                    refusal = self._too_large()
            if refusal is not None:
                await passage.refuse(*refusal)
        finally:
            self._tell(passage)

    def _tell(self, passage: _Passage) -> None:
        """Count a request that is done, and log it if it failed or if all are logged."""
        seconds, status = time.perf_counter() - passage.began, passage.status
        self._metrics.request(passage.scope, status, seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        if _log.isEnabledFor(level):
            told = {
                "request_id": passage.request_id,
                "method": passage.scope["method"],
                "path": passage.scope["path"],
                "status": status,
                "ms": round(1000 * seconds, 2),
                "key": None if passage.key is None else passage.key.id,
            }
            _log.log(level, "request", extra={"told": told})

    def _judge(self, passage: _Passage) -> _Refusal | None:
        """Return a refusal, if there is a reason for one."""
        scope, headers, path = passage.scope, passage.headers, passage.scope["path"]
        if self._keys is None:
            refusal = self._hosts.refusal(scope["method"], headers)
            if refusal is not None:
                return refusal
        if is_public(path):
            return None
        if self._keys is not None:
            kind, _, presented = headers.get("authorization", "").partition(" ")
            passage.key = self._keys.find(presented.strip()) if kind.lower() == "bearer" else None
            if passage.key is None:
                detail = "this needs a key that is valid: send it as `Authorization: Bearer sl_...`"
                return document("not-allowed", 401, detail), {"WWW-Authenticate": "Bearer"}
            needed = scope_of(scope)
            if not passage.key.may(needed):
                return document("not-allowed", 403, f"this key may not do that: it needs the scope {needed}"), {}
        if self._buckets is not None:
            address = scope.get("client") or ("nobody",)
            wait = self._buckets.take(passage.key.id if passage.key else str(address[0]))
            if wait:
                detail = "there were too many requests in this second: send them slower"
                return document("too-many-requests", 429, detail), {"Retry-After": str(math.ceil(wait))}
        length = headers.get("content-length", "0")
        return self._too_large() if length.isdigit() and int(length) > self._body_limit else None

    def _too_large(self) -> _Refusal:
        detail = f"the body is larger than {self._body_limit:,} bytes: send fewer candidates, or shorter texts"
        return document("content-too-large", 413, detail), {"Connection": "close"}
