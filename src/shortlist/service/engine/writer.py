"""The writer: one queue of requests, one thread that writes, group commit.

Requests wait in a queue. The writer takes all that are there, judges them (`batch.py`), appends their
events in one transaction, and only when that is on disk folds them into memory and answers. While one
transaction is being synced the next batch gathers, so that requests that arrive together share a sync.

What must follow an event (a restart after an alarm, the fit of a learned score) is written before the next list of
its stream is cut: right after the event, or, if the process dies in between, before anything else when the stream is
next used.

A transaction that fails changes nothing in memory: its requests are told so, and since nobody knows
whether a broken connection had committed, the streams are read again from the log before the next one.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from shortlist.errors import ServiceUnavailable, ShortlistError, UnknownStream
from shortlist.service.engine.batch import Batch, Command, Configure
from shortlist.service.engine.lookup import Lookup, Sight
from shortlist.service.engine.memory import Memory
from shortlist.service.engine.restarting import Restart
from shortlist.service.engine.rounds import Round
from shortlist.service.engine.stream import LoggedStream
from shortlist.service.store import Entry, Store

__all__ = ["Writer"]

_log = logging.getLogger("shortlist.service")

Result = TypeVar("Result")
#: What came of a request: the round, and whether this changed it.
Outcome = tuple[Round | None, bool]
#: Streams by their ids.
Streams = dict[int, LoggedStream]
#: What is asked, and where the answer goes.
Request = tuple[Command, asyncio.Future[Outcome]]


class Writer:
    """Writes what is asked, in batches. The parameters are those of the engine, and `find`, which returns a stream."""

    def __init__(
        self,
        store: Store,
        memory: Memory,
        *,
        snapshot_every: int,
        open_limit: int,
        batch_limit: int,
        observe: Callable[[int, int, float], None] | None,
        notice: Callable[[str], None],
        find: Callable[[str], Awaitable[LoggedStream]],
    ) -> None:
        self._store, self._memory = store, memory
        self._snapshot_every, self._open_limit, self._batch_limit = snapshot_every, open_limit, batch_limit
        self._observe, self._notice = observe, notice
        #: Until when a failure is not logged again: there may be many in a second, all alike.
        self._quiet_until = -1.0
        #: Held by whoever writes, and by whoever needs that nobody does.
        self.lock = asyncio.Lock()
        #: Why the last transaction failed, if it did.
        self.failing: ShortlistError | None = None
        self._lookup = Lookup(store, memory, self.do, find, open_limit)
        self._waiting: list[Request] = []
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shortlist-writer")
        self._closing = False
        self._task = asyncio.create_task(self._run(), name="shortlist-writer")

    async def submit(self, command: Command) -> Outcome:
        """Ask for something to be written; return when it is on disk."""
        self.check()
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, future))
        self._wake.set()
        return await future

    @property
    def waiting(self) -> int:
        """How many requests wait for the next commit."""
        return len(self._waiting)

    def check(self) -> None:
        """Raise if nothing can be written any more."""
        if self._closing or self._task.done():
            raise ServiceUnavailable("the service is stopping; nothing was stored: try again in a moment")

    async def do(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run something in the thread that writes. The caller holds the lock."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    async def close(self) -> None:
        """Take nothing new, write what is there, keep snapshots, and let go of the database."""
        self._closing = True
        self._wake.set()
        await self._task
        async with self.lock:
            for stream in list(self._memory.by_id.values()):
                if stream.number > self._memory.snapshots.get(stream.id, 0) and stream.id not in self._lookup.unsure:
                    await self._keep_snapshot(stream)
            await self.do(self._store.close)
        self._thread.shutdown()

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            await self._wake.wait()
            if not self._closing:
                self._wake.clear()
            while self._waiting:
                batch = self._waiting[: self._batch_limit]
                del self._waiting[: self._batch_limit]
                # Those that it writes to; that others shadow them is found out on the way.
                streams = {command.stream.id: command.stream for command, _ in batch}
                async with self.lock:
                    try:
                        await self._write(batch, streams)
                    except Exception:  # noqa: BLE001 - whatever it was, nobody may be left waiting
                        _log.exception("a batch could not be stored")
                        self._notice("commit failed")
                        await self._start_over(batch, streams)

    async def _write(self, batch: list[Request], streams: Streams) -> None:
        """Judge, append, fold, answer: in this order."""
        started = time.perf_counter()
        try:
            outcomes, written = await self._store_all([command for command, _ in batch], streams)
        except ShortlistError as error:
            self._failed(error, len(batch))
            self._lookup.unsure |= streams.keys()
            _refuse(batch, error)
            return
        if written:
            self.failing = None
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.done():
                continue  # who asked is gone
            if isinstance(outcome, ShortlistError):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
        if self._observe is not None:
            self._observe(len(batch), written, time.perf_counter() - started)
        for stream in streams.values():
            if stream.number - self._memory.snapshots.get(stream.id, stream.number) >= self._snapshot_every:
                await self._keep_snapshot(stream)

    def _failed(self, error: ShortlistError, requests: int) -> None:
        """Remember, count and log that a transaction failed: who asked is told less."""
        self.failing = error
        self._notice("commit failed")
        if time.monotonic() >= self._quiet_until:
            self._quiet_until = time.monotonic() + 1.0
            _log.error("%s requests could not be stored: %s", requests, error)

    async def _start_over(self, batch: list[Request], streams: Streams) -> None:
        """After a bug: keep nothing half-done; the log has what was stored."""
        for stream in streams.values():
            self._memory.forget(stream)
        _refuse(batch, ServiceUnavailable("the service failed to store this: try again"))
        await self.do(self._store.rollback)

    async def _store_all(self, commands: list[Command], streams: Streams) -> tuple[list[Outcome | ShortlistError], int]:
        """Return what came of each request, and how many events were written."""
        sight = await self._settled(commands, streams)
        draft = Batch(sight.known, time.time(), self._open_limit, sight.others, sight.salts)
        judged = {i: self._judge(draft, commands[i]) for i in _in_order(commands)}
        outcomes = [judged[i] for i in range(len(commands))]
        if draft.entries:
            await self.do(self._store.append, draft.entries, draft.texts)
            failed = self._memory.fold(draft.entries)
            outcomes = [failed.get(command.stream.id, out) for command, out in zip(commands, outcomes, strict=True)]
            if any(stream.rounds.is_due for stream in self._known(streams)):
                await self._settle(commands, streams)
        else:
            await self.do(self._store.release)
        return outcomes, len(draft.entries)

    def _known(self, streams: Streams) -> list[LoggedStream]:
        """Return those streams that are neither gone nor must be read again."""
        return [stream for stream in streams.values() if self._memory.by_id.get(stream.id) is stream]

    async def _due(self, streams: Streams) -> list[Entry]:
        """Return what must be written before anything else of these streams is decided."""
        due = []
        for stream in self._known(streams):
            # A fit takes a while, and nothing changes meanwhile: whoever writes holds the lock.
            event = await self.do(stream.rounds.due) if stream.rounds.is_due else None
            if event is not None:
                due.append(Entry(stream.id, stream.number + 1, time.time(), event))
        return due

    async def _settled(self, commands: list[Command], streams: Streams) -> Sight:
        """Write what is due, and return what the commands are about; `streams` are those that they may write to."""
        sight = await self._lookup.look(commands, streams)
        while due := await self._due(streams):
            await self.do(self._store.append, due)
            self._memory.fold(due)
            sight = await self._lookup.look(commands, streams)
        return sight

    async def _settle(self, commands: list[Command], streams: Streams) -> None:
        """Write what has become due; if that fails, it is still due when the next request comes."""
        try:
            await self._settled(commands, streams)
        except ShortlistError as error:
            _log.warning("what is due is written later: %s", error)
            self._lookup.unsure |= streams.keys()
        await self.do(self._store.rollback)

    def _judge(self, draft: Batch, command: Command) -> Outcome | ShortlistError:
        if self._memory.by_id.get(command.stream.id) is not command.stream:
            if command.stream.id in self._memory.damaged:
                return self._memory.damaged[command.stream.id]
            if command.stream.deleted:
                return UnknownStream(f"there is no stream {command.stream.name!r} any more")
            return ServiceUnavailable(f"stream {command.stream.name!r} is being read again from its log: try again")
        return draft.judge(command)

    async def _keep_snapshot(self, stream: LoggedStream) -> None:
        snapshot = await self.do(stream.snapshot)  # it may take a while, and nothing changes meanwhile
        try:
            await self.do(self._store.save_snapshot, stream.id, snapshot)
        except ShortlistError as error:
            _log.warning("no snapshot of stream %s: %s", stream.name, error)  # the log has everything
            self._notice("snapshot failed")
        else:
            self._notice("snapshot kept")
        self._memory.snapshots[stream.id] = snapshot.number


def _in_order(commands: Sequence[Command]) -> list[int]:
    """Return the order in which requests of a batch are judged: settings and epochs change after its lists are cut."""
    return sorted(range(len(commands)), key=lambda i: isinstance(commands[i], (Configure, Restart)))


def _refuse(batch: list[Request], error: ShortlistError) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)
