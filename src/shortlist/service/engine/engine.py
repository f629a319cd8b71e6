"""The engine: what can be done with streams and rounds. No HTTP, no SQL.

Everything in memory belongs to the event loop's thread; the store has one thread that writes (`writer.py`), one that
reads what is short (`stream_loader.py`), and others for what takes long. On a database that others write to as well,
what is read is first brought up to date with the log.
"""

import asyncio
import contextlib
import dataclasses
import functools
import json
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from shortlist._validation import Member, check_ids, check_number, check_table
from shortlist.errors import (
    ConflictingStream,
    ShortlistError,
    UnknownRound,
    UnknownStream,
)
from shortlist.rounds.admission import Given, needed
from shortlist.rounds.events import Answer, Listed
from shortlist.rounds.settings import CONFIGURABLE
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.engine.change_feed import Change, ChangeFeed, summary_of
from shortlist.service.engine.commands import UNBOUND, Author, Close, Command, Configure, Expand, Propose
from shortlist.service.engine.examples import WarmStart, check_warm_start, labeled, warm_start_events
from shortlist.service.engine.history import History
from shortlist.service.engine.labeling_queue import LabelingQueue
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.memory import Memory, damage
from shortlist.service.engine.overview import Overview, Overviewed
from shortlist.service.engine.paging import parts_of, settled
from shortlist.service.engine.reranking import Reranking
from shortlist.service.engine.restarting import Restart
from shortlist.service.engine.retention import Retention
from shortlist.service.engine.review import Review
from shortlist.service.engine.round_cache import Round
from shortlist.service.engine.stream_loader import StreamLoader
from shortlist.service.engine.stream_settings import OWN, StreamSettings
from shortlist.service.engine.writer import Writer
from shortlist.service.store import Store

__all__ = ["Engine"]

_log = logging.getLogger("shortlist.service")


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
    notice
        Called with the name of what else is counted: "commit failed", "snapshot kept", "snapshot failed".
    observe_fit
        Called after the fit of a learned score with the seconds it took.
    fit_patience
        For how many seconds, at the most, the answer that makes a fit due waits for it.
    stream_limit
        How many streams are in memory at the most; those that were not used for the longest time leave it.
    open_reader
        Opens the log once more, for reading what takes a while.
    """

    def __init__(
        self,
        store: Store,
        *,
        snapshot_every: int = 1_000,
        open_limit: int = 10_000,
        batch_limit: int = 512,
        stream_limit: int = 1_000,
        observe: Callable[[int, int, float], None] | None = None,
        notice: Callable[[str], None] | None = None,
        observe_fit: Callable[[float], None] | None = None,
        fit_patience: float = 1.0,
        open_reader: Callable[[], Store],
    ) -> None:
        self.store = store
        #: Opens the log once more, for reading what takes a while.
        self.open_reader = open_reader
        self._memory = Memory(stream_limit)
        self._writer = Writer(
            store,
            self._memory,
            snapshot_every=snapshot_every,
            open_limit=open_limit,
            batch_limit=batch_limit,
            observe=observe,
            notice=notice or (lambda _: None),
            find=lambda name: self._loader.find(name),  # noqa: PLW0108 - each needs the other
            observe_fit=observe_fit,
        )
        keep, make_room = self._writer.keep_snapshot, self._writer.make_room
        self._loader = StreamLoader(store, self._memory, self._writer.lock, open_reader, keep, make_room)
        self._overview = Overview(self._memory, open_reader, self._loader.fresh)
        self._feed = ChangeFeed(self._memory, self._loader)
        #: What has happened in streams, and how long it is kept.
        self.history = History(self._loader)
        self.retention = Retention(store, self._loader, self._writer, self.answer_all)
        #: What waits for annotators, and who is answering which.
        self.labeling = LabelingQueue(store, self._loader, self._writer)
        #: Labels that a lead corrects.
        self.review = Review(store, self._loader, self._writer)
        #: Lists for callers that may never give feedback.
        self.reranking = Reranking(self._loader, self.history, self._submit)
        self._last_try = -1.0
        self._fit_patience = fit_patience

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, address: str, **settings: Any) -> AsyncIterator["Engine"]:
        """Open the database at an address, run, and close it again with everything written."""
        reader = functools.partial(Store, address, read_only=True)
        engine = cls(await asyncio.to_thread(Store, address), open_reader=reader, **settings)
        engine._writer.start()
        try:
            yield engine
        finally:
            await engine.close()

    async def close(self) -> None:
        """Take nothing new, write what is there, and close the database."""
        self.prepare_shutdown()
        await self._overview.close()
        await self._loader.end()
        await self._writer.close()
        self._loader.close()

    # Streams.

    async def create_stream(self, name: str, settings: StreamSettings) -> tuple[StreamSummary, bool]:
        """Create a stream, or find the one with that name and those settings; return its summary, and if it is new."""
        self._writer.check()
        values = settings.to_dict()
        async with self._writer.lock:
            row, created = await self._writer.do(self.store.create_stream, name, values, time.time())
            cached = self._memory.by_name.get(name)
            if cached is not None and cached.id != row.id:
                self._memory.forget(cached, deleted=True)
        try:
            mine = StreamSettings.of(**row.settings).to_dict()
        except Exception as error:  # noqa: BLE001 - settings can be damaged in any way
            raise damage(name, error) from None
        other = next((key for key in values if values[key] != mine[key]), None)
        if other is not None:
            remedy = "configure the stream to change it" if other in (*CONFIGURABLE, *OWN) else "choose another name"
            raise ConflictingStream(
                f"stream {name} was created with {other} {json.dumps(mine[other])}, not {json.dumps(values[other])}; "
                f"{remedy}, or delete it first"
            )
        return await self.summary(name), created

    async def streams(self, *, after: str = "", limit: int = 100) -> dict[str, Any]:
        """Return summaries by name, the streams that cannot be read, or not yet, and the name to go on after."""
        rows = await self._loader.read(lambda reader: reader.streams(after, limit))
        seen = await self._overview.look(rows)
        damaged = [{"name": row.name, "created": row.created, "why": str(error)} for row, error in seen.damaged]
        unread = [{"name": row.name, "created": row.created} for row in seen.unread]
        following = rows[-1].name if len(rows) == limit else None
        return {"streams": seen.summaries, "damaged": damaged, "unread": unread, "next": following}

    async def summary(self, name: str) -> StreamSummary:
        """Return a stream's summary."""
        return await summary_of(await self._loader.fresh(name))

    async def require(self, name: str) -> None:
        """Raise UnknownStream unless there is such a stream."""
        await self._loader.stream(name)

    async def threshold(self, name: str) -> float:
        """Return the threshold in force."""
        return (await self._loader.stream(name)).threshold

    async def overview(self, limit: int) -> tuple[int, Overviewed]:
        """Return how many streams there are, and the summaries of those that were made first, up to so many."""
        rows = await self._loader.read(lambda reader: reader.streams())
        return len(rows), await self._overview.look(sorted(rows, key=lambda row: row.id)[:limit])

    @property
    def listeners(self) -> int:
        """How many listen to changes of streams."""
        return self._memory.listeners

    @property
    def in_memory(self) -> list[str]:
        """The streams that are in memory; those that were used last are at the end."""
        return list(self._memory.by_name)

    @property
    def fits_waiting(self) -> int:
        """How many fits of learned scores are being computed, or wait for their turn."""
        return self._writer.fits.waiting

    @property
    def waiting(self) -> int:
        """How many requests wait to be written."""
        return self._writer.waiting

    async def delete_stream(self, name: str) -> None:
        """Erase a stream and its log, whether or not it can be read."""
        self._writer.check()
        row = await self._loader.row(name)
        async with self._writer.lock:
            self._loader.give_up(name)
            stream = self._memory.by_id.get(row.id)
            deleted = False
            try:
                await self._writer.do(self.store.delete_stream, row.id)
                deleted = True
                self._loader.give_up(name)  # somebody may have asked for it meanwhile
                self._memory.damaged.pop(row.id, None)
            finally:
                if stream is not None:  # if it failed, whether it is gone is not known: it is read again
                    self._memory.forget(stream, deleted=deleted)

    # Rounds.

    async def propose(
        self,
        name: str,
        ids: Sequence[Member],
        scores: Any,
        *,
        round_id: str | None = None,
        question: str | None = None,
        texts: list[str | None] | None = None,
        image: str | None = None,
        truncated_below: float | Mapping[str, float] | None = None,
        scorer_version: str | None = None,
        allow_empty: bool = False,
    ) -> tuple[Round, bool]:
        """Show a list; return its round and whether it is new.

        `scores` are a number for each candidate, or ``{scorer: numbers}``, NaN where one has none. Of the scorers that
        the stream has, those that are not named here are missing for all candidates.
        """
        values, scorers = check_table(scores, allow_empty=allow_empty)
        members = check_ids(ids, len(values))
        if truncated_below is not None and not isinstance(truncated_below, Mapping):
            truncated_below = check_number("truncated_below", truncated_below, "a finite score, or left out")
        chosen = round_id or uuid.uuid4().hex
        shown, created = await self._submit(
            name,
            lambda stream: Propose(
                stream,
                chosen,
                members,
                values,
                scorers,
                question,
                texts,
                image,
                truncated_below,
                scorer_version,
                is_fresh=round_id is None,
            ),
        )
        listed: Listed = shown.shown.event  # type: ignore[assignment]
        if listed.comparable is None:  # it was read from the log
            stream = (await self._loader.stream(name)).stream
            shown = dataclasses.replace(shown, shown=dataclasses.replace(shown.shown, event=stream.completed(listed)))
        return shown, created

    async def answer(
        self,
        name: str,
        round_id: str,
        kind: str,
        member: Member | list[Member] | None = None,
        author: Author = UNBOUND,
    ) -> tuple[Round, bool]:
        """Take a round's answer (hit, miss, skip or absent); return the round and whether it is new."""
        given: Given = Answer(kind) if kind != "hit" or member is None else needed(member)
        began = time.monotonic()
        outcome = await self._submit(name, lambda stream: Close(stream, round_id, given, author))
        stream = self._memory.by_name.get(name)
        if self._writer.fits.waiting and stream is not None:
            await self._writer.fits.wait(stream, began, self._fit_patience)
        return outcome

    async def answer_all(
        self, name: str, answers: Sequence[tuple[str, tuple[Any, ...]]]
    ) -> list[tuple[dict[str, Any] | None, bool] | ShortlistError]:
        """Take answers to rounds, each as `answer` does; return each as it is stored, and whether it is new.

        An answer is its kind, the member or members, and who gave it. Not all lists are in memory at once.
        """
        stream = await self._loader.stream(name)
        names = list({round_id for round_id, _ in answers})
        sizes = await self._loader.read(lambda reader: reader.list_sizes(stream.id, names))
        outcomes = list[tuple[dict[str, Any] | None, bool] | ShortlistError]()
        for part in parts_of(answers, sizes):
            outcomes += await settled(self._answer(name, round_id, *answer) for round_id, answer in part)
        return outcomes

    async def _answer(self, name: str, round_id: str, *answer: Any) -> tuple[dict[str, Any] | None, bool]:
        closed, new = await self.answer(name, round_id, *answer)
        return closed.answer(), new

    async def configure(self, name: str, changes: dict[str, Any]) -> StreamSummary:
        """Change settings of a stream, from its next list on, and return its summary."""
        await self._submit(name, lambda stream: Configure(stream, changes))
        return await self.summary(name)

    async def warm_start(
        self, name: str, lists: list[Any], right: list[Any], scorers: Sequence[str] | None = None
    ) -> StreamSummary:
        """Learn from labeled lists before the first one is shown, and return the stream's summary.

        The same examples again change nothing.
        """
        stream = await self._loader.fresh(name)
        examples = labeled(lists, right, scorers, stream.stream.scorers)
        if stream.warm_start is None or stream.warm_start != examples.digest:
            check_warm_start(stream, again=stream.warm_start is not None)
            events = await asyncio.to_thread(warm_start_events, stream.stream, examples)  # a fit takes a while
            await self._writer.submit(WarmStart(stream, events))
        return await self.summary(name)

    async def restart(self, name: str, *, refit: bool = False, epoch: int | None = None) -> StreamSummary:
        """Start learning over: end `epoch`, or the one that there is; return the stream's summary."""
        await self._submit(name, lambda stream: Restart(stream, refit, epoch))
        return await self.summary(name)

    async def more(
        self, name: str, round_id: str, count: int | None = None, seen: int | None = None, author: Author = UNBOUND
    ) -> tuple[Round, bool]:
        """Show more of a list: `count` more than were `seen`; return the round and whether more of it is shown now."""
        return await self._submit(name, lambda stream: Expand(stream, round_id, count, seen, author))

    # Watching.

    def changes(
        self, name: str, is_allowed: Callable[[], bool] = lambda: True, *, pause: float = 0.25
    ) -> AsyncIterator[Change | None]:
        """Yield a stream's summary now and whenever it has changed, None as a sign of life.

        It ends when the service is about to stop, or when `is_allowed` returns False, which is checked every second.
        """
        return self._feed.changes(name, is_allowed, pause=pause)

    def prepare_shutdown(self) -> None:
        """End `changes` for all listeners, and refuse requests that would have to wait for a stream."""
        self._feed.end()
        self._loader.prepare_shutdown()
        self._writer.prepare_shutdown()

    async def check(self) -> None:
        """Raise unless the database answers, is where it was, and takes writes if it lately did not."""
        self._writer.check()
        await self._loader.read(lambda reader: reader.stream(""))
        await asyncio.to_thread(self.store.check_file)
        if self._writer.failing and time.monotonic() - self._last_try > 1.0:
            self._last_try = time.monotonic()
            async with self._writer.lock:
                await self._writer.do(self.store.beat, time.time())
            self._writer.failing = None
        if self._writer.failing:
            raise self._writer.failing

    # How it is done.

    async def _submit(self, name: str, make: Callable[[LoggedStream], Command]) -> tuple[Round, bool]:
        """Have a command written; return the round, of a command that is about one, and whether it changed it."""
        stream = await self._loader.stream(name)
        command = make(stream)
        try:
            return await self._writer.submit(command)  # type: ignore[return-value]
        except UnknownStream:
            # Another process may have deleted the stream that we knew, and made it again.
            return await self._writer.submit(make(await self._loader.stream(name)))  # type: ignore[return-value]
        except UnknownRound:
            draft = self.reranking.round_of(stream, command.round_id)
            if draft is None:
                raise
            await self._writer.submit(draft)
            self.reranking.drop(stream, draft.round_id)
            return await self._writer.submit(make(stream))  # type: ignore[return-value]
