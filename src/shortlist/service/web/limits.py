"""What the bodies of requests may take: bytes, each and together, and seconds to arrive.

A client that sends slowly holds memory for as long as it likes, and many of them hold all of it. So a body has to
arrive in time, and what all bodies hold together has a limit. The first kilobytes of each do not count towards that, so
that ordinary requests pass while others fill it.
"""

import asyncio
from typing import Final, Protocol

from shortlist.service.web.problems import Refusal, document

__all__ = ["BODY_LIMIT", "BodyLimits"]

#: The largest body, in bytes, where nothing else is said.
BODY_LIMIT: Final = 2 * 2**20
#: How many bytes of each body are not counted.
_FREE: Final = 2**16
#: How many seconds lie between two looks at bodies that are on their way.
_PAUSE: Final = 0.5


class Waiting(Protocol):
    """A request whose body is on its way."""

    def give_up(self, refusal: Refusal) -> None:
        """Wait no longer."""


class BodyLimits:
    """The limits, and what they are compared with.

    Parameters
    ----------
    size
        The most bytes of a body; of a body that is read in parts, the most of a line.
    total
        The most bytes of all bodies together.
    seconds
        In how many seconds a body has to arrive; the next part of it, where it is read in parts.
    """

    def __init__(self, size: int = BODY_LIMIT, total: int = 64 * 2**20, seconds: float = 30.0) -> None:
        self.size, self._total, self._seconds = size, total, seconds
        #: How many bytes of bodies are in memory, without the first ones of each.
        self.held = 0
        self._deadlines: dict[Waiting, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        closing = {"Connection": "close"}
        detail = f"the body is larger than {size:,} bytes: send fewer candidates, or shorter texts, or JSON lines"
        self.too_large = Refusal(document("content-too-large", 413, detail), closing)
        detail = f"the body did not arrive within {seconds:g} seconds: send it again, faster"
        self._too_slow = Refusal(document("request-timeout", 408, detail), closing)
        detail = "the connection was closed before the body had arrived"  # nobody hears it; it is logged and counted
        self.gone = Refusal(document("bad-request", 400, detail), closing)
        detail = "the bodies of other requests fill the memory set aside for bodies: try again in a moment"
        self.full = Refusal(document("service-unavailable", 503, detail), closing | {"Retry-After": "1"})

    def expect(self, request: Waiting, deadline: float | None) -> float:
        """Give a request up at a deadline, or when its time is over, unless it has arrived; return when that is."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds if deadline is None else deadline
        self._deadlines[request] = deadline
        if self._timer is None:
            self._timer = loop.call_later(_PAUSE, self._look)
        return deadline

    def arrived(self, request: Waiting) -> None:
        """Wait for a request no longer."""
        del self._deadlines[request]

    def hold(self, before: int, after: int) -> bool:
        """Count that a body has grown, or is gone; return whether all of them are within the limit."""
        self.held += max(0, after - _FREE) - max(0, before - _FREE)
        return self.held <= self._total

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for request in [request for request, deadline in self._deadlines.items() if deadline <= now]:
            request.give_up(self._too_slow)
        self._timer = loop.call_later(_PAUSE, self._look) if self._deadlines else None
