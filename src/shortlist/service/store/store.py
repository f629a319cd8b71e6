"""Writing the log, and opening it for reading.

A `Store` has one connection that writes and one that reads, each used from one thread. Writing goes
in three steps: `begin` takes the streams' locks and says what is new, `append` adds events and
commits, `rollback` gives up. An error is raised as `StoreUnavailable`, and nothing was stored then,
except where the connection broke in the middle of a commit: `begin` tells the next time.
"""

import contextlib
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from shortlist._files import replace_file
from shortlist.errors import DamagedLog, InvalidParameter, StoreUnavailable, UnwritableFile
from shortlist.rounds.codec import to_json
from shortlist.rounds.events import kind_of
from shortlist.service.store import database
from shortlist.service.store.event_bodies import body_of
from shortlist.service.store.file import DatabaseFile
from shortlist.service.store.item_queue import Queue
from shortlist.service.store.reader import Reader, events_where, rounds_of, stream_named, texts_of
from shortlist.service.store.rows import AnswerAuthor, Correction, LogEntry, Snapshot, StreamRow, Text, View
from shortlist.service.store.tables import (
    annotators,
    corrections,
    events,
    heartbeat,
    items,
    leases,
    snapshots,
    streams,
    texts,
)

__all__ = ["MOST_TAIL", "Store"]

#: How many events are folded at once while others wait: some 50 milliseconds.
MOST_TAIL: Final = 2_000
#: What every batch says.
_NEW: Final = events.insert()
_GROWN: Final = streams.update().where(streams.c.id == sa.bindparam("of")).values(last_number=sa.bindparam("last"))


class Store:
    """The log at an address. See the module's docstring."""

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self._stack = ExitStack()
        self.shown_address = database.shown_address(address)
        if not read_only:
            self._stack.enter_context(database.only_writer(address))
        try:
            path = None if read_only else database.sqlite_path(address)
            self._file = None if path is None else DatabaseFile(path)
            self._reading = database.make_engine(address, read_only=True)
            self._stack.callback(self._reading.dispose)
            self._writing = None if read_only else database.make_engine(address)
            if self._writing is None:
                database.check_schema(self._reading)
            else:
                self._stack.callback(self._writing.dispose)
                if self._file is not None:
                    for change in ("connect", "close"):
                        sa.event.listen(self._writing, change, self._file.reconnected)
                database.migrate(self._writing)
                self.check_file()
            #: Whether other processes may write to the same database.
            self.shared = self._reading.dialect.name == "postgresql"
        except BaseException:
            self._stack.close()
            raise
        self._connection: sa.Connection | None = None
        # Commits since something was erased that SQLite's journal still has; 0 if there is nothing.
        self._unclean = 0

    @property
    def queue(self) -> Queue:
        """What waits to become rounds, and who holds which: in the transaction that is open, or in a new one."""
        return Queue(self)

    def close(self) -> None:
        """Let go of the database."""
        self.rollback()
        self._stack.close()

    def check_file(self) -> None:
        """Raise if a SQLite database's file is no longer the one that was opened: what is written to it is lost."""
        if self._file is not None:
            self._file.check()

    # What is written, from the one thread that writes.

    def begin(self, folded: dict[int, int], keys: Collection[tuple[int, str]], patient: bool = True) -> View:
        """Lock streams, and return their events after those folded, and the events of some rounds.

        Streams that others hold are waited for a moment, if one is `patient`.
        """
        with self.transaction() as connection:
            try:
                numbers = self.lock(connection, folded, patient=patient)
            except sa.exc.DBAPIError as error:
                if not database.is_held(error):
                    raise
                self.rollback()
                return View(busy=self._held(folded))
            far = {stream_id for stream_id, number in numbers.items() if number - folded[stream_id] > MOST_TAIL}
            if far:
                self.rollback()
                return View(busy=far, far=far)
            tails, rounds, damaged = {}, list[LogEntry](), dict[int, DamagedLog]()
            for stream_id, number in numbers.items():
                if number > folded[stream_id]:
                    with _contained(damaged, stream_id):
                        mine = events.c.stream_id == stream_id, events.c.number > folded[stream_id]
                        tails[stream_id] = events_where(connection, *mine)
            for stream_id in {stream_id for stream_id, _ in keys}:
                with _contained(damaged, stream_id):
                    rounds += rounds_of(connection, stream_id, [name for of, name in keys if of == stream_id])
            return View(tails, set(folded) - set(numbers), rounds, damaged)

    def texts(self, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], Text]:
        """Return question, texts and image of rounds by stream and number, where they are not erased."""
        rows = dict[tuple[int, int], Text]()
        with self.transaction() as connection:
            for stream_id in {stream_id for stream_id, _ in keys}:
                numbers = [number for of, number in keys if of == stream_id]
                rows |= {(stream_id, text.number): text for text in texts_of(connection, stream_id, numbers)}
        return rows

    def append(
        self,
        new: Sequence[LogEntry],
        written: Sequence[Text] = (),
        signed: Sequence[AnswerAuthor] = (),
    ) -> None:
        """Add events, their texts, and who answered, and commit: when this returns, all of it is on disk."""
        with self.transaction() as connection:
            if not new:
                self.commit()
                return
            connection.execute(_NEW, [_entry_row(entry) for entry in new])
            if written:
                connection.execute(texts.insert(), [_text_row(text) for text in written])
            if signed:
                connection.execute(annotators.insert(), [each._asdict() for each in signed])
            last = {entry.stream_id: entry.number for entry in new}
            connection.execute(_GROWN, [{"of": of, "last": number} for of, number in last.items()])
            self.commit()

    def lock(self, connection: sa.Connection, ids: Collection[int], *, patient: bool = True) -> dict[int, int]:
        """Lock streams, and return the number of the last event of each."""
        if not ids:
            return {}
        query = sa.select(streams.c.id, streams.c.last_number).where(streams.c.id.in_(sorted(ids)))
        rows = connection.execute(query.order_by(streams.c.id).with_for_update(nowait=not patient)).all()
        return {row.id: row.last_number for row in rows}

    def _held(self, ids: Collection[int]) -> set[int]:
        """Return which of these streams others hold at the moment."""
        with self.transaction() as connection:
            query = sa.select(streams.c.id).where(streams.c.id.in_(sorted(ids)))
            free = connection.execute(query.with_for_update(skip_locked=True)).scalars().all()
            held = set(connection.execute(query).scalars().all()) - set(free)
            self.rollback()
            return held or set(ids)  # released in the meantime: all are tried again

    def create_stream(self, name: str, settings: dict[str, Any], at: float) -> tuple[StreamRow, bool]:
        """Return the stream of that name, and whether it is new."""
        with self.transaction() as connection:
            row = stream_named(connection, name)
            if row is not None:
                self.rollback()
                return row, False
            values = {"name": name, "settings": to_json(settings), "created": at, "last_number": 0}
            try:
                connection.execute(streams.insert().values(values))
                self.commit()
            except sa.exc.IntegrityError:  # another process was faster
                self.rollback()
                created = False
            else:
                created = True
        with self.transaction() as connection:
            row = stream_named(connection, name)
            self.rollback()
        if row is None:  # and deleted it again
            raise StoreUnavailable(f"stream {name} was made and deleted at the same time: try again")
        return row, created

    def delete_stream(self, stream_id: int) -> None:
        """Erase a stream with its log, its snapshots and its texts."""
        with self.transaction() as connection:
            connection.execute(sa.select(streams.c.id).where(streams.c.id == stream_id).with_for_update())
            for table in (leases, items, corrections, annotators, texts, snapshots, events):
                connection.execute(table.delete().where(table.c.stream_id == stream_id))
            connection.execute(streams.delete().where(streams.c.id == stream_id))
            self.commit()
        self.empty_journal()

    def erase_texts(self, stream_id: int, before: float) -> int:
        """Erase texts of rounds shown before a moment, and who answered before it; return of how many rounds."""
        with self.transaction() as connection:
            erased = dict[str, int]()
            for table in (texts, annotators):
                mine = events.c.stream_id == stream_id, events.c.number == table.c.number, events.c.at < before
                old = sa.select(events.c.number).where(*mine).exists()
                erased[table.name] = connection.execute(
                    table.delete().where(table.c.stream_id == stream_id, old)
                ).rowcount
            mine = events.c.stream_id == stream_id, events.c.round_id == corrections.c.round_id, events.c.at < before
            old = sa.select(events.c.number).where(*mine).exists()
            words = corrections.update().where(corrections.c.stream_id == stream_id, old)
            connection.execute(words.values(note=to_json(None), reviewer=to_json(None)))
            self.commit()
        self.empty_journal()
        return erased["texts"]

    def correct(self, correction: Correction) -> bool:
        """Keep a label that a lead has set, in the place of an earlier one; return whether its stream is there."""
        row = correction._asdict() | {name: to_json(getattr(correction, name)) for name in _AS_JSON}
        with self.transaction() as connection:
            if not self.lock(connection, [correction.stream_id]):
                self.rollback()
                return False
            mine = corrections.c.stream_id == correction.stream_id, corrections.c.round_id == correction.round_id
            connection.execute(corrections.delete().where(*mine))
            connection.execute(corrections.insert().values(row))
            self.commit()
        return True

    def beat(self, at: float) -> None:
        """Write a row without meaning, to see whether the database takes writes."""
        with self.transaction() as connection:
            if not connection.execute(heartbeat.update().values(at=at)).rowcount:
                connection.execute(heartbeat.insert().values(id=1, at=at))
            self.commit()

    def backup(self, path: Path) -> None:
        """Copy a SQLite database, as it is at one moment, while others write to it."""
        if self.shared:
            raise InvalidParameter("a PostgreSQL database is backed up with its own tool: pg_dump --format=custom")
        if path.exists():
            raise InvalidParameter(f"{path} already exists; name a new file")
        plain = self._reading.raw_connection()

        def copy_to(part: Path) -> None:
            with contextlib.closing(sqlite3.connect(part)) as copy:
                plain.driver_connection.backup(copy)  # type: ignore[union-attr]
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, complete in itself

        try:
            replace_file(path, copy_to, mode=0o600)
        except (OSError, sqlite3.Error) as error:
            raise UnwritableFile(f"{path} cannot be written: {error}") from None
        finally:
            plain.close()

    def empty_journal(self) -> None:
        """Let what was overwritten reach SQLite's file, and leave its journal."""
        if self.shared:
            return
        self._unclean = 1
        assert self._writing is not None  # noqa: S101 - for the type checker
        plain = self._writing.raw_connection()
        try:
            cursor = plain.cursor()
            cursor.execute("PRAGMA busy_timeout = 100")  # a reader holds the journal for as long as it reads
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy, *_ = cursor.fetchone() or (1,)
            self._unclean = int(busy)
            cursor.execute(f"PRAGMA busy_timeout = {database.BUSY_TIMEOUT}")
        except sqlite3.Error:
            plain.invalidate()
        finally:
            plain.close()

    def save_snapshot(self, stream_id: int, snapshot: Snapshot, *, keep: int = 2) -> None:
        """Keep a snapshot, and of the older ones all but the last; none of a stream that is gone."""
        with self.transaction() as connection:
            mine = snapshots.c.stream_id == stream_id
            connection.execute(snapshots.delete().where(mine, snapshots.c.number == snapshot.number))
            try:
                connection.execute(snapshots.insert().values(stream_id=stream_id, **snapshot._asdict()))
            except sa.exc.IntegrityError:  # another process was faster, or has deleted the stream
                self.rollback()
                return
            kept = sa.select(snapshots.c.number).where(mine).order_by(snapshots.c.number.desc()).limit(keep)
            numbers = connection.execute(kept).scalars().all()
            connection.execute(snapshots.delete().where(mine, snapshots.c.number < min(numbers)))
            self.commit()

    def rollback(self) -> None:
        """Give up what was begun, if anything was."""
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except sa.exc.DBAPIError:
                connection.invalidate()

    def release(self) -> None:
        """Give up what was begun because there is nothing to write; raise if what was read is not on disk any more."""
        self.rollback()
        self.check_file()

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """Return the writing connection, in a new transaction or the one that was begun; a failure gives it up."""
        assert self._writing is not None  # noqa: S101 - a store that was opened for reading is never handed on
        try:
            if self._connection is None:
                if self._file is not None and self._file.is_lost:  # what is committed is looked at
                    self._file.check()
                self._connection = self._writing.connect()
                self._connection.begin()
            yield self._connection
        except BaseException as error:
            self.rollback()
            if isinstance(error, (sa.exc.DBAPIError, UnicodeDecodeError)):
                raise database.refusal_of(error) from error
            raise

    def commit(self) -> None:
        """Make what was written in this transaction durable, and end it."""
        assert self._connection is not None  # noqa: S101 - for the type checker
        self._connection.commit()
        self.rollback()
        if self._file is not None:
            self._file.check()  # what is acknowledged as on disk must be there
        if self._unclean:
            self._unclean += 1
            if self._unclean % 100 == 0:
                self.empty_journal()

    # What is read, from the one thread that reads.

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Return a view of the database that does not change while it is read."""
        with database.translated(), self._reading.connect() as connection, connection.begin():
            yield Reader(connection)


#: Of a correction, what is stored as JSON.
_AS_JSON: Final = ("label", "note", "reviewer")


@contextmanager
def _contained(damaged: dict[int, DamagedLog], stream_id: int) -> Iterator[None]:
    """Note that a stream's log cannot be read, and go on with the others."""
    try:
        yield
    except DamagedLog as error:
        damaged[stream_id] = error


def _entry_row(entry: LogEntry) -> dict[str, Any]:
    event = entry.event
    return {
        "stream_id": entry.stream_id,
        "number": entry.number,
        "phase": 0 if entry.is_list else 1 if entry.is_answer else None,
        "kind": kind_of(event),
        "round_id": entry.round_id or None,
        "at": entry.at,
        "body": body_of(event),
    }


def _text_row(text: Text) -> dict[str, Any]:
    # As JSON, for PostgreSQL takes no zero character in a text.
    return text._asdict() | {name: to_json(getattr(text, name)) for name in ("question", "texts", "image")}
