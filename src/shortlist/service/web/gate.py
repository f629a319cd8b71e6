"""The gate: what every request passes before a route sees it, and every response on its way out.

In this order: a request id; without keys, the host that was asked for; the key and its scope; the rate of the key; the
size of the body, how long it takes, and what all bodies take together. Then, with the response, one line of log and one
of metrics. What is checked is in `scopes`, `hosts`, `rate`, `limits` and `request_guard`. A response in parts (live
events, an export) ends when its key is revoked, which `watching` sees to.
"""

import asyncio
import contextlib
import logging
import math
import re
import time
from collections.abc import Iterable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from shortlist.service.keys import KeyFile
from shortlist.service.web.bodies import is_lines
from shortlist.service.web.dependencies import KEY
from shortlist.service.web.hosts import Hosts
from shortlist.service.web.limits import BodyLimits
from shortlist.service.web.metrics import Metrics
from shortlist.service.web.problems import WHY, Refusal, document
from shortlist.service.web.rate import RateLimit
from shortlist.service.web.request_guard import BodyRefused, RequestGuard
from shortlist.service.web.scopes import is_public, scope_of
from shortlist.service.web.watching import Watch

__all__ = ["Gate"]

_log = logging.getLogger("shortlist.access")

#: Requests per second that an address may send without a key, at least: a page loads a dozen files at once.
_PUBLIC_RATE: Final = 50.0
#: The routes that read JSON lines.
_IN_PARTS: Final = re.compile(r"/v1/streams/[^/]+/(?:feedback|rounds:batch|items)")


class Gate:
    """ASGI middleware. See the module's docstring.

    Parameters
    ----------
    app
        The application behind the gate.
    keys
        The keys that are accepted; None accepts every request for this machine.
    allowed_hosts
        Host names accepted where there are no keys, besides localhost.
    rate
        Requests per second for each key (for each address, where there are no keys); None for no limit.
    limits
        Of bodies.
    metrics
        Where requests are counted.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyFile | None,
        allowed_hosts: Iterable[str],
        rate: float | None,
        limits: BodyLimits,
        metrics: Metrics,
    ) -> None:
        self._app, self._keys, self._limits, self._metrics = app, keys, limits, metrics
        self._watch = None if keys is None else Watch(keys)
        self._hosts = Hosts(allowed_hosts)
        self._rate_limit = None if rate is None else RateLimit(rate)
        self._public_limit = None if rate is None else RateLimit(max(rate, _PUBLIC_RATE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        guard = RequestGuard(scope, receive, send, self._limits)
        try:
            refusal = self._authorize(guard)
            if refusal is None:
                if self._watch is not None and guard.key_id is not None:
                    guard.check_parts(self._watch.check)
                with contextlib.suppress(BodyRefused):
                    await self._app(scope, guard.receive, guard.send)
                if not guard.started:
                    refusal = guard.refusal
            if refusal is not None:
                await guard.refuse(refusal)
        except asyncio.CancelledError:
            if not guard.cut_off:
                raise
            # The server sees that the response is not complete, and closes the connection: nobody takes half an
            # export for a whole one.
            guard.uncut()
        except Exception as error:
            scope[WHY] = f"{type(error).__name__}: {error}"
            raise
        finally:
            if self._watch is not None:
                self._watch.forget(guard)
            guard.close()
            self._record(guard)

    def _authorize(self, guard: RequestGuard) -> Refusal | None:
        """Return why a request is refused, if it is."""
        scope, headers = guard.scope, guard.headers
        if self._keys is None:
            refusal = self._hosts.refusal(scope)
            if refusal is not None:
                return refusal
        address = str((scope.get("client") or ("nobody",))[0])
        if is_public(scope["path"]):
            return None if scope["path"] == "/healthz" else _too_many(self._public_limit, address)
        if self._keys is not None:
            scheme, _, presented = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
            key = self._keys.find(presented.strip()) if scheme.lower() == "bearer" else None
            if key is None:
                detail = "this needs a valid key: send it as `Authorization: Bearer sl_...`"
                return Refusal(document("not-allowed", 401, detail), {"WWW-Authenticate": "Bearer"})
            guard.key_id = key.id
            scope[KEY] = key
            needed = scope_of(scope)
            if not key.may(needed):
                return Refusal(document("not-allowed", 403, f"this key may not do that: it needs the scope {needed}"))
        length = headers.get(b"content-length", b"0")
        if _is_in_parts(guard):
            guard.read_in_parts()
            length = b"0"
        too_large = self._limits.too_large if length.isdigit() and int(length) > self._limits.size else None
        return _too_many(self._rate_limit, guard.key_id or address) or too_large

    def _record(self, guard: RequestGuard) -> None:
        """Count a request that is done, and log it if it failed or if all are logged."""
        seconds, status = time.perf_counter() - guard.began, guard.status
        self._metrics.request(guard.scope, status, seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        if _log.isEnabledFor(level):
            payload = {
                "request_id": guard.request_id.decode(),
                "method": guard.scope["method"],
                "path": guard.scope["path"],
                "status": status,
                "ms": round(1000 * seconds, 2),
                "key": guard.key_id,
            }
            if status >= 500:
                payload["why"] = guard.scope.get(WHY)
            _log.log(level, "request", extra={"payload": payload})


def _is_in_parts(guard: RequestGuard) -> bool:
    """Return whether a request has many lines, which are read and stored in parts."""
    content_type = guard.headers.get(b"content-type", b"")
    return b"json" in content_type and is_lines(content_type) and _IN_PARTS.fullmatch(guard.scope["path"]) is not None


def _too_many(limit: RateLimit | None, sender: str) -> Refusal | None:
    """Return why a sender has to wait, if it has to."""
    wait = 0.0 if limit is None else limit.take(sender)
    if not wait:
        return None
    detail = "too many requests in this second: send fewer per second"
    return Refusal(document("too-many-requests", 429, detail), {"Retry-After": str(math.ceil(wait))})
