"""The writer: one queue of requests, one thread that writes, group commit.

Requests wait in a queue. The writer takes all that are there, judges them (`batch.py`), appends their
events in one transaction, and only when that is on disk folds them into memory and answers. While one
transaction is being synced the next batch gathers, so that requests that arrive together share a sync.
Requests that have arrived but were not read yet join it: a transaction costs as much as reading several.

A restart that must follow an alarm is written before the next list of its stream is cut: right after the event, or, if
the process dies in between, before anything else when the stream is next used. The fit of a learned score is computed
in the meantime (`background_fits.py`), and written when it is done.

Requests that have to wait for one stream, because another process holds it or because it has yet to be read from the
log, are deferred and tried again; those of other streams go on.

A transaction that fails changes nothing in memory: its requests get an error, and since nobody knows
whether a broken connection had committed, the streams are read again from the log before the next one.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from shortlist.errors import LeaseLost, ServiceUnavailable, ShortlistError, UnknownStream
from shortlist.service.engine.background_fits import BackgroundFits, CommitFit
from shortlist.service.engine.batch import Batch
from shortlist.service.engine.commands import Close, Command, Configure, Expand, Take
from shortlist.service.engine.item_opening import drawn_position, proposed
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.lookup import BatchContext, Busy, Lookup
from shortlist.service.engine.memory import Memory
from shortlist.service.engine.restarting import Restart
from shortlist.service.engine.round_cache import Round
from shortlist.service.store import Lease, LogEntry, Store

__all__ = ["Writer"]

_log = logging.getLogger("shortlist.service")

Result = TypeVar("Result")
#: The result of a request: the round, and whether this changed it.
Outcome = tuple[Round | None, bool]
#: Streams by their ids.
Streams = dict[int, LoggedStream]
#: How many seconds lie between two tries of requests that were deferred, and how long they are tried.
_PAUSE: Final = 0.1
_PATIENCE: Final = 10.0
#: How many items that cannot be shown are refused for one request: others wait meanwhile.
_DRAWS: Final = 50


@dataclass(slots=True)
class WriteRequest:
    """What is asked, and where the answer goes."""

    command: Command
    future: asyncio.Future[Outcome]
    #: Until when it is tried, once it was deferred.
    until: float | None = None


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
        find: Callable[[str], Awaitable[LoggedStream | None]],
        observe_fit: Callable[[float], None] | None = None,
    ) -> None:
        self._store, self._memory = store, memory
        self._snapshot_every, self._open_limit, self._batch_limit = snapshot_every, open_limit, batch_limit
        self._observe, self._notice = observe, notice
        #: Until when a failure is not logged again: there may be many in a second, all alike.
        self._quiet_until = -1.0
        #: Held while something is written, and by callers that need nothing to be.
        self.lock = asyncio.Lock()
        #: Why the last transaction failed, if it did.
        self.failing: ShortlistError | None = None
        self._lookup = Lookup(store, memory, self.do, find, open_limit)
        self._waiting: list[WriteRequest] = []
        self._deferred: list[WriteRequest] = []
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shortlist-writer")
        self._shutting_down = self._closing = False
        self._task: asyncio.Task[None] | None = None
        self.fits = BackgroundFits(self.submit, observe_fit)

    def start(self) -> None:
        """Begin to write what is asked, in the running event loop."""
        self._task = asyncio.create_task(self._run(), name="shortlist-writer")

    async def submit(self, command: Command) -> Outcome:
        """Ask for something to be written; return when it is on disk."""
        self.check()
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append(WriteRequest(command, future))
        self._wake.set()
        return await future

    @property
    def waiting(self) -> int:
        """How many requests wait for the next commit."""
        return len(self._waiting) + len(self._deferred)

    def check(self) -> None:
        """Raise if nothing can be written any more."""
        if self._closing or self._task is None or self._task.done():
            raise ServiceUnavailable("the service is stopping; nothing was stored: try again in a moment")

    async def do(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run something in the thread that writes. The caller holds the lock."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def prepare_shutdown(self) -> None:
        """Wait for streams no longer: refuse what cannot be written now."""
        self._shutting_down = True
        self.fits.stop()
        self._wake.set()

    async def close(self) -> None:
        """Take nothing new, write what is there, keep snapshots, and close the database."""
        await self.fits.close()
        self._closing = True
        self.prepare_shutdown()
        if self._task is not None:
            await self._task
        async with self.lock:
            for stream in list(self._memory.by_id.values()):
                if stream.number > self._memory.snapshots.get(stream.id, 0) and stream.id not in self._lookup.unsure:
                    await self.keep_snapshot(stream)
            await self.do(self._store.close)
        self._thread.shutdown()

    async def _run(self) -> None:
        again = 0.0  # when those that were deferred are next tried
        while self._waiting or self._deferred or not self._closing:
            if self._deferred and (self._shutting_down or time.monotonic() >= again):
                batch, self._deferred = self._deferred, []
                again = time.monotonic() + _PAUSE
            else:
                await self._gather()
                batch = self._next()
            if batch:
                await self._handle(batch)
                continue
            self._wake.clear()
            if self._waiting or self._closing or (self._deferred and self._shutting_down):
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(
                    self._wake.wait(), max(0.0, again - time.monotonic()) if self._deferred else None
                )

    async def _gather(self) -> None:
        """Let the event loop turn for as long as each turn brings requests."""
        before = 0
        while before < len(self._waiting) < self._batch_limit:
            before = len(self._waiting)
            await asyncio.sleep(0)

    def _next(self) -> list[WriteRequest]:
        """Take requests that wait; those of a stream for which others were deferred join them, in their order."""
        batch = self._waiting[: self._batch_limit]
        del self._waiting[: self._batch_limit]
        if not self._deferred:
            return batch
        held = {request.command.stream.name for request in self._deferred}
        for request in batch:
            if request.command.stream.name in held:
                request.until = time.monotonic() + _PATIENCE
                self._deferred.append(request)
        return [request for request in batch if request.command.stream.name not in held]

    async def _handle(self, batch: list[WriteRequest]) -> None:
        """Write a batch; requests that have to wait are deferred."""
        while batch:
            # The streams that it writes to; that others shadow them is found out on the way.
            streams = {request.command.stream.id: request.command.stream for request in batch}
            async with self.lock:
                self._lookup.patient = all(request.until is None for request in batch)  # others have waited already
                try:
                    await self._write(batch, streams)
                except Busy as busy:
                    batch = self._defer(batch, busy)
                    continue
                except Exception:  # noqa: BLE001 - whatever it was, nobody may be left waiting
                    _log.exception("a batch could not be stored")
                    self._notice("commit failed")
                    await self._start_over(batch, streams)
            return

    def _defer(self, batch: list[WriteRequest], busy: Busy) -> list[WriteRequest]:
        """Defer requests, or refuse those that were for too long; return the others."""
        now = time.monotonic()
        for position in sorted(busy.positions):
            request = batch[position]
            request.until = request.until or now + _PATIENCE
            if self._shutting_down or now >= request.until:
                _refuse([request], ServiceUnavailable(busy.why))
            else:
                self._deferred.append(request)
        return [request for position, request in enumerate(batch) if position not in busy.positions]

    async def _write(self, batch: list[WriteRequest], streams: Streams) -> None:
        """Judge, append, fold, answer: in this order."""
        started = time.perf_counter()
        try:
            outcomes, written = await self._store_all([request.command for request in batch], streams)
        except ShortlistError as error:
            self._failed(error, len(batch))
            self._lookup.unsure |= streams.keys()
            _refuse(batch, error)
            return
        if written:
            self.failing = None
        for request, outcome in zip(batch, outcomes, strict=True):
            if request.future.done():
                continue  # the client has disconnected
            if isinstance(outcome, ShortlistError):
                request.future.set_exception(outcome)
            else:
                request.future.set_result(outcome)
        if self._observe is not None:
            self._observe(len(batch), written, time.perf_counter() - started)
        for stream in streams.values():
            await self._follow_up(stream)
        if len(self._memory.by_name) > self._memory.limit:
            await self.make_room()

    async def _follow_up(self, stream: LoggedStream) -> None:
        """Begin the fit that is due in a stream, and keep a snapshot of it, if it is time."""
        learning = stream.stream.learning
        if learning is not None and learning.is_due and self._memory.by_id.get(stream.id) is stream:
            self.fits.start(stream)
        if stream.number - self._memory.snapshots.get(stream.id, stream.number) >= self._snapshot_every:
            await self.keep_snapshot(stream)

    def _failed(self, error: ShortlistError, requests: int) -> None:
        """Remember, count and log that a transaction failed: the response says less."""
        self.failing = error
        self._notice("commit failed")
        if time.monotonic() >= self._quiet_until:
            self._quiet_until = time.monotonic() + 1.0
            _log.error("%s requests could not be stored: %s", requests, error)

    async def _start_over(self, batch: list[WriteRequest], streams: Streams) -> None:
        """After a bug: keep nothing half-done; the log has what was stored."""
        for stream in streams.values():
            self._memory.forget(stream)
        _refuse(batch, ServiceUnavailable("the service failed to store this: try again"))
        await self.do(self._store.rollback)

    async def _store_all(self, commands: list[Command], streams: Streams) -> tuple[list[Outcome | ShortlistError], int]:
        """Return the result of each request, and how many events were written."""
        context = await self._settled(commands, streams)
        rounds = {key: logged for key, logged in context.rounds.items() if logged is not None}
        draft = Batch(rounds, time.time(), self._open_limit, context.texts)
        bound = [command for command in commands if isinstance(command, (Close, Expand)) and command.author.is_bound]
        if bound:
            await self._look_up_authors(draft, bound)
        judged = dict[int, Outcome | ShortlistError]()
        # Settings, epochs and scores change after the lists of a batch are cut.
        for i in sorted(range(len(commands)), key=lambda i: isinstance(commands[i], (Configure, Restart, CommitFit))):
            command = commands[i]
            judged[i] = await self._take(draft, command) if isinstance(command, Take) else self._judge(draft, command)
        outcomes = [judged[i] for i in range(len(commands))]
        if draft.entries or draft.touched:
            await self.do(self._store.append, draft.entries, draft.texts, draft.authors)
            failed = self._memory.fold(draft.entries)
            outcomes = [failed.get(command.stream.id, out) for command, out in zip(commands, outcomes, strict=True)]
            if any(stream.stream.settles and stream.stream.tracker.state.must_restart for stream in streams.values()):
                await self._settle(commands, streams)
        else:
            await self.do(self._store.release)
        return outcomes, len(draft.entries)

    async def _look_up_authors(self, draft: Batch, bound: Sequence[Close | Expand]) -> None:
        """Look up whose the rounds are that somebody answers whom leases bind: in the transaction that answers them."""
        queue, keys = self._store.queue, {(command.stream.id, command.round_id) for command in bound}
        draft.leases |= await self.do(queue.leases_of, keys)
        answers = {key: logged.closed.number for key in keys if (logged := draft.rounds.get(key)) and logged.closed}
        draft.signers |= await self.do(queue.signers_of, answers) if answers else {}

    def _due(self, streams: Streams) -> list[LogEntry]:
        """Return the restarts that must be written before anything else of these streams is decided."""
        due = []
        for stream in streams.values():
            event = stream.stream.due_restart() if self._memory.by_id.get(stream.id) is stream else None
            if event is not None:
                due.append(LogEntry(stream.id, stream.number + 1, time.time(), event))
        return due

    async def _settled(self, commands: list[Command], streams: Streams) -> BatchContext:
        """Write what is due, and return what the commands are about; `streams` are those that they may write to."""
        context = await self._lookup.look(commands, streams)
        while any(stream.stream.settles for stream in streams.values()) and (due := self._due(streams)):
            await self.do(self._store.append, due)
            self._memory.fold(due)
            context = await self._lookup.look(commands, streams)
        return context

    async def _settle(self, commands: list[Command], streams: Streams) -> None:
        """Write what has become due; if that fails, it is still due when the next request comes."""
        try:
            await self._settled(commands, streams)
        except (ShortlistError, Busy) as error:
            _log.warning("what is due is written later: %s", error)
            self._lookup.unsure |= streams.keys()
        await self.do(self._store.rollback)

    async def _take(self, draft: Batch, take: Take) -> Outcome | ShortlistError:
        """Give somebody a round that nobody holds, or the next item, drawn at random."""
        stream, queue = take.stream, self._store.queue
        if self._memory.by_id.get(stream.id) is not stream:
            return self._refusal(stream)
        leases, waiting = await self.do(queue.leases, stream.id), await self.do(queue.waiting, stream.id)
        mine = [lease for lease in leases if lease.until > draft.at and lease.holder.startswith(take.same_key)]
        if take.most is not None and sum(not draft.is_closed(stream, lease.round_id) for lease in mine) >= take.most:
            return LeaseLost(
                f"this key already holds {take.most} rounds, which is the most: answer them, give them back, or wait "
                "until their leases end"
            )
        round_id, last = draft.unheld(stream, leases, waiting), max(0, waiting - _DRAWS)
        while round_id is None and waiting > last:
            position = drawn_position(stream.name, draft.shown(stream), waiting)
            draft.touched = True
            item = await self.do(queue.draw, stream.id, position, waiting)
            if item is not None:
                outcome = self._judge(draft, proposed(stream, item, [position, waiting]))
                if isinstance(outcome, ShortlistError):
                    await self.do(queue.refuse, item, str(outcome), draft.at)
                elif outcome[1]:
                    round_id = item.item_id
            waiting -= 1
        if round_id is None and waiting:
            return ServiceUnavailable(
                f"{_DRAWS} items of stream {stream.name} could not be shown (GET .../items says why): try again"
            )
        round_id = round_id or draft.unheld(stream, leases, waiting)
        if round_id is not None:
            draft.touched = True
            take.round_id, take.until = round_id, draft.at + take.seconds
            # A lease of a round that is answered stays until it ends: an answer that is sent again needs its holder.
            ended = [lease.round_id for lease in leases if lease.until <= draft.at]
            closed = [each for each in ended if draft.is_closed(stream, each)]
            lease = Lease(stream.id, round_id, take.holder, take.until)
            draft.leases[stream.id, round_id] = lease
            await self.do(queue.lease, lease, closed)
        return None, round_id is not None

    def _judge(self, draft: Batch, command: Command) -> Outcome | ShortlistError:
        if self._memory.by_id.get(command.stream.id) is command.stream:
            return draft.judge(command)
        return self._refusal(command.stream)

    def _refusal(self, stream: LoggedStream) -> ShortlistError:
        """Return why a command cannot be judged: its stream is not what it was."""
        if stream.id in self._memory.damaged:
            return self._memory.damaged[stream.id]
        if stream.deleted:
            return UnknownStream(f"there is no stream {stream.name!r} any more")
        return ServiceUnavailable(f"stream {stream.name!r} is being read again from its log: try again")

    async def make_room(self) -> None:
        """Drop streams that were not used for the longest time, if there are too many. The caller holds the lock."""
        for stream in self._memory.superfluous():
            if stream.number > self._memory.snapshots.get(stream.id, 0) and stream.id not in self._lookup.unsure:
                await self.keep_snapshot(stream)
            self._memory.forget(stream)

    async def keep_snapshot(self, stream: LoggedStream) -> None:
        """Keep a snapshot of a stream. The caller holds the lock."""
        snapshot = await self.do(stream.snapshot)  # it may take a while, and nothing changes meanwhile
        try:
            await self.do(self._store.save_snapshot, stream.id, snapshot)
        except ShortlistError as error:
            _log.warning("no snapshot of stream %s: %s", stream.name, error)  # the log has everything
            self._notice("snapshot failed")
        else:
            self._notice("snapshot kept")
        self._memory.snapshots[stream.id] = snapshot.number


def _refuse(batch: list[WriteRequest], error: ShortlistError) -> None:
    for request in batch:
        if not request.future.done():
            request.future.set_exception(error)
