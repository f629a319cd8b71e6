"""How a stream is doing: once, or whenever that has changed."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple

from shortlist.errors import DamagedLog, UnknownStream
from shortlist.rounds.codec import to_json
from shortlist.service.engine.memory import Memory
from shortlist.service.engine.stream import LoggedStream
from shortlist.service.engine.stream_loader import StreamLoader

__all__ = ["Change", "ChangeFeed", "summary_of"]

#: After how many seconds of silence a listener hears that we are still there.
_STILL_HERE: Final = 15.0
#: How often a listener looks for what other processes wrote.
_POLL: Final = 1.0


class Change(NamedTuple):
    """A stream's summary as JSON, after the event of this number."""

    number: int
    summary: str


async def summary_of(stream: LoggedStream) -> dict[str, Any]:
    """Return a stream's summary with what takes a while to measure: others are served meanwhile."""
    learning = stream.rounds.learning
    if learning is not None and learning.gain_is_due:
        await asyncio.to_thread(learning.gain)
    return stream.summary()


class ChangeFeed:
    """Those who listen to streams, and the summaries they get: built once, however many listen.

    Parameters
    ----------
    memory
        What is in memory.
    loader
        Where streams are found.
    shared
        Whether others write to the database, too.
    """

    def __init__(self, memory: Memory, loader: StreamLoader, *, shared: bool) -> None:
        self._memory, self._loader, self._shared = memory, loader, shared
        self._last: dict[int, Change] = {}
        self._ending = False

    async def changes(self, name: str, *, pause: float = 0.25) -> AsyncIterator[Change | None]:
        """Yield a stream's summary now and whenever it has changed, None now and then; end when closing."""
        stream = await self._loader.fresh(name)
        changed = self._memory.listen(stream.id)
        changed.set()
        last = time.monotonic()
        try:
            while not self._ending:
                try:
                    await asyncio.wait_for(changed.wait(), _POLL if self._shared else _STILL_HERE)
                except TimeoutError:
                    if time.monotonic() - last >= _STILL_HERE:
                        last = time.monotonic()
                        yield None
                    if not self._shared:
                        continue
                if self._ending:
                    return
                try:
                    current = await self._loader.fresh(name)
                except (UnknownStream, DamagedLog):
                    return
                if current.id != stream.id:
                    return
                if changed.is_set():
                    changed.clear()
                    last = time.monotonic()
                    yield await self._change(current)
                    await asyncio.sleep(pause)
        finally:
            if self._memory.unlisten(stream.id, changed):
                self._last.pop(stream.id, None)

    async def _change(self, stream: LoggedStream) -> Change:
        last = self._last.get(stream.id)
        if last is None or last.number != stream.number:
            summary = await summary_of(stream)
            last = self._last[stream.id] = Change(summary["events"], to_json(summary))
        return last

    def end(self) -> None:
        """End `changes` for all who listen: the service is about to stop."""
        self._ending = True
        self._memory.wake_all()
