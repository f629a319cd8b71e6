"""The fallback of a search page when the service is unavailable or slow: everything, best first, in time."""

import math
import time
from collections import OrderedDict
from typing import Any, Final

import numpy as np

from shortlist._validation import Array, Member
from shortlist.rounds.shown import Shown

__all__ = ["LateRounds", "everything"]

#: The most rounds shown without the service that are remembered.
_MOST: Final = 10_000
#: Seconds between two attempts to withdraw a round, and after which one that the service does not know is forgotten.
_PAUSE: Final = 5.0
_FORGET: Final = 60.0


class LateRounds:
    """Rounds shown without the service: it may have stored them all the same, and must withdraw them."""

    def __init__(self) -> None:
        # Those to withdraw, with the times of creation and of the last attempt.
        self._waiting: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._all: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, round_id: object) -> bool:
        return round_id in self._all

    def add(self, round_id: str) -> None:
        """Record a round."""
        now = time.monotonic()
        self._all[round_id] = None
        self._waiting[round_id] = now, -math.inf
        while len(self._all) > _MOST:
            oldest, _ = self._all.popitem(last=False)
            self._waiting.pop(oldest, None)

    def next(self) -> str | None:
        """Return a round whose withdrawal is due."""
        now = time.monotonic()
        return next((name for name, (_, tried) in list(self._waiting.items()) if now - tried >= _PAUSE), None)

    def tried(self, round_id: str, *, gone: bool) -> None:
        """Record an attempt: the round is `gone`; or it is unknown there, or the service could not be reached."""
        created, _ = self._waiting.get(round_id, (-math.inf, 0.0))
        now = time.monotonic()
        if gone or now - created > _FORGET:
            self._waiting.pop(round_id, None)
        else:
            self._waiting[round_id] = created, now


def everything(round_id: str, names: list[Member], values: Array) -> Shown:
    """Return all candidates as a list, best first: by their score, or by their mean rank over several scorers."""
    table = values[:, None] if values.ndim == 1 else values
    filled = np.where(np.isnan(table), -np.inf, table)
    ranks = np.argsort(np.argsort(-filled, axis=0, kind="stable"), axis=0, kind="stable")
    order = np.argsort(ranks.mean(axis=1), kind="stable").tolist()
    rows: list[Any] = values.tolist()
    scores = tuple(rows[i] if values.ndim == 1 else tuple(rows[i]) for i in order)
    count = len(order)
    return Shown(round_id, -math.inf, tuple(names[i] for i in order), scores, count, count, fallback=True)
