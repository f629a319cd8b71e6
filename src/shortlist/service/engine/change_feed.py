"""How a stream is doing: once, or whenever that has changed."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple

import orjson

from shortlist.errors import DamagedLog, UnknownStream
from shortlist.rounds.stream_summary import StreamSummary
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.memory import Memory
from shortlist.service.engine.sentences import with_sentences
from shortlist.service.engine.stream_loader import StreamLoader

__all__ = ["Change", "ChangeFeed", "summary_of"]

#: After how many seconds of silence a listener hears that we are still there.
_STILL_HERE: Final = 15.0
#: How often a listener looks for what other processes wrote, and whether it may still listen, in seconds.
_POLL: Final = 1.0


class Change(NamedTuple):
    """A stream's summary as JSON, after the event of this number."""

    number: int
    summary: str


async def summary_of(stream: LoggedStream) -> StreamSummary:
    """Return a stream's summary with what takes a while to measure: others are served meanwhile."""
    learning = stream.stream.learning
    if learning is not None and learning.gain_is_due:
        await asyncio.to_thread(learning.gain)
    return with_sentences(stream.summary())


class ChangeFeed:
    """Those who listen to streams, and the summaries they get: built once, however many listen.

    Parameters
    ----------
    memory
        What is in memory.
    loader
        Where streams are found.
    """

    def __init__(self, memory: Memory, loader: StreamLoader) -> None:
        self._memory, self._loader = memory, loader
        self._last: dict[int, Change] = {}
        self._ending = False

    async def changes(
        self, name: str, is_allowed: Callable[[], bool], *, pause: float = 0.25
    ) -> AsyncIterator[Change | None]:
        """Yield a stream's summary now and whenever it has changed, None now and then; end when closing."""
        stream = await self._loader.fresh(name)
        changed = self._memory.listen(stream.id)
        changed.set()
        last = time.monotonic()
        try:
            while is_allowed() and (current := await self._current(stream)) is not None:
                if changed.is_set():
                    changed.clear()
                    last = time.monotonic()
                    yield await self._change(current)
                    await asyncio.sleep(pause)
                elif time.monotonic() - last >= _STILL_HERE:
                    last = time.monotonic()
                    yield None
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _POLL)
        finally:
            if self._memory.unlisten(stream.id, changed):
                self._last.pop(stream.id, None)

    async def _current(self, stream: LoggedStream) -> LoggedStream | None:
        """Return a stream with what other processes wrote to it; None if it is gone, or the service about to stop."""
        try:
            current = None if self._ending else await self._loader.fresh(stream.name)
        except (UnknownStream, DamagedLog):
            return None
        return None if current is None or current.id != stream.id or self._ending else current

    async def _change(self, stream: LoggedStream) -> Change:
        last = self._last.get(stream.id)
        if last is None or last.number != stream.number:
            summary = await summary_of(stream)
            last = self._last[stream.id] = Change(summary.events, orjson.dumps(summary).decode())
        return last

    def end(self) -> None:
        """End `changes` for all who listen: the service is about to stop."""
        self._ending = True
        self._memory.wake_all()
