"""Where streams are: in memory, or in the log, from which they are read when somebody asks for them.

Reading a stream is restoring its last snapshot and folding what came after it. That is short as a rule, and then done
where all small reads are done. Where it is long, because there is no snapshot that this version can use, it is done in
a thread and on a connection of its own: neither the writer nor other readers wait for it. After a
while, the caller has to try again.

Streams that were not used for the longest time leave memory.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from shortlist.errors import DamagedLog, ServiceUnavailable, UnknownStream
from shortlist.service.engine.logged_stream import STATE_VERSION, LoggedStream
from shortlist.service.engine.memory import Memory, load
from shortlist.service.store import MOST_TAIL, Reader, Store, StreamRow

__all__ = ["StreamLoader"]

_log = logging.getLogger("shortlist.service")

Result = TypeVar("Result")

#: How long to wait for a stream that takes long to read, in seconds; and how many of these are read at a time.
_PATIENCE: Final = 5.0
_AT_A_TIME: Final = 2


class StreamLoader:
    """Finds streams.

    Parameters
    ----------
    store
        The log.
    memory
        What is in memory.
    lock
        Held while something is written: no stream is loaded or dropped meanwhile.
    open_reader
        Opens the log once more, for reading what takes long.
    keep, make_room
        Keeps a snapshot of a stream; drops streams if there are too many. The caller holds the lock.
    """

    def __init__(
        self,
        store: Store,
        memory: Memory,
        lock: asyncio.Lock,
        open_reader: Callable[[], Store],
        keep: Callable[[LoggedStream], Awaitable[None]],
        make_room: Callable[[], Awaitable[None]],
    ) -> None:
        self._store, self._memory, self._lock, self._open_reader = store, memory, lock, open_reader
        self._keep, self._make_room = keep, make_room
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shortlist-reader")
        self._reading: dict[str, asyncio.Task[LoggedStream]] = {}
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self._ending = False

    def prepare_shutdown(self) -> None:
        """Stop reading what takes long."""
        self._ending = True

    async def end(self) -> None:
        """Stop reading what takes long, and wait until that is done."""
        self.prepare_shutdown()
        if self._reading:
            await asyncio.wait(self._reading.values())

    def close(self) -> None:
        """Stop reading."""
        self._thread.shutdown()

    async def stream(self, name: str) -> LoggedStream:
        """Return a stream, from memory or from the log."""
        return self._memory.find(name) or await self._read_in(name)

    async def find(self, name: str) -> LoggedStream | None:
        """Return a stream, from memory or from the log; None if it is being read, which takes a while.

        The caller holds the lock.
        """
        cached = self._memory.find(name)
        if cached is not None:
            return cached
        row = await self.row(name)
        if row.id not in self._memory.damaged and await self._behind(row) > MOST_TAIL:
            self._started(name)
            return None
        self._memory.add(*await self._loaded(row))
        return self._memory.by_name[name]

    async def fresh(self, name: str) -> LoggedStream:
        """Return a stream, brought up to date with what others wrote."""
        stream = await self.stream(name)
        if not self._store.shared:
            return stream
        row = await self.read(lambda reader: reader.stream(name))
        if row is None or row.id != stream.id:
            self._memory.forget(stream, deleted=True)
            return await self.stream(name)
        if row.last_number - stream.number > MOST_TAIL:
            return await self._read_in(name)
        if row.last_number > stream.number:
            async with self._lock:
                await self._catch_up(stream)
        return stream

    def give_up(self, name: str) -> None:
        """Stop reading a stream: it is gone."""
        self._reading.pop(name, None)

    async def row(self, name: str) -> StreamRow:
        """Return a stream as the database lists it."""
        row: StreamRow | None = await self.read(lambda reader: reader.stream(name))
        if row is None:
            raise UnknownStream(
                f"there is no stream {name!r}; create it first: POST /v1/streams, or create() of a client"
            )
        return row

    async def read(self, work: Callable[[Reader], Result]) -> Result:
        """Read something short."""

        def job() -> Result:
            with self._store.reading() as reader:
                return work(reader)

        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    async def read_of(self, stream: LoggedStream, work: Callable[[Reader], Result]) -> Result:
        """Read something of a stream; if its log is damaged there, it is listed as damaged from now on."""
        try:
            return await self.read(work)
        except DamagedLog as error:
            raise self._memory.mark_damaged(stream.id, stream.name, error) from None

    # How a stream is read.

    def _started(self, name: str) -> asyncio.Task[LoggedStream]:
        task = self._reading.get(name)
        if task is None:
            task = self._reading[name] = asyncio.create_task(self._load(name), name=f"shortlist-load-{name}")
            task.add_done_callback(lambda done: self._done(name, done))
        return task

    def _done(self, name: str, task: asyncio.Task[Any]) -> None:
        if self._reading.get(name) is task:
            del self._reading[name]
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not report it where no caller awaits the task

    async def _read_in(self, name: str) -> LoggedStream:
        """Read a stream from the log; a caller that waits too long has to try again, and reading goes on."""
        task = self._started(name)
        await asyncio.wait({task}, timeout=_PATIENCE)
        if task.done():
            return task.result()
        raise ServiceUnavailable(
            f"stream {name!r} is being read from its log, which takes a while: try again in a few seconds"
        )

    async def _load(self, name: str) -> LoggedStream:
        while True:
            taken = await self._take(*await self._loaded(await self.row(name)))
            if taken is not None:
                return taken

    async def _loaded(self, row: StreamRow) -> tuple[LoggedStream, int]:
        """Return a stream as its log gives it, and the number of the snapshot that it was read from."""
        if row.id in self._memory.damaged:
            raise self._memory.damaged[row.id]
        try:
            return await self._read_stream(row)
        except DamagedLog as error:
            self._memory.damaged[row.id] = error
            raise

    async def _read_stream(self, row: StreamRow) -> tuple[LoggedStream, int]:
        behind = await self._behind(row)
        if behind <= MOST_TAIL:
            return await self.read(lambda reader: load(reader, row))
        task = asyncio.current_task()
        async with self._turns:
            _log.info("stream %s is read from its log: %s events", row.name, behind)
            return await asyncio.to_thread(
                self._load_apart, row, lambda: self._ending or self._reading.get(row.name) is not task
            )

    async def _behind(self, row: StreamRow) -> int:
        return await self.read(lambda reader: reader.behind(row, STATE_VERSION))

    def _load_apart(self, row: StreamRow, stopping: Callable[[], bool]) -> tuple[LoggedStream, int]:
        store = self._open_reader()
        try:
            with store.reading() as reader:
                return load(reader, row, stopping)
        finally:
            store.close()

    async def _take(self, stream: LoggedStream, snapshot: int) -> LoggedStream | None:
        """Take a stream into memory, unless it is no longer the one of its name, or has gone far ahead meanwhile."""
        async with self._lock:
            row = await self.row(stream.name)
            cached = self._memory.by_id.get(row.id)
            if row.id != stream.id or row.last_number - stream.number > MOST_TAIL:
                return None
            if cached is not None and cached.number >= stream.number:
                return cached  # somebody else was faster
            if cached is not None:
                self._memory.forget(cached)
            self._memory.add(stream, snapshot)
            if row.last_number > stream.number:
                await self._catch_up(stream)
            if stream.number - snapshot > MOST_TAIL:  # it took long, and shall not the next time
                await self._keep(stream)
            await self._make_room()
        return stream

    async def _catch_up(self, stream: LoggedStream) -> None:
        """Take the last events of a stream. The caller holds the lock."""
        tail = await self.read(lambda reader: list(reader.events(stream.id, after=stream.number)))
        failed = self._memory.fold(tail) if self._memory.by_id.get(stream.id) is stream else {}
        if failed:
            raise failed[stream.id]
