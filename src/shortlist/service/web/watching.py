"""Responses that come in parts, and last: live events and exports. They end when their key is revoked."""

import asyncio
import logging
from typing import Final

from shortlist.service.keys import KeyFile
from shortlist.service.web.request_guard import RequestGuard

__all__ = ["Watch"]

_log = logging.getLogger("shortlist.service")

#: How many seconds lie between two looks at the keys of responses that wait.
_PAUSE: Final = 1.0


class Watch:
    """The responses that are under way, and one task that looks at their keys.

    Parameters
    ----------
    keys
        The keys.
    """

    def __init__(self, keys: KeyFile) -> None:
        self._keys = keys
        self._open: set[RequestGuard] = set()
        self._task: asyncio.Task[None] | None = None

    def check(self, guard: RequestGuard) -> None:
        """Cut a response off if its key is revoked, now or at any time until it is forgotten."""
        if not self._keys.is_valid(guard.key_id or ""):
            if not guard.cut_off:
                _log.warning("a response under way ends: key %s is revoked", guard.key_id)
            guard.cut()
            return
        self._open.add(guard)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="shortlist-watch")

    def forget(self, guard: RequestGuard) -> None:
        """Look no more at a response: it has ended."""
        self._open.discard(guard)
        if not self._open and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            for guard in list(self._open):
                self.check(guard)
