"""Putting a backup back: the old journal does not meet it, damage is refused, and what was there is kept."""

import contextlib
import os
import shutil
import sqlite3
import stat

import pytest

from shortlist.errors import (
    DamagedFile,
    DatabaseInUse,
    InvalidParameter,
    MissingFile,
    StoreUnavailable,
    UnwritableFile,
)
from shortlist.service.store import Store, Text
from shortlist.service.store.restoring import restore
from tests.service.store.entries import hit, listed
from tests.service.tampering import alter


def fill(store, row, numbers):
    """Show a list for each number."""
    for number in numbers:
        store.append([listed(row, number, f"r{number}", has_text=True)], [Text(row.id, number, "who", None, None)])


@pytest.fixture
def crashed(sqlite, tmp_path):
    """A database that was killed with a full journal, and a backup of it from before."""
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    fill(store, row, range(1, 6))
    reader = Store(sqlite, read_only=True)
    reader.backup(tmp_path / "copy.db")
    fill(store, row, range(6, 300))
    (tmp_path / "crashed").mkdir()
    for end in ("", "-wal"):  # what SIGKILL leaves
        shutil.copy(tmp_path / f"log.db{end}", tmp_path / "crashed" / f"log.db{end}")
    reader.close()
    store.close()
    return f"sqlite:///{tmp_path}/crashed/log.db", tmp_path / "copy.db"


def events(address):
    store = Store(address, read_only=True)
    with contextlib.closing(store), store.reading() as reader:
        (row,) = reader.streams()
        assert reader.integrity() == []
        return len(list(reader.events(row.id)))


def test_copying_a_backup_over_a_database_destroys_it(crashed):
    """What people do: the test of the next one's worth."""
    address, backup = crashed
    shutil.copy(backup, address.removeprefix("sqlite:///"))
    with pytest.raises(Exception, match=r"malformed|assert|event"):
        assert events(address) == 5


def test_a_backup_that_was_copied_over_a_database_is_not_opened(crashed, tmp_path):
    address, backup = crashed
    place = tmp_path / "crashed" / "log.db"
    assert events(address) == 299  # the pair that belongs together is; and its journal is then gone
    shutil.copy(backup, place)
    (tmp_path / "crashed" / "log.db-wal").write_bytes(b"of another" * 1000)
    with pytest.raises(StoreUnavailable, match=r"log\.db is a copy, and .*log\.db-wal is of the database .* restore"):
        Store(address)
    assert place.read_bytes() == backup.read_bytes()
    (tmp_path / "crashed" / "log.db-wal").unlink()
    Store(address).close()
    assert events(address) == 5


def test_a_backup_is_put_back_and_what_was_there_is_kept(crashed, tmp_path):
    address, backup = crashed
    before = backup.read_bytes()
    done = restore(address, backup)
    assert (done.streams, done.events, done.last_at) == (1, 5, 0.0)
    assert events(address) == 5
    assert events(f"sqlite:///{done.kept}") == 299  # with all that was in the journal
    assert backup.read_bytes() == before
    names = {path.name for path in (tmp_path / "crashed").iterdir()}
    assert names == {"log.db", "log.db.lock", done.kept.name}
    store = Store(address)
    with store.reading() as reader:
        row = reader.stream("a")
    store.append([hit(row, 6, "r1")])
    store.close()
    again = restore(address, done.kept)  # and back again
    assert (again.events, events(address), events(f"sqlite:///{again.kept}")) == (299, 299, 6)


def test_what_is_put_back_is_for_its_owner_alone(crashed, tmp_path):
    address, backup = crashed
    backup.chmod(0o644)
    before = os.umask(0)
    try:
        restore(address, backup)
    finally:
        os.umask(before)
    file = tmp_path / "crashed" / "log.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_database_that_is_in_use_is_left_alone(sqlite, crashed, tmp_path):
    _, backup = crashed
    store = Store(sqlite)
    with pytest.raises(DatabaseInUse, match="in use by another shortlist"):
        restore(sqlite, backup)
    store.close()
    reader = Store(sqlite, read_only=True)
    with reader.reading() as open_reader:
        open_reader.streams()
        with pytest.raises(DatabaseInUse, match="open in another program"):
            restore(sqlite, backup)
    reader.close()
    assert events(sqlite) == 299
    assert [path.name for path in tmp_path.iterdir() if "restore" in path.name or path.suffix == ".tmp"] == []
    assert restore(sqlite, backup).events == 5


def test_a_journal_whose_database_is_gone_does_not_meet_the_backup(crashed, tmp_path):
    address, backup = crashed
    (tmp_path / "crashed" / "log.db").unlink()
    assert restore(address, backup).kept is None
    assert events(address) == 5
    assert len(list((tmp_path / "crashed").glob("log.db.before-restore-*-wal"))) == 1  # kept, too


def test_a_database_that_cannot_be_opened_is_kept_too(crashed, tmp_path):
    address, backup = crashed
    for name in ("log.db", "log.db-wal"):
        (tmp_path / "crashed" / name).write_bytes(b"nonsense" * 1000)
    done = restore(address, backup)
    assert events(address) == 5
    assert done.kept.read_bytes() == b"nonsense" * 1000


def test_where_there_is_nothing_yet_and_from_a_copy_with_its_journal(crashed, tmp_path):
    """A snapshot of the file system has both."""
    address, _ = crashed
    new = f"sqlite:///{tmp_path}/new/folder/log.db"
    done = restore(new, tmp_path / "crashed" / "log.db")
    assert (done.events, done.kept, events(new)) == (299, None, 299)
    assert events(address) == 299


def cut(backup):
    backup.write_bytes(backup.read_bytes()[:-5000])


def scribble(backup):
    content = bytearray(backup.read_bytes())
    content[28_000:28_600] = bytes(600)
    backup.write_bytes(content)


def foreign(backup):
    backup.unlink()
    with contextlib.closing(sqlite3.connect(backup)) as other:
        other.execute("CREATE TABLE mine (x)")


DAMAGE = {
    "cut off": cut,
    "no database": lambda backup: backup.write_text("hello " * 1000),
    "empty": lambda backup: backup.write_bytes(b""),
    "somebody else's": foreign,
    "overwritten": scribble,
    "an event": lambda backup: alter(f"sqlite:///{backup}", "UPDATE events SET body = '{' WHERE number = 3"),
    "a question": lambda backup: alter(f"sqlite:///{backup}", "UPDATE texts SET question = '{' WHERE number = 3"),
    "an event that is missing": lambda backup: alter(f"sqlite:///{backup}", "DELETE FROM events WHERE number = 5"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_backup_is_refused_and_the_database_is_left_alone(crashed, name, tmp_path):
    address, backup = crashed
    DAMAGE[name](backup)
    before = {path.name: path.read_bytes() for path in (tmp_path / "crashed").iterdir()}
    with pytest.raises(DamagedFile, match=r"(is damaged|cannot be restored): .*; (take|name) another") as caught:
        restore(address, backup)
    assert "\n" not in str(caught.value)
    after = {path.name: path.read_bytes() for path in (tmp_path / "crashed").iterdir()}
    assert after == before | {"log.db.lock": b""}
    assert events(address) == 299


def test_what_cannot_be_restored(crashed, tmp_path, monkeypatch):
    address, backup = crashed
    with pytest.raises(InvalidParameter, match="pg_restore"):
        restore("postgresql://me@nowhere/log", backup)
    with pytest.raises(MissingFile, match="does not exist"):
        restore(address, tmp_path / "nothing.db")
    with pytest.raises(InvalidParameter, match="is the database itself"):
        restore(address, tmp_path / "crashed" / "log.db")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(UnwritableFile, match="No space left on device; it is as it was"):
        restore(address, backup)
    assert events(address) == 299
