"""The engine: one queue of requests, one writer, group commit.

Requests wait in a queue. The writer takes all that are there, judges them (`batch.py`), appends their
events in one transaction, and only when that is on disk folds them into memory and answers. While one
transaction is being synced the next batch gathers, so that requests that arrive together share a
sync. Everything in memory belongs to the event loop's thread; the store has one thread that writes
and one that reads.

A transaction that fails changes nothing in memory: its requests are told so, and since nobody knows
whether a broken connection had committed, the streams are read anew from the log before the next one.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from shortlist.candidates import Member, check_ids, check_scores
from shortlist.errors import (
    ConflictingStream,
    ServiceUnavailable,
    ShortlistError,
    UnknownRound,
    UnknownStream,
)
from shortlist.parameters import check_number
from shortlist.service.engine.batch import Batch, Close, Command, Propose
from shortlist.service.engine.rounds import Round, RoundCache
from shortlist.service.engine.settings import Settings
from shortlist.service.engine.stream import STATE_VERSION, Stream
from shortlist.service.store import Event, Store, StreamRow, Text

__all__ = ["Engine"]

_log = logging.getLogger("shortlist.service")

Result = TypeVar("Result")
#: What is asked, and where the answer goes: the round, and whether this changed it.
Request = tuple[Command, asyncio.Future[tuple[Round, bool]]]


class Engine:
    """All streams of a database.

    Parameters
    ----------
    store
        The log.
    snapshot_every
        How many events of a stream lie between two snapshots of it.
    open_limit
        How many rounds of a stream may wait for an answer; the oldest are closed when there are more.
    batch_limit
        The most requests that share a commit.
    observe
        Called after each commit with the number of requests and of events in it, and the seconds it took.
    """

    def __init__(
        self,
        store: Store,
        *,
        snapshot_every: int = 1_000,
        open_limit: int = 10_000,
        batch_limit: int = 512,
        observe: Callable[[int, int, float], None] | None = None,
    ) -> None:
        self.store = store
        self._snapshot_every = snapshot_every
        self._open_limit = open_limit
        self._batch_limit = batch_limit
        self._observe = observe
        self._streams: dict[str, Stream] = {}
        self._by_id: dict[int, Stream] = {}
        self._snapshots: dict[int, int] = {}
        self._cache = RoundCache()
        # Streams whose last transaction failed: whether it was stored is not known.
        self._unsure: set[int] = set()
        self._waiting: list[Request] = []
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="shortlist-writer")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="shortlist-reader")
        self._listeners: dict[int, set[asyncio.Event]] = {}
        self._ending = self._closing = False
        # Why the last transaction failed, and when the database was last tried.
        self._failing: ShortlistError | None = None
        self._last_try = -1.0
        self._pump: asyncio.Task[None] | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, address: str, **settings: Any) -> AsyncIterator["Engine"]:
        """Open the database at an address, run, and close it again with everything written."""
        store = await asyncio.to_thread(Store, address)
        engine = cls(store, **settings)
        engine.start()
        try:
            yield engine
        finally:
            await engine.close()

    def start(self) -> None:
        """Begin to write."""
        self._pump = asyncio.create_task(self._run(), name="shortlist-writer")

    async def close(self) -> None:
        """Take nothing new, write what is there, keep snapshots, and let go of the database."""
        self._closing = True
        self.end_changes()
        self._wake.set()
        if self._pump is not None:
            await self._pump
        async with self._writing:
            for stream in list(self._by_id.values()):
                if stream.number > self._snapshots.get(stream.id, 0) and stream.id not in self._unsure:
                    await self._keep_snapshot(stream)
            await self._in_writer(self.store.close)
        self._writer.shutdown()
        self._reader.shutdown()

    # Streams.

    async def create_stream(self, name: str, settings: Settings) -> tuple[dict[str, Any], bool]:
        """Make a stream, or find the one with that name and those settings; return if it is new."""
        self._check_open()
        wanted = settings.to_dict()
        async with self._writing:
            row, created = await self._in_writer(self.store.create_stream, name, wanted, time.time())
        if Settings(**row.settings).to_dict() != wanted:
            mine = Settings(**row.settings).to_dict()
            other = next(key for key in wanted if wanted[key] != mine[key])
            raise ConflictingStream(
                f"stream {name} is there with {other} {mine[other]!r}, not {wanted[other]!r}; settings are fixed when "
                "a stream is made: choose another name, or delete it first"
            )
        return (await self._stream(name)).summary(), created

    async def streams(self, *, after: str = "", limit: int = 100) -> list[dict[str, Any]]:
        """Return the summaries of streams, by name."""
        rows = await self._read(lambda reader: reader.streams(after, limit))
        found = []
        for row in rows:
            with contextlib.suppress(UnknownStream):  # deleted in the meantime
                found.append((await self._stream(row.name)).summary())
        return found

    async def summary(self, name: str) -> dict[str, Any]:
        """Return a stream's summary."""
        return (await self._stream(name)).summary()

    def threshold(self, name: str) -> float:
        """Return the threshold in force in a stream that is in memory."""
        stream = self._streams.get(name)
        if stream is None:
            raise UnknownStream(f"there is no stream {name!r} any more")
        return stream.cutter.leader.threshold

    async def delete_stream(self, name: str) -> None:
        """Erase a stream and its log."""
        stream = await self._stream(name)
        self._check_open()
        async with self._writing:
            await self._in_writer(self.store.delete_stream, stream.id)
            stream.deleted = True
            self._forget(stream)

    # Rounds.

    async def propose(
        self,
        name: str,
        ids: Sequence[Member],
        scores: Sequence[float],
        *,
        round_id: str | None = None,
        question: str | None = None,
        texts: list[str | None] | None = None,
        truncated_below: float | None = None,
        scorer_version: str | None = None,
    ) -> tuple[Round, bool]:
        """Show a list; return its round and whether it is new."""
        stream = await self._stream(name)
        values = check_scores(scores)
        members = check_ids(ids, values.size)
        if truncated_below is not None:
            check_number("truncated_below", truncated_below, "it must be a finite score, or left out")
        command = Propose(
            stream,
            round_id or uuid.uuid4().hex,
            members,
            values,
            question,
            texts,
            truncated_below,
            scorer_version,
            fresh=round_id is None,
        )
        return await self._submit(command)

    async def answer(self, name: str, round_id: str, kind: str, member: Member | None = None) -> tuple[Round, bool]:
        """Take a round's answer (hit, miss, skip or absent); return the round and whether it is new."""
        return await self._submit(Close(await self._stream(name), round_id, kind, member))

    def figures(self, limit: int) -> list[dict[str, Any]]:
        """Return the figures of the streams in memory."""
        return [stream.figures() for stream in list(self._by_id.values())[:limit]]

    async def erase_texts(self, name: str, before: float) -> int:
        """Erase what people read in rounds that were shown before a moment; return of how many."""
        stream = await self._stream(name)
        self._check_open()
        async with self._writing:
            return await self._in_writer(self.store.erase_texts, stream.id, before)

    async def retain(self, expire_after: float | None, erase_after: float | None) -> None:
        """Close rounds, and erase texts, that are older than so many seconds, in all streams."""
        rows = await self._read(lambda reader: reader.streams())
        for row in rows:
            with contextlib.suppress(UnknownStream):
                if expire_after is not None:
                    await self.expire(row.name, time.time() - expire_after)
                if erase_after is not None:
                    await self.erase_texts(row.name, time.time() - erase_after)

    async def expire(self, name: str, before: float) -> int:
        """Close all rounds that were shown before a moment and are still open; return how many were."""
        stream = await self._stream(name)
        rounds = await self._read(lambda reader: reader.rounds(stream.id, list(stream.open)))
        overdue = [event.round_id for event in rounds if event.kind == "shown" and event.at < before]
        done = await asyncio.gather(*(self._submit(Close(stream, round_id, "expired")) for round_id in overdue))
        return sum(new for _, new in done)

    async def rounds(
        self, name: str, *, after: int = 0, limit: int = 100, only_open: bool = False
    ) -> list[tuple[Round, Text | None]]:
        """Return rounds in the order shown, after an event number, each with what people read in it."""
        stream = await self._stream(name)
        wanted = [round_id for round_id, number in stream.open.items() if number > after][:limit]

        def read(reader: Any) -> list[tuple[Round, Text | None]]:
            if only_open:
                shown = [event for event in reader.rounds(stream.id, wanted) if event.kind == "shown"]
            else:
                shown = reader.page(stream.id, after, limit, kind="shown")
            return _with_texts(reader, stream, sorted(shown, key=lambda event: event.number))

        return await self._read(read)

    async def round(self, name: str, round_id: str) -> tuple[Round, Text | None]:
        """Return one round."""
        stream = await self._stream(name)

        def read(reader: Any) -> list[tuple[Round, Text | None]]:
            shown = [event for event in reader.rounds(stream.id, [round_id]) if event.kind == "shown"]
            return _with_texts(reader, stream, shown)

        found = await self._read(read)
        if not found:
            raise UnknownRound(f"round {round_id} of stream {name} was never shown")
        return found[0]

    async def changes(self, name: str, *, pause: float = 0.25) -> AsyncIterator[dict[str, Any] | None]:
        """Yield a stream's summary now and whenever it has changed, None now and then; end when closing."""
        stream = await self._stream(name)
        changed = asyncio.Event()
        changed.set()
        listeners = self._listeners.setdefault(stream.id, set())
        listeners.add(changed)
        try:
            while not self._ending and self._by_id.get(stream.id) is not None:
                try:
                    await asyncio.wait_for(changed.wait(), 15.0)
                except TimeoutError:
                    yield None
                    continue
                changed.clear()
                if self._ending or self._by_id.get(stream.id) is None:
                    return
                yield self._by_id[stream.id].summary()
                await asyncio.sleep(pause)
        finally:
            listeners.discard(changed)

    def end_changes(self) -> None:
        """End `changes` for all who listen: the service is about to stop."""
        self._ending = True
        for listeners in self._listeners.values():
            for changed in listeners:
                changed.set()

    async def check(self) -> None:
        """Raise unless the database answers, and takes writes if it lately did not."""
        self._check_open()
        await self._read(lambda reader: reader.stream(""))
        if self._failing and time.monotonic() - self._last_try > 1.0:
            self._last_try = time.monotonic()
            async with self._writing:
                await self._in_writer(self.store.beat, time.time())
            self._failing = None
        if self._failing:
            raise self._failing

    # The writer.

    async def _submit(self, command: Command) -> tuple[Round, bool]:
        self._check_open()
        future: asyncio.Future[tuple[Round, bool]] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, future))
        self._wake.set()
        return await future

    async def _run(self) -> None:
        while not (self._closing and not self._waiting):
            await self._wake.wait()
            if not self._closing:
                self._wake.clear()
            while self._waiting:
                batch = self._waiting[: self._batch_limit]
                del self._waiting[: self._batch_limit]
                async with self._writing:
                    await self._write(batch)

    async def _write(self, batch: list[Request]) -> None:
        """Judge, append, fold, answer: in this order."""
        started = time.perf_counter()
        streams = {command.stream.id: command.stream for command, _ in batch}
        try:
            outcomes, written = await self._store([command for command, _ in batch])
        except ShortlistError as error:
            self._failing = error
            self._unsure |= streams.keys()
            _refuse(batch, error)
            return
        except Exception:  # noqa: BLE001 - whatever it was, nobody may be left waiting, and nothing half-done be kept
            _log.exception("a batch could not be stored")
            await self._in_writer(self.store.rollback)
            for stream in streams.values():
                self._forget(stream)  # to be read anew from the log
            _refuse(batch, ServiceUnavailable("the service failed to store this: try again"))
            return
        self._failing = None
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
            if stream.number - self._snapshots.get(stream.id, stream.number) >= self._snapshot_every:
                await self._keep_snapshot(stream)

    async def _store(self, commands: list[Command]) -> tuple[list[tuple[Round, bool] | ShortlistError], int]:
        """Return what came of each request, and how many events were written."""
        await self._look(commands)
        draft = Batch(self._cache, time.time(), self._open_limit)
        outcomes = [self._judge(draft, command) for command in commands]
        if draft.events:
            await self._in_writer(self.store.append, draft.events, draft.texts)
            self._fold(draft.events)
        else:
            await self._in_writer(self.store.rollback)
        return outcomes, len(draft.events)

    def _judge(self, draft: Batch, command: Command) -> tuple[Round, bool] | ShortlistError:
        if self._by_id.get(command.stream.id) is not command.stream:
            if command.stream.deleted:
                return UnknownStream(f"there is no stream {command.stream.name!r} any more")
            return ServiceUnavailable(f"stream {command.stream.name!r} is being read anew: try again")
        return draft.judge(command)

    async def _look(self, commands: list[Command]) -> None:
        """Fetch what memory does not have: rounds of the past, and events of other writers."""
        keys = {
            (command.stream.id, command.round_id)
            for command in commands
            if not (isinstance(command, Propose) and command.fresh)
        }
        keys = {key for key in keys if self._cache.get(key) is None}
        ids = {command.stream.id for command in commands}
        behind = ids if self.store.shared else ids & self._unsure
        if not keys and not behind:
            return
        folded = {stream_id: self._by_id[stream_id].number for stream_id in behind if stream_id in self._by_id}
        view = await self._in_writer(self.store.begin, folded, keys)
        for stream_id in view.gone:
            self._by_id[stream_id].deleted = True
            self._forget(self._by_id[stream_id])
        for tail in view.tails.values():
            self._fold(tail)
        for event in view.rounds:
            self._cache.add(event)
        self._unsure -= behind

    def _fold(self, events: Sequence[Event]) -> None:
        for event in events:
            self._by_id[event.stream_id].apply(event)
            self._cache.add(event)
        for stream_id in {event.stream_id for event in events}:
            for changed in self._listeners.get(stream_id, ()):
                changed.set()

    async def _keep_snapshot(self, stream: Stream) -> None:
        snapshot = stream.snapshot()
        try:
            await self._in_writer(self.store.save_snapshot, stream.id, snapshot)
        except ShortlistError as error:
            _log.warning("no snapshot of stream %s: %s", stream.name, error)  # the log has everything
        self._snapshots[stream.id] = snapshot.number

    # Loading.

    async def _stream(self, name: str) -> Stream:
        """Return a stream, from memory or from the log."""
        stream = self._streams.get(name)
        if stream is not None:
            return stream
        async with self._writing:  # nobody writes while it is read
            if name not in self._streams:
                loaded = await self._read(lambda reader: load(reader, name))
                if loaded is None:
                    raise UnknownStream(f"there is no stream {name!r}; make it with POST /v1/streams")
                stream, kept = loaded
                self._streams[name] = self._by_id[stream.id] = stream
                self._snapshots[stream.id] = kept
            return self._streams[name]

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream.name, None)
        self._by_id.pop(stream.id, None)
        self._cache.forget(stream.id)
        for changed in self._listeners.pop(stream.id, set()):
            changed.set()

    def _check_open(self) -> None:
        if self._closing:
            raise ServiceUnavailable("the service is stopping; nothing was stored: try again in a moment")

    async def _in_writer(self, work: Callable[..., Result], *arguments: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._writer, work, *arguments)

    async def _read(self, work: Callable[[Any], Result]) -> Result:
        def job() -> Result:
            with self.store.reading() as reader:
                return work(reader)

        return await asyncio.get_running_loop().run_in_executor(self._reader, job)


def _refuse(batch: list[Request], error: ShortlistError) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)


def load(reader: Any, name: str) -> tuple[Stream, int] | None:
    """Return a stream as its log gives it, from the last snapshot on, and that snapshot's number."""
    row: StreamRow | None = reader.stream(name)
    if row is None:
        return None
    stream = Stream(row)
    kept = 0
    for snapshot in reader.snapshots(row.id):
        if snapshot.version == STATE_VERSION:
            stream.restore(snapshot)
            kept = snapshot.number
            break
    for event in reader.events(row.id, after=stream.number):
        stream.apply(event)
    return stream, kept


def _with_texts(reader: Any, stream: Stream, shown: list[Event]) -> list[tuple[Round, Text | None]]:
    closed = {
        event.round_id: event
        for event in reader.rounds(stream.id, [event.round_id for event in shown])
        if event.kind != "shown"
    }
    texts = reader.texts(stream.id, [event.number for event in shown])
    return [(Round(event, closed.get(event.round_id)), texts.get(event.number)) for event in shown]
