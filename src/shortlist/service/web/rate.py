"""How many requests per second a key may send."""

import time
from collections import OrderedDict
from typing import Final

__all__ = ["RateLimit"]

#: How many senders are remembered; the one not seen for the longest time is forgotten first.
_SENDERS: Final = 10_000


class RateLimit:
    """Token buckets, one for each sender: so many requests per second, and as many again at once.

    Parameters
    ----------
    rate
        Requests per second.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, sender: str) -> float:
        """Take a token; return 0, or the seconds until there is one."""
        now = time.monotonic()
        tokens, last = self._buckets.pop(sender, (self._rate, now))
        tokens = min(self._rate, tokens + (now - last) * self._rate)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
        self._buckets[sender] = (tokens - (wait == 0.0), now)
        while len(self._buckets) > _SENDERS:
            self._buckets.popitem(last=False)
        return wait
