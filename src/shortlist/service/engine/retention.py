"""Closing rounds that have waited too long, and erasing questions, texts and images."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from shortlist.errors import ShortlistError, UnknownStream
from shortlist.service.engine.stream_loader import StreamLoader
from shortlist.service.engine.writer import Writer
from shortlist.service.store import Store

__all__ = ["Retention"]

_log = logging.getLogger("shortlist.service")


class Retention:
    """Closes and erases what is old.

    Parameters
    ----------
    store, loader, writer
        The log, where streams are found, and what writes.
    answer_all
        Takes answers to rounds of a stream, each with the round's id, and returns the result of each.
    """

    def __init__(
        self,
        store: Store,
        loader: StreamLoader,
        writer: Writer,
        answer_all: Callable[[str, Sequence[Any]], Awaitable[Sequence[tuple[Any, bool] | ShortlistError]]],
    ) -> None:
        self._store, self._loader, self._writer, self._answer_all = store, loader, writer, answer_all

    async def expire(self, name: str, before: float) -> int:
        """Close all rounds that were shown before a moment and are still open; return how many were."""
        stream = await self._loader.fresh(name)
        numbers = list(stream.open.values())
        overdue = await self._loader.read_of(stream, lambda reader: reader.shown_before(stream.id, numbers, before))
        closed = 0
        for outcome in await self._answer_all(name, [(round_id, ("expired", None)) for round_id in overdue]):
            if isinstance(outcome, ShortlistError):
                raise outcome
            closed += outcome[1]
        return closed

    async def erase_texts(self, name: str, before: float) -> int:
        """Erase question, texts and image of rounds shown before a moment; return of how many."""
        self._writer.check()
        row = await self._loader.row(name)
        async with self._writer.lock:
            return await self._writer.do(self._store.erase_texts, row.id, before)

    async def retain(self, expire_after: float | None, erase_after: float | None) -> int:
        """Close rounds, and erase texts, that are older than so many seconds, in all streams.

        Return how often that failed.
        A stream whose log is damaged keeps its rounds, and counts as failed; its texts are erased all the same.
        """
        rows, failed = await self._loader.read(lambda reader: reader.streams()), 0
        for row in rows:
            for work, age in ((self.erase_texts, erase_after), (self.expire, expire_after)):
                if age is None:
                    continue
                try:
                    await work(row.name, time.time() - age)
                except UnknownStream:
                    break  # deleted in the meantime
                except Exception:  # noqa: BLE001 - the other streams are not to wait for this one
                    _log.exception("retention of stream %s has to wait", row.name)
                    failed += 1
        return failed
