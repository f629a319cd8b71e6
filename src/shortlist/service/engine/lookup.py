"""What a batch has to know before it is judged: its rounds and its streams.

On a database that others write to as well, all of these streams are locked, and brought up to date first. Their
locks are taken at once, in one order.

A stream that somebody else holds for long, or that has yet to be read from the log, makes only those commands wait that
are about it: `Busy` says which.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from shortlist.errors import DamagedLog, UnknownStream
from shortlist.service.engine.commands import Command, Propose
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.memory import Memory
from shortlist.service.engine.round_cache import Key, Round
from shortlist.service.store import LogEntry, Store, Text, View

__all__ = ["BatchContext", "Busy", "Lookup"]

_BEING_READ: Final = "stream {!r} is being read from its log, which takes a while: try again in a few seconds"
_HELD: Final = "stream {} is held by another process; nothing was stored: try again"


class Busy(Exception):
    """Some commands have to wait.

    Parameters
    ----------
    positions
        Which, by their positions in the batch.
    why
        The message for the caller, if it takes too long.
    """

    def __init__(self, positions: set[int], why: str) -> None:
        super().__init__(why)
        self.positions, self.why = positions, why


@dataclass
class BatchContext:
    """What a batch can see."""

    #: The rounds that it is about; None if there is none of that id.
    rounds: dict[Key, Round | None] = field(default_factory=dict)
    #: The streams that it may write to.
    streams: dict[int, LoggedStream] = field(default_factory=dict)
    #: The texts of rounds that are sent again, where they are not erased.
    texts: dict[Key, Text] = field(default_factory=dict)


class Lookup:
    """Looks up what batches are about, in memory or in the log.

    Parameters
    ----------
    store, memory
        The log, and what is in memory.
    do
        Runs something in the thread that writes.
    find
        Returns the stream of a name, from memory or from the log; None if it is being read, which takes a while.
    open_limit
        How many rounds of a stream may wait for an answer.
    """

    def __init__(
        self,
        store: Store,
        memory: Memory,
        do: Callable[..., Awaitable[Any]],
        find: Callable[[str], Awaitable[LoggedStream | None]],
        open_limit: int,
    ) -> None:
        self._store, self._memory, self._do, self._find = store, memory, do, find
        self._open_limit = open_limit
        #: Streams whose last transaction failed: whether it was stored is not known.
        self.unsure: set[int] = set()
        #: Whether a moment is waited for streams that others hold.
        self.patient = True

    async def look(self, commands: Sequence[Command], streams: dict[int, LoggedStream]) -> BatchContext:
        """Return what commands are about; all streams that they may write to are put into `streams`.

        Raises
        ------
        Busy
            Some of them have to wait; nothing is locked any more.
        """
        memory = self._memory
        if any(memory.by_id.get(command.stream.id) is not command.stream for command in commands):
            await self._bring_in(commands)
        context = BatchContext(streams=streams)
        repeated = False
        for command in commands:
            streams[command.stream.id] = command.stream
            if command.round_id and not (isinstance(command, Propose) and command.is_fresh):
                key = (command.stream.id, command.round_id)
                # It is held here, for what is read can push it out of the cache.
                context.rounds[key] = memory.cache.get(key)
                repeated = repeated or isinstance(command, Propose)
        if self._store.shared or self.unsure or None in context.rounds.values():
            await self._read(commands, context)
        if repeated:
            context.texts = await self._texts(commands, context)
        return context

    async def _bring_in(self, commands: Sequence[Command]) -> None:
        """Bring the commands' streams into memory: some may have left it while the commands waited."""
        for command in commands:
            stream = command.stream
            if self._memory.by_id.get(stream.id) is stream or stream.deleted or stream.id in self._memory.damaged:
                continue
            try:
                current = await self._find(stream.name)
            except DamagedLog:
                continue  # judging it raises
            except UnknownStream:
                stream.deleted = True
                continue
            if current is None:
                positions = {position for position, each in enumerate(commands) if each.stream.name == stream.name}
                raise Busy(positions, _BEING_READ.format(stream.name))
            if current.id == stream.id:
                command.stream = current
            else:
                stream.deleted = True

    async def _texts(self, commands: Sequence[Command], context: BatchContext) -> dict[Key, Text]:
        """Return the texts of lists that are sent again."""
        numbers = {}
        for command in commands:
            key = (command.stream.id, command.round_id)
            logged = context.rounds.get(key) if isinstance(command, Propose) and command.has_texts else None
            if logged is not None and logged.listed.has_text:
                numbers[key] = logged.shown.number
        if not numbers:
            return {}
        texts: dict[tuple[int, int], Text] = await self._do(
            self._store.texts, [(stream_id, number) for (stream_id, _), number in numbers.items()]
        )
        return {key: texts[key[0], number] for key, number in numbers.items() if (key[0], number) in texts}

    async def _read(self, commands: Sequence[Command], context: BatchContext) -> None:
        """Read what is not at hand; what other processes have written in the meantime is folded first."""
        memory, rounds = self._memory, context.rounds
        missing = [key for key, logged in rounds.items() if logged is None]
        ids = set(context.streams)
        behind = ids if self._store.shared else ids & self.unsure
        if not missing and not behind:
            return
        folded = {stream_id: memory.by_id[stream_id].number for stream_id in behind if stream_id in memory.by_id}
        view = await self._do(self._store.begin, folded, missing, self.patient)
        if view.busy:
            raise self._busy(commands, view)
        for stream_id in view.gone:
            memory.forget(memory.by_id[stream_id], deleted=True)
        for stream_id, error in view.damaged.items():
            if stream_id in memory.by_id:
                memory.mark_damaged(stream_id, memory.by_id[stream_id].name, error)
        for stream_id, tail in view.tails.items():
            if stream_id in memory.by_id:
                memory.fold(tail)
                _update(rounds, tail)
        for entry in view.rounds:
            if entry.stream_id in memory.by_id:
                memory.cache.add(entry)
        _update(rounds, view.rounds)
        self.unsure -= behind

    def _busy(self, commands: Sequence[Command], view: View) -> Busy:
        """Return which commands have to wait for what the store could not lock or read now."""
        memory = self._memory
        names = {memory.by_id[stream_id].name for stream_id in view.busy}
        for stream_id in view.far:
            memory.forget(memory.by_id[stream_id])  # it is read again when its commands are tried again
        positions = {position for position, command in enumerate(commands) if command.stream.name in names}
        return Busy(positions or set(range(len(commands))), _HELD.format(", ".join(sorted(names))))


def _update(rounds: dict[Key, Round | None], entries: Iterable[LogEntry]) -> None:
    """Take entries into the rounds that they are about: a round's list comes before what closes it."""
    for entry in entries:
        key = (entry.stream_id, entry.round_id)
        logged = rounds.get(key)
        if entry.is_list and key in rounds:
            rounds[key] = logged or Round(entry)
        elif logged is not None:
            rounds[key] = logged.after(entry)
