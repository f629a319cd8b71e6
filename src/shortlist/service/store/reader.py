"""Reading the log: the database at one moment."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa

from shortlist.errors import DamagedLog, StoreUnavailable
from shortlist.rounds.events import LISTED
from shortlist.service.store.database import translated
from shortlist.service.store.event_bodies import event_of
from shortlist.service.store.item_queue import queue_counts
from shortlist.service.store.rows import Correction, LogEntry, QueueCounts, Snapshot, StreamRow, Text
from shortlist.service.store.tables import altered_tables, annotators, corrections, events, snapshots, streams, texts

__all__ = ["Reader", "events_where", "rounds_of", "stream_named", "texts_of"]

#: How many keys go into one query.
_CHUNK: Final = 200
#: How many events are looked at first to see how large they are, and how many characters of them are read at a time.
_FIRST: Final = 8
_PART: Final = 1_000_000
_ENTRY: Final = (events.c.stream_id, events.c.number, events.c.kind, events.c.round_id, events.c.at, events.c.body)


class Reader:
    """The database at one moment."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def streams(self, after: str = "", limit: int | None = None) -> list[StreamRow]:
        """Return streams by name."""
        query = sa.select(streams).where(streams.c.name > after).order_by(streams.c.name).limit(limit)
        return [_stream_row(row) for row in _rows(self._connection, query)]

    def stream(self, name: str) -> StreamRow | None:
        """Return the stream of that name, if there is one."""
        return stream_named(self._connection, name)

    def snapshots(self, stream_id: int) -> list[Snapshot]:
        """Return a stream's snapshots, the newest first."""
        query = (
            sa.select(snapshots.c.number, snapshots.c.version, snapshots.c.state)
            .where(snapshots.c.stream_id == stream_id)
            .order_by(snapshots.c.number.desc())
        )
        return [Snapshot(*row) for row in _rows(self._connection, query)]

    def behind(self, row: StreamRow, version: int) -> int:
        """Return how many events of a stream came after its last snapshot of this version."""
        mine = snapshots.c.stream_id == row.id, snapshots.c.version == version, snapshots.c.number <= row.last_number
        last = _rows(self._connection, sa.select(sa.func.max(snapshots.c.number)).where(*mine))[0][0]
        return row.last_number - int(last or 0)

    def integrity(self) -> list[str]:
        """Return what the database itself finds wrong with its file; PostgreSQL looks at its pages when it reads."""
        if self._connection.dialect.name != "sqlite":
            return []
        try:
            problems = [row[0] for row in _rows(self._connection, sa.text("PRAGMA integrity_check(20)"))]
            foreign = _rows(self._connection, sa.text("PRAGMA foreign_key_check"))
            with translated():
                altered = altered_tables(self._connection)
        except StoreUnavailable as error:
            return [str(getattr(error.__cause__, "orig", error))]
        lines = [line for problem in problems if problem != "ok" for line in str(problem).splitlines()]
        lines += [f"row {row[1]} of {row[0]} belongs to no row of {row[2]}" for row in foreign[:20]]
        return lines + [f"the table {name} is not as shortlist makes it" for name in altered]

    def events(self, stream_id: int, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[LogEntry]:
        """Yield a stream's events in their order, without holding them all."""
        while numbers := self.numbers(stream_id, after, 1000, kinds=kinds):
            after = numbers[-1]
            while numbers:
                part = self.fitting(stream_id, numbers, _PART)
                yield from self.numbered(stream_id, part)
                numbers = numbers[len(part) :]

    def page(self, stream_id: int, after: int, limit: int, *, kinds: Sequence[str] = ()) -> list[LogEntry]:
        """Return up to `limit` events after a number; fewer where these are large, but one if there is one."""
        numbers = self.numbers(stream_id, after, limit, kinds=kinds)
        return self.numbered(stream_id, self.fitting(stream_id, numbers, _PART))

    def numbers(
        self,
        stream_id: int,
        after: int,
        limit: int,
        *,
        before: int | None = None,
        kinds: Sequence[str] = (),
        newest: bool = False,
    ) -> list[int]:
        """Return the numbers of up to `limit` events between two, of some kinds, the newest first if that is wanted."""
        mine = [events.c.stream_id == stream_id, events.c.number > after]
        if before is not None:
            mine.append(events.c.number < before)
        if kinds:
            mine.append(events.c.kind.in_(kinds))
        order = events.c.number.desc() if newest else events.c.number
        query = sa.select(events.c.number).where(*mine).order_by(order).limit(limit)
        return [row[0] for row in _rows(self._connection, query)]

    def fitting(self, stream_id: int, numbers: Sequence[int], size: int) -> list[int]:
        """Return the first of these events: those that have `size` characters together, with their texts, or one."""
        of = (texts.c.stream_id == events.c.stream_id) & (texts.c.number == events.c.number)
        text_length = sa.func.coalesce(sa.func.length(texts.c.texts) + sa.func.length(texts.c.question), 0)
        query = sa.select(events.c.number, sa.func.length(events.c.body) + text_length).select_from(
            events.outerjoin(texts, of)
        )
        start, count, left = 0, _FIRST, size
        while start < len(numbers):
            chunk = numbers[start : start + count]
            mine = events.c.stream_id == stream_id, events.c.number.in_(chunk)
            sizes = {row[0]: row[1] for row in _rows(self._connection, query.where(*mine))}
            for position, number in enumerate(chunk, start):
                left -= sizes.get(number, 0)
                if left < 0:
                    return list(numbers[: max(1, position)])
            start, count = start + count, min(2 * count, _CHUNK)
        return list(numbers)

    def numbered(self, stream_id: int, numbers: Sequence[int]) -> list[LogEntry]:
        """Return the events of these numbers, in this order."""
        entries = dict[int, LogEntry]()
        for chunk in _chunks(numbers):
            mine = events.c.stream_id == stream_id, events.c.number.in_(chunk)
            entries |= {entry.number: entry for entry in events_where(self._connection, *mine)}
        return [entries[number] for number in numbers if number in entries]

    def shown_before(self, stream_id: int, numbers: Sequence[int], moment: float) -> list[str]:
        """Return the rounds of those of these events that are older than a moment."""
        names = list[str]()
        for chunk in _chunks(numbers):
            mine = events.c.stream_id == stream_id, events.c.number.in_(chunk), events.c.at < moment
            query = sa.select(events.c.round_id).where(*mine).order_by(events.c.number)
            names += [row[0] for row in _rows(self._connection, query)]
        return names

    def list_sizes(self, stream_id: int, round_ids: Sequence[str]) -> dict[str, int]:
        """Return how many characters the lists of some rounds take, as far as they exist."""
        sizes = dict[str, int]()
        for chunk in _chunks(round_ids):
            mine = events.c.stream_id == stream_id, events.c.round_id.in_(chunk), events.c.kind == LISTED
            query = sa.select(events.c.round_id, sa.func.length(events.c.body)).where(*mine)
            sizes |= {row[0]: row[1] for row in _rows(self._connection, query)}
        return sizes

    def count_shown(self, stream_id: int, after: int, before: int) -> int:
        """Return how many lists were shown between two events."""
        between = events.c.number.between(after + 1, before - 1)
        query = sa.select(sa.func.count()).where(events.c.stream_id == stream_id, events.c.kind == LISTED, between)
        return int(_rows(self._connection, query)[0][0])

    def rounds(self, stream_id: int, round_ids: Iterable[str], *, lists: bool = True) -> list[LogEntry]:
        """Return the events of some rounds, with their lists or without."""
        return rounds_of(self._connection, stream_id, list(round_ids), lists=lists)

    def texts(self, stream_id: int, numbers: Sequence[int]) -> dict[int, Text]:
        """Return question, texts and image of some rounds, by the number of their first event."""
        return {text.number: text for text in texts_of(self._connection, stream_id, numbers)}

    def text_numbers(self, stream_id: int) -> list[int]:
        """Return the numbers of the events that have a question, texts or an image."""
        query = sa.select(texts.c.number).where(texts.c.stream_id == stream_id).order_by(texts.c.number)
        return [row.number for row in _rows(self._connection, query)]

    def queue(self, stream_id: int) -> QueueCounts:
        """Return what waits to become rounds, and who holds which round."""
        with translated():
            return queue_counts(self._connection, stream_id)

    def annotators(self, stream_id: int, numbers: Sequence[int]) -> dict[int, str]:
        """Return who gave some answers, by the numbers of their events, as far as that is recorded."""
        names = dict[int, str]()
        for chunk in _chunks(numbers):
            mine = annotators.c.stream_id == stream_id, annotators.c.number.in_(chunk)
            query = sa.select(annotators.c.number, annotators.c.annotator).where(*mine)
            names |= {row.number: row.annotator for row in _rows(self._connection, query)}
        return names

    def corrections(self, stream_id: int, round_ids: Sequence[str]) -> dict[str, Correction]:
        """Return the labels that a lead has set, by round."""
        rows = dict[str, Correction]()
        for chunk in _chunks(round_ids):
            mine = corrections.c.stream_id == stream_id, corrections.c.round_id.in_(chunk)
            for row in _rows(self._connection, sa.select(corrections).where(*mine)):
                try:
                    label, note, reviewer = map(json.loads, (row.label, row.note, row.reviewer))
                    rows[row.round_id] = Correction(stream_id, row.round_id, label, note, reviewer, row.at)
                except (ValueError, TypeError) as error:
                    raise DamagedLog(f"the correction of round {row.round_id} cannot be read: {error}") from None
        return rows

    def signed(self, stream_id: int, annotator: str) -> int:
        """Return how many answers somebody gave, as far as that is recorded."""
        mine = annotators.c.stream_id == stream_id, annotators.c.annotator == annotator
        return int(_rows(self._connection, sa.select(sa.func.count()).select_from(annotators).where(*mine))[0][0])

    def signers(self, stream_id: int) -> list[tuple[str, int]]:
        """Return who gave answers, and how many each, the busiest first."""
        count = sa.func.count().label("count")
        query = sa.select(annotators.c.annotator, count).where(annotators.c.stream_id == stream_id)
        query = query.group_by(annotators.c.annotator).order_by(count.desc(), annotators.c.annotator)
        return [(row.annotator, row.count) for row in _rows(self._connection, query)]


def stream_named(connection: sa.Connection, name: str) -> StreamRow | None:
    """Return the stream of that name, if there is one."""
    rows = _rows(connection, sa.select(streams).where(streams.c.name == name))
    return _stream_row(rows[0]) if rows else None


def _stream_row(row: Any) -> StreamRow:
    try:
        settings = json.loads(row.settings)
    except ValueError:
        settings = {}  # loading the stream reports the damage; it can still be listed and deleted
    name = row.name.encode("utf-8", "replace").decode()  # what is no text can be neither sent nor printed
    return StreamRow(row.id, name, settings, row.created, row.last_number)


def texts_of(connection: sa.Connection, stream_id: int, numbers: Sequence[int]) -> Iterator[Text]:
    """Yield question, texts and image of rounds by the numbers of their first events, where they are not erased."""
    for chunk in _chunks(numbers):
        query = sa.select(texts).where(texts.c.stream_id == stream_id, texts.c.number.in_(chunk))
        for row in _rows(connection, query):
            try:
                yield Text(row.stream_id, row.number, *map(json.loads, (row.question, row.texts, row.image)))
            except (ValueError, TypeError) as error:
                raise DamagedLog(f"the texts of event {row.number} cannot be read: {error}") from None


def _rows(connection: sa.Connection, query: sa.Executable) -> Sequence[Any]:
    """Return all rows of a query: a cursor left open by a damaged one would hold SQLite's view of the past."""
    with translated():
        return connection.execute(query).all()


def events_where(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> list[LogEntry]:
    """Return events in their order."""
    query = sa.select(*_ENTRY).where(*where).order_by(events.c.stream_id, events.c.number)
    return [_entry(row) for row in _rows(connection, query)]


def _entry(row: Any) -> LogEntry:
    stream_id, number, kind, round_id, at, body = row
    try:
        return LogEntry(stream_id, number, at, event_of(kind, round_id, body))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedLog(f"event {number} cannot be read: {type(error).__name__}: {error}") from None


def rounds_of(connection: sa.Connection, stream_id: int, round_ids: list[str], *, lists: bool = True) -> list[LogEntry]:
    """Return the events of some rounds, by number, with their lists or without."""
    entries = []
    for chunk in _chunks(round_ids):
        # Without ORDER BY, and stream by stream: else SQLite scans the whole stream rather than use the index.
        query = sa.select(*_ENTRY).where(events.c.stream_id == stream_id, events.c.round_id.in_(chunk))
        if not lists:
            query = query.where(events.c.kind != LISTED)
        entries += [_entry(row) for row in _rows(connection, query)]
    return sorted(entries, key=lambda entry: entry.number)


def _chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]
