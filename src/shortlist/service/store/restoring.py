"""Replacing a SQLite database with a backup.

Copying a file over a database is not enough: the journal of the old one (``-wal``) would be replayed into the new one,
and destroy it. Here the backup is copied next to the database and checked there; the old database takes in its own
journal and is kept under another name; and one renaming puts the copy in its place. Whenever this is interrupted, one
of the two is there, whole.
"""

import contextlib
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shortlist._files import sync_file, sync_folder
from shortlist.errors import (
    DamagedFile,
    DamagedLog,
    DatabaseInUse,
    InvalidParameter,
    MissingFile,
    StoreUnavailable,
    UnwritableFile,
)
from shortlist.service.store import database
from shortlist.service.store.file import COMPANIONS
from shortlist.service.store.reader import Reader
from shortlist.service.store.rows import StreamRow
from shortlist.service.store.store import Store

__all__ = ["Restored", "restore"]


class Restored(NamedTuple):
    """What was put in place."""

    #: How many streams and events the backup has, and the time of its last event.
    streams: int
    events: int
    last_at: float | None
    #: Where the database that was there is kept; None if there was none.
    kept: Path | None


def restore(address: str, backup: Path) -> Restored:
    """Check a backup, and put a copy of it in the place of a database that no service has open."""
    path = database.sqlite_path(address)
    if path is None:
        raise InvalidParameter("a PostgreSQL database is restored with its own tool: pg_restore")
    if not backup.is_file():
        raise MissingFile(f"{backup} does not exist, or is not a file: name the file that `shortlist backup` made")
    target = Path(os.path.realpath(path))
    if target.exists() and target.samefile(backup):
        raise InvalidParameter(f"{backup} is the database itself: name a backup of it")
    with database.only_writer(address), _cleared(target) as copy:
        try:
            _copy(backup, copy)
            streams, events, last_at = _checked(backup, copy)
            _give_to_owner(copy, target)
            kept = _keep(target)
            copy.replace(target)
            sync_folder(target.parent)
        except OSError as error:
            raise UnwritableFile(f"{target} cannot be restored: {error}; it is as it was") from None
    return Restored(streams, events, last_at, kept)


@contextlib.contextmanager
def _cleared(target: Path) -> Iterator[Path]:
    """Return a name next to a file; nothing of it is left behind."""
    copy = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield copy
    finally:
        for end in ("", ".lock", *COMPANIONS):
            Path(f"{copy}{end}").unlink(missing_ok=True)


def _copy(backup: Path, copy: Path) -> None:
    """Copy a backup, with a journal that may lie next to it, for its owner alone. It is not opened, nor changed."""
    for end in ("", "-wal", "-journal"):
        part, name = Path(f"{backup}{end}"), f"{copy}{end}"
        if part.exists():
            with (
                part.open("rb") as source,
                os.fdopen(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file,
            ):
                shutil.copyfileobj(source, file, 2**20)


def _checked(backup: Path, copy: Path) -> tuple[int, int, float | None]:
    """Bring the copy up to this version's schema, and look for damage; return how much is in it, and how new it is."""
    with contextlib.closing(sqlite3.connect(copy)) as plain:
        try:
            is_ours = plain.execute("SELECT count(*) FROM sqlite_master WHERE name = 'alembic_version'").fetchone()[0]
        except sqlite3.Error as error:
            raise DamagedFile(f"{backup} cannot be restored: {error}; take another backup") from None
    if not is_ours:
        raise DamagedFile(f"{backup} cannot be restored: it is no database of shortlist; name another file")
    try:
        store = Store(f"sqlite:///{copy}")
        with contextlib.closing(store), store.reading() as reader:
            problems, rows = reader.integrity(), reader.streams()
            problems += [problem for row in rows for problem in _unreadable(reader, row)]
            times = [entry.at for row in rows for entry in reader.page(row.id, row.last_number - 1, 1)]
    except (StoreUnavailable, DamagedLog) as error:
        why = getattr(error.__cause__, "orig", error)
        raise DamagedFile(f"{backup} cannot be restored: {why}; take another backup") from None
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise DamagedFile(f"{backup} is damaged: {problems[0]}{more}; take another backup")
    with contextlib.closing(sqlite3.connect(copy)) as plain:
        plain.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, complete in itself
    sync_file(copy)
    return len(rows), sum(row.last_number for row in rows), max(times, default=None)


def _unreadable(reader: Reader, row: StreamRow) -> Iterator[str]:
    """Yield what is missing of a stream's log; raise if something in it, or of its texts, cannot be read."""
    count = sum(1 for _ in reader.events(row.id))
    if count != row.last_number:
        yield f"stream {row.name} has {count} of its {row.last_number} events"
    reader.texts(row.id, reader.text_numbers(row.id))


def _keep(target: Path) -> Path | None:
    """Keep the database that is there under another name, with all that is in its journal."""
    kept = target.with_name(f"{target.name}.before-restore-{time.strftime('%Y%m%d-%H%M%S')}")
    while kept.exists():
        kept = kept.with_name(f"{kept.name}x")
    exists = target.exists()
    if exists:
        _take_in_journal(target)
    for end in COMPANIONS:  # of one that is gone or cannot be opened: they may not meet the one that comes
        with contextlib.suppress(FileNotFoundError):
            Path(f"{target}{end}").rename(f"{kept}{end}")
    if exists:
        try:
            os.link(target, kept)
        except OSError:  # not on every file system
            shutil.copy2(target, kept)
            sync_file(kept)
    sync_folder(target.parent)
    return kept if exists else None


def _take_in_journal(target: Path) -> None:
    """Let a database take in its journal: then it is one file. One that is damaged stays as it is."""
    with contextlib.closing(sqlite3.connect(target, timeout=1.0)) as plain, contextlib.suppress(sqlite3.DatabaseError):
        try:
            plain.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            raise DatabaseInUse(f"{target} is open in another program: end that, and restore again") from None


def _give_to_owner(copy: Path, target: Path) -> None:
    """Let the file belong to whom the old one did: a service may run as another user than who restores."""
    with contextlib.suppress(OSError, AttributeError):
        owner = target.stat()
        os.chown(copy, owner.st_uid, owner.st_gid)
