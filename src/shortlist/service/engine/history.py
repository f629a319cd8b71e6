"""What has happened in a stream: its rounds, its charts, and its log as a file."""

import asyncio
import dataclasses
import functools
from collections.abc import AsyncIterator
from typing import Any, Final
from weakref import WeakKeyDictionary

from shortlist.errors import UnknownRound
from shortlist.service.engine.export import export_extent, export_page
from shortlist.service.engine.logged_stream import LoggedStream
from shortlist.service.engine.paging import Asked, Page, open_numbers, read_page
from shortlist.service.engine.round_cache import Round, Seen, comparing, with_texts
from shortlist.service.engine.stream_loader import StreamLoader
from shortlist.service.engine.training_set import ClassCounts, labels_page, labels_text, texts_of_labels
from shortlist.service.store import LogEntry, Reader, Text

__all__ = ["History"]

#: How many answers are read at a time.
_ANSWERS: Final = 1_000


class History:
    """Reads what has happened.

    Parameters
    ----------
    loader
        Where streams are found.
    """

    def __init__(self, loader: StreamLoader) -> None:
        self._loader = loader
        # For as long as a stream is in memory: its labels counted so far, and who is counting.
        self._classes = WeakKeyDictionary[LoggedStream, tuple[ClassCounts, asyncio.Lock]]()

    async def rounds(self, name: str, asked: Asked) -> Page:
        """Return rounds with their texts and what was compared; fewer than asked for where they are large."""
        stream = await self._loader.fresh(name)
        waiting = open_numbers(stream, asked) if asked.only_open else None
        rows, following = await self._loader.read_of(
            stream, lambda reader: read_page(reader, stream.id, asked, waiting)
        )
        return Page([(*row, comparing(stream.stream, row[0])) for row in rows], following)

    async def round(self, name: str, round_id: str) -> Seen:
        """Return one round."""
        stream = await self._loader.stream(name)

        def read(reader: Reader) -> list[tuple[Round, Text | None]]:
            lists = [entry for entry in reader.rounds(stream.id, [round_id]) if entry.is_list]
            return with_texts(reader, stream.id, lists)

        rows = await self._loader.read_of(stream, read)
        if not rows:
            raise UnknownRound(f"round {round_id} of stream {name} was never shown")
        return (*rows[0], comparing(stream.stream, rows[0][0]))

    async def text(self, name: str, shown: Round) -> Text | None:
        """Return question, texts and image of a round, if they were not erased."""
        if not shown.listed.has_text:
            return None
        stream, number = await self._loader.stream(name), shown.shown.number
        return (await self._loader.read_of(stream, lambda reader: reader.texts(stream.id, [number]))).get(number)

    async def series(self, name: str) -> dict[str, Any]:
        """Return a stream's history in a few hundred points, and how often which score was chosen."""
        stream = await self._loader.fresh(name)
        return {"points": stream.series.points(), "chosen": dataclasses.asdict(stream.series.chosen)}

    async def export(self, name: str, form: str) -> AsyncIterator[str]:
        """Yield a stream's log as text, page by page."""
        stream = await self._loader.stream(name)
        extent = await self._loader.read_of(stream, lambda reader: export_extent(reader, name))
        after: int | None = 0
        while after is not None:
            page = functools.partial(export_page, extent=extent, after=after, form=form)
            text, after = await self._loader.read_of(stream, page)
            yield text

    async def labels(self, name: str, form: str) -> AsyncIterator[str]:
        """Yield the labels as lines of CSV or of JSON, page by page."""
        stream = await self._loader.fresh(name)
        last, after = stream.number, 0
        following: int | None = 0
        while following is not None:
            page = functools.partial(labels_page, stream_id=stream.id, after=after, last=last)
            rows, following = await self._loader.read_of(stream, page)
            yield labels_text(rows, form, header=after == 0)
            after = following or after

    async def classes(self, name: str) -> tuple[ClassCounts, list[tuple[str, int]]]:
        """Return how lists did for each class, and who answered, where that is recorded.

        Counts are kept for as long as the stream is in memory, so only the answers since the last request are read.
        """
        stream = await self._loader.fresh(name)
        new = ClassCounts(), asyncio.Lock()
        counts, lock = self._classes.setdefault(stream, new)

        def read(reader: Reader) -> tuple[list[LogEntry], dict[Any, str | None]]:
            entries = reader.page(stream.id, counts.number, _ANSWERS, kinds=ClassCounts.KINDS)
            new = counts.new_labels(entries)
            return entries, texts_of_labels(reader, stream.id, new) if new else {}

        async with lock:
            while (part := await self._loader.read_of(stream, read))[0]:  # in parts: others want to read, too
                counts.texts |= part[1]
                for entry in part[0]:
                    counts.take(entry)
        return counts, await self._loader.read_of(stream, lambda reader: reader.signers(stream.id))
