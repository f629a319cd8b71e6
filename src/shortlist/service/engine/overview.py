"""The figures of all streams, for those who watch the service.

Streams in memory give theirs. Those that nobody has asked for since the start are read from the log, in a thread and on
a connection of their own, and only their figures are kept: the event loop, the writer and other readers do not wait
for it, and memory does not grow.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from shortlist.errors import DamagedLog, ShortlistError
from shortlist.service.engine.memory import Memory, load
from shortlist.service.engine.stream import LoggedStream
from shortlist.service.store import Store, StreamRow

__all__ = ["Overview", "Overviewed"]

#: For how many seconds figures are waited for that are still being read.
_PATIENCE: Final = 5.0
#: After how many streams others get their turn.
_PART: Final = 20


class Overviewed(NamedTuple):
    """What is known of all streams at one moment."""

    #: The figures of streams, those that were made first, and not more than were asked for.
    figures: list[dict[str, Any]]
    #: How many streams there are, how many of those asked for are still being read, and how many are damaged.
    streams: int
    unread: int
    damaged: int


class Overview:
    """Figures of streams, in memory or not.

    Parameters
    ----------
    memory
        What is in memory.
    open_store
        Opens the log once more, for reading.
    fresh
        Returns a stream that is in memory, brought up to date with what others wrote.
    """

    def __init__(
        self, memory: Memory, open_store: Callable[[], Store], fresh: Callable[[str], Awaitable[LoggedStream]]
    ) -> None:
        self._memory, self._open_store, self._fresh = memory, open_store, fresh
        #: The figures of streams that are not in memory, by id, each with the number of the last event in them.
        self._kept: dict[int, tuple[int, dict[str, Any]]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._ending = False

    async def look(self, rows: list[StreamRow], limit: int) -> Overviewed:
        """Return the figures of streams, as the database lists them."""
        chosen = sorted(rows, key=lambda row: row.id)[:limit]
        self._kept = {row.id: self._kept[row.id] for row in rows if row.id in self._kept}
        await self._read([row for row in chosen if self._is_missing(row)])
        figures, unread = [], 0
        for place, row in enumerate(chosen):
            if place % _PART == 0:
                await asyncio.sleep(0)  # others are waiting
            if row.id in self._memory.damaged:
                continue
            found = await self._figures(row)
            if found is None:
                unread += 1
            else:
                figures.append(found)
        return Overviewed(figures, len(rows), unread, len(self._memory.damaged))

    def _is_missing(self, row: StreamRow) -> bool:
        if row.id in self._memory.by_id or row.id in self._memory.damaged:
            return False
        return row.id not in self._kept or self._kept[row.id][0] < row.last_number

    async def _figures(self, row: StreamRow) -> dict[str, Any] | None:
        """Return a stream's figures; of one that is still being read, the last that are known, if any are."""
        stream = self._memory.by_id.get(row.id)
        if stream is None:
            return self._kept[row.id][1] if row.id in self._kept else None
        self._kept.pop(row.id, None)
        if stream.number < row.last_number:  # other processes have written
            try:
                stream = await self._fresh(row.name)
            except ShortlistError:
                return None
        return stream.figures()

    async def _read(self, rows: list[StreamRow]) -> None:
        """Read the figures of streams; what takes too long goes on, and is there when one looks again."""
        if self._reading is None and rows and not self._ending:
            self._reading = asyncio.create_task(self._read_all(rows), name="shortlist-overview")
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=_PATIENCE)
            if self._reading.done():
                task, self._reading = self._reading, None
                task.result()

    async def _read_all(self, rows: list[StreamRow]) -> None:
        store = await asyncio.to_thread(self._open_store)
        try:
            for row in rows:
                if self._ending:
                    return
                if not self._is_missing(row):
                    continue  # somebody has asked for it in the meantime
                try:
                    self._kept[row.id] = await asyncio.to_thread(self._figures_of, store, row)
                except DamagedLog as error:
                    if row.id not in self._memory.by_id:
                        self._memory.damaged[row.id] = error
        finally:
            await asyncio.to_thread(store.close)

    async def close(self) -> None:
        """Stop reading."""
        self._ending = True
        if self._reading is not None:
            await asyncio.wait({self._reading})
            self._reading.exception()  # nobody asks any more

    def _figures_of(self, store: Store, row: StreamRow) -> tuple[int, dict[str, Any]]:
        """Return the number of a stream's last event, and its figures, as the log gives them."""
        with store.reading() as reader:
            stream, _ = load(reader, row, lambda: self._ending)
        return stream.number, stream.figures()
