"""How all streams are doing, for those who list them or watch the service.

Streams in memory say so themselves. Others are read from the log, in a thread and on a connection of their own, and
only their summaries are kept: the event loop, the writer and other readers do not wait for it, and none is taken into
memory.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, NamedTuple

from shortlist.errors import DamagedLog, ShortlistError
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.memory import Memory, load
from shortlist.service.store import Store, StreamRow

__all__ = ["Overview", "Overviewed"]

#: For how many seconds summaries are waited for that are still being read.
_PATIENCE: Final = 5.0
#: After how many streams others get their turn.
_PART: Final = 20
#: How many summaries are kept of streams that are not in memory.
_MOST: Final = 10_000


class Overviewed(NamedTuple):
    """What is known of streams at one moment."""

    #: The summaries of streams, in the order asked for.
    summaries: list[StreamSummary]
    #: Those that are still being read.
    unread: list[StreamRow]
    #: Those whose log cannot be read, and why.
    damaged: list[tuple[StreamRow, DamagedLog]]


class Overview:
    """Summaries of streams, in memory or not.

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
        #: Of streams that are not in memory, by id: the number of the last event, and the summary up to it; none of one
        #: that was deleted in the meantime.
        self._kept: OrderedDict[int, tuple[int, StreamSummary | None]] = OrderedDict()
        #: The streams that are to be read.
        self._wanted: dict[int, StreamRow] = {}
        self._reading: asyncio.Task[None] | None = None
        # Opened when it is first needed, which takes as long as reading dozens of streams.
        self._store: Store | None = None
        self._ending = False

    async def look(self, rows: Iterable[StreamRow]) -> Overviewed:
        """Return the summaries of streams, as the database lists them."""
        rows = list(rows)
        await self._read([row for row in rows if self._is_missing(row)])
        seen = Overviewed([], [], [])
        for position, row in enumerate(rows):
            if position % _PART == 0:
                await asyncio.sleep(0)  # others are waiting
            if row.id in self._memory.damaged:
                seen.damaged.append((row, self._memory.damaged[row.id]))
                continue
            try:
                summary = await self._summary(row)
            except (KeyError, ShortlistError):
                seen.unread.append(row)
            else:
                seen.summaries.extend([] if summary is None else [summary])
        return seen

    def _is_missing(self, row: StreamRow) -> bool:
        if row.id in self._memory.by_id or row.id in self._memory.damaged:
            return False
        return row.id not in self._kept or self._kept[row.id][0] < row.last_number

    async def _summary(self, row: StreamRow) -> StreamSummary | None:
        """Return a stream's summary, the last that is known; None if it was deleted. KeyError: it is not read yet."""
        stream = self._memory.by_id.get(row.id)
        if stream is None:
            return self._kept[row.id][1]
        self._kept.pop(row.id, None)
        if stream.number < row.last_number:  # other processes have written
            stream = await self._fresh(row.name)
        return stream.summary()

    async def _read(self, rows: list[StreamRow]) -> None:
        """Read the summaries of streams; what takes too long goes on, and is there when one looks again."""
        self._wanted |= {row.id: row for row in rows}
        if self._reading is None and self._wanted and not self._ending:
            self._reading = asyncio.create_task(self._read_all(), name="shortlist-overview")
            self._reading.add_done_callback(_looked_at)
        task = self._reading
        if task is not None and rows:
            await asyncio.wait({task}, timeout=_PATIENCE)
            if task.done():
                task.result()

    async def _read_all(self) -> None:
        try:
            if self._store is None:
                self._store = await asyncio.to_thread(self._open_store)
            while self._wanted and not self._ending:
                row = self._wanted.pop(next(iter(self._wanted)))
                if not self._is_missing(row):
                    continue  # somebody has asked for it in the meantime
                try:
                    self._keep(row.id, await asyncio.to_thread(self._summary_of, self._store, row))
                except DamagedLog as error:
                    if row.id not in self._memory.by_id:
                        self._memory.damaged[row.id] = error
        except ShortlistError:
            await self._let_go()
            raise
        finally:
            self._reading = None

    async def _let_go(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            await asyncio.to_thread(store.close)

    def _keep(self, stream_id: int, summary: tuple[int, StreamSummary | None]) -> None:
        self._kept[stream_id] = summary
        self._kept.move_to_end(stream_id)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    async def close(self) -> None:
        """Stop reading."""
        self._ending = True
        if self._reading is not None:
            await asyncio.wait({self._reading})
        await self._let_go()

    def _summary_of(self, store: Store, row: StreamRow) -> tuple[int, StreamSummary | None]:
        """Return the number of a stream's last event, and its summary, as the log gives them."""
        with store.reading() as reader:
            now = reader.stream(row.name)
            if now is None or now.id != row.id:
                return row.last_number, None
            stream, _ = load(reader, row, lambda: self._ending)
        return stream.number, stream.summary()


def _looked_at(task: asyncio.Task[None]) -> None:
    """Retrieve a task's exception, so that asyncio does not report it where no caller awaits the task."""
    if not task.cancelled():
        task.exception()
