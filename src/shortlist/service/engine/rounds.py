"""Rounds as they were shown, kept at hand while they are likely to be asked for."""

import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from shortlist._validation import Member
from shortlist.service.store import Event

__all__ = ["Round", "RoundCache"]

#: How many candidates are kept in memory, over all rounds: about 20 MB.
_CAPACITY: Final = 200_000


@dataclass(slots=True, weakref_slot=True, eq=False)
class Round:
    """A round: the event that opened it, and the one that closed it, if one has."""

    shown: Event
    closed: Event | None = None

    @property
    def members(self) -> list[Member]:
        """The candidates shown, best first."""
        ids = self.shown.body["ids"]
        return [ids[i] for i in self.shown.body["positions"]]

    @property
    def complete(self) -> bool:
        """Whether everything was shown, and not because its scores happened to be high."""
        body = self.shown.body
        whole = len(body["positions"]) == len(body["ids"])
        return whole and (body["threshold"] is None or body["shadow"])

    @property
    def absent_is_believed(self) -> bool:
        """Whether somebody could have looked through everything there is; where not, `absent` is a miss."""
        return len(self.shown.body["ids"]) > 0 and not self.shown.body["truncated"]

    def answer(self) -> dict[str, Any] | None:
        """Return the answer as the person gave it."""
        if self.closed is None:
            return None
        kind = self.closed.kind
        return {"hit": self.closed.body["member"]} if kind == "hit" else {kind: True}


class RoundCache:
    """One `Round` for each round that anybody holds: nobody ever sees two of the same.

    Those that nobody holds stay while there is room, the last used the longest.
    """

    def __init__(self, capacity: int = _CAPACITY) -> None:
        self._capacity = capacity
        self._size = 0
        self._recent: OrderedDict[tuple[int, str], Round] = OrderedDict()
        self._held: weakref.WeakValueDictionary[tuple[int, str], Round] = weakref.WeakValueDictionary()

    def get(self, key: tuple[int, str]) -> Round | None:
        """Return a round if it is at hand."""
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        return self._held.get(key)

    def add(self, event: Event) -> None:
        """Take an event of a round: its first, or the one that closes it."""
        key = (event.stream_id, event.round_id)
        known = self.get(key)
        if event.kind != "shown":
            if known is not None:
                known.closed = event
            return
        if known is not None:
            return
        self._recent[key] = self._held[key] = Round(event)
        self._size += len(event.body["ids"])
        while self._size > self._capacity and len(self._recent) > 1:
            _, oldest = self._recent.popitem(last=False)
            self._size -= len(oldest.shown.body["ids"])

    def forget(self, stream_id: int) -> None:
        """Drop all rounds of a stream."""
        for key in [key for key in self._recent if key[0] == stream_id]:
            self._size -= len(self._recent.pop(key).shown.body["ids"])
        for key in [key for key in self._held if key[0] == stream_id]:
            self._held.pop(key, None)
