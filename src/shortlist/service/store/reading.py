"""Reading the log: the database at one moment."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa

from shortlist.errors import DamagedLog
from shortlist.rounds.codec import from_json
from shortlist.rounds.events import EVENTS, LISTED, Listed
from shortlist.service.store.rows import Entry, Snapshot, StreamRow, Text
from shortlist.service.store.tables import events, snapshots, streams, texts

__all__ = ["Reader", "events_where", "rounds_of", "stream_named"]

#: How many keys go into one query.
_CHUNK: Final = 200
_NUMBER: Final = {float, int}
_NUMBER_OR_NULL: Final = {*_NUMBER, type(None)}
_ENTRY: Final = (events.c.stream_id, events.c.number, events.c.kind, events.c.round_id, events.c.at, events.c.body)


class Reader:
    """The database at one moment."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def streams(self, after: str = "", limit: int | None = None) -> list[StreamRow]:
        """Return streams by name."""
        query = sa.select(streams).where(streams.c.name > after).order_by(streams.c.name).limit(limit)
        rows = self._connection.execute(query)
        return [_stream_row(row) for row in rows]

    def stream(self, name: str) -> StreamRow | None:
        """Return the stream of that name, if there is one."""
        return stream_named(self._connection, name)

    def snapshots(self, stream_id: int) -> list[Snapshot]:
        """Return a stream's snapshots, the newest first."""
        rows = self._connection.execute(
            sa.select(snapshots.c.number, snapshots.c.version, snapshots.c.state)
            .where(snapshots.c.stream_id == stream_id)
            .order_by(snapshots.c.number.desc())
        )
        return [Snapshot(*row) for row in rows]

    def events(self, stream_id: int, after: int = 0, *, kind: str | None = None) -> Iterator[Entry]:
        """Yield a stream's events in their order, without holding them all."""
        while page := self.page(stream_id, after, 1000, kind=kind):
            yield from page
            after = page[-1].number

    def page(
        self, stream_id: int, after: int, limit: int, *, kind: str | None = None, newest: bool = False
    ) -> list[Entry]:
        """Return up to `limit` events after a number, the newest of them first if that is wanted."""
        mine = [events.c.stream_id == stream_id, events.c.number > after]
        if kind is not None:
            mine.append(events.c.kind == kind)
        return events_where(self._connection, *mine, limit=limit, newest=newest)

    def count_shown(self, stream_id: int, after: int, before: int) -> int:
        """Return how many lists were shown between two events."""
        between = events.c.number.between(after + 1, before - 1)
        query = sa.select(sa.func.count()).where(events.c.stream_id == stream_id, events.c.kind == LISTED, between)
        return int(self._connection.execute(query).scalar_one())

    def rounds(self, stream_id: int, round_ids: Iterable[str]) -> list[Entry]:
        """Return the events of some rounds."""
        return rounds_of(self._connection, stream_id, list(round_ids))

    def texts(self, stream_id: int, numbers: Sequence[int]) -> dict[int, Text]:
        """Return what people read in some rounds, by the number of their first event."""
        found = {}
        for chunk in _chunks(numbers):
            query = sa.select(texts).where(texts.c.stream_id == stream_id, texts.c.number.in_(chunk))
            for row in self._connection.execute(query).all():
                found[row.number] = Text(row.stream_id, row.number, json.loads(row.question), json.loads(row.texts))
        return found


def stream_named(connection: sa.Connection, name: str) -> StreamRow | None:
    """Return the stream of that name, if there is one."""
    row = connection.execute(sa.select(streams).where(streams.c.name == name)).one_or_none()
    return None if row is None else _stream_row(row)


def _stream_row(row: Any) -> StreamRow:
    try:
        settings = json.loads(row.settings)
    except ValueError:
        settings = {}  # whoever needs them says that the stream is damaged; others list or delete it
    return StreamRow(row.id, row.name, settings, row.created, row.last_number)


def events_where(
    connection: sa.Connection, *where: sa.ColumnElement[bool], limit: int | None = None, newest: bool = False
) -> list[Entry]:
    """Return events in their order, or the newest first."""
    order = events.c.number.desc() if newest else events.c.number
    query = sa.select(*_ENTRY).where(*where).order_by(events.c.stream_id, order).limit(limit)
    # All rows are fetched before any is read: a cursor left open by a damaged one would hold SQLite's view of the past.
    return [_entry(row) for row in connection.execute(query).all()]


def _entry(row: Any) -> Entry:
    stream_id, number, kind, round_id, at, body = row
    try:
        entry = Entry(stream_id, number, at, from_json(EVENTS[kind], body))
        _check(entry, round_id)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedLog(f"event {number} cannot be read: {type(error).__name__}: {error}") from None
    return entry


def _check(entry: Entry, round_id: str | None) -> None:
    """Refuse an event whose fields do not fit together: whoever answers its round later must not stumble over it."""
    if entry.round_id != (round_id or ""):
        raise ValueError(f"it is stored as one of round {round_id}, and is of {entry.round_id}")
    listed = entry.event
    if type(listed) is not Listed:
        return
    count, shown = len(listed.scores), len(listed.positions)
    if (
        len(listed.ids or ()) != count
        or not _is_table(listed.scores, len(listed.scorers or ("",)))
        or min(listed.positions, default=0) < 0
        or max(listed.positions, default=-1) >= count
        or len(listed.positions if listed.comparable is None else listed.comparable) != shown
        or (listed.seen is not None and not set(listed.seen.positions) <= set(range(count)))
    ):
        raise ValueError("its ids, scores and positions do not fit together")


def _is_table(rows: Iterable[Any], scorers: int) -> bool:
    """Return whether there is a number for each candidate, or for several scorers a row of so many, null if missing."""
    if scorers == 1:
        return set(map(type, rows)) <= _NUMBER
    return all(
        type(row) is list
        and len(row) == scorers
        and set(map(type, row)) <= _NUMBER_OR_NULL
        and row.count(None) < scorers
        for row in rows
    )


def rounds_of(connection: sa.Connection, stream_id: int, round_ids: list[str]) -> list[Entry]:
    """Return the events of some rounds, by number."""
    found = []
    for chunk in _chunks(round_ids):
        # Without ORDER BY, and stream by stream: else SQLite scans the whole stream rather than use the index.
        query = sa.select(*_ENTRY).where(events.c.stream_id == stream_id, events.c.round_id.in_(chunk))
        found += [_entry(row) for row in connection.execute(query).all()]
    return sorted(found, key=lambda entry: entry.number)


def _chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]
