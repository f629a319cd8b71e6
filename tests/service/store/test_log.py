"""Writing the log: what is deleted is gone, and backups are whole."""

import asyncio
import sqlite3

import pytest

from shortlist.errors import InvalidParameter
from shortlist.service.engine import Engine, Settings
from shortlist.service.store import Store, Text
from tests.service.playing import play
from tests.service.store.entries import listed


def test_what_is_deleted_is_gone_from_the_file(sqlite, tmp_path):
    """Not only from the tables: the bytes are overwritten."""
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1, ids=["the-secret-document"])], [Text(row.id, 1, "my secret question", None)])
    found = b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))
    assert b"secret question" in found
    store.delete_stream(row.id)
    found = b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))
    assert b"secret" not in found
    again, created = store.create_stream("a", {"coverage": 0.9}, 0.0)
    assert created
    assert again.id != row.id  # nobody mistakes the new one for the old one
    store.close()


def test_a_reader_delays_no_deletion_and_what_is_deleted_leaves_the_journal_after_it(sqlite, tmp_path):
    store, reader = Store(sqlite), Store(sqlite, read_only=True)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    other, _ = store.create_stream("b", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1, "r")], [Text(row.id, 1, "the secret", None)])

    def bytes_on_disk():
        return b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))

    with reader.reading() as open_reader:
        assert open_reader.stream("a")
        store.delete_stream(row.id)
        assert b"the secret" in bytes_on_disk()  # the reader still reads it
    for i in range(120):
        store.append([listed(other, i + 1, f"r{i}")])
    assert b"the secret" not in bytes_on_disk()
    reader.close()
    store.close()


def test_store_is_closed_twice_without_harm(sqlite):
    store = Store(sqlite)
    store.close()
    store.close()


def test_a_backup_is_one_file(sqlite, tmp_path):
    async def main():
        async with Engine.open(sqlite) as engine:
            await engine.create_stream("a", Settings(coverage=0.9))
            await play(engine, 10)
            store = Store(sqlite, read_only=True)
            store.backup(tmp_path / "copy.db")
            store.close()

    asyncio.run(main())
    assert [path.name for path in tmp_path.glob("copy*")] == ["copy.db"]
    with sqlite3.connect(tmp_path / "copy.db") as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (20,)
    connection.close()


def test_backups_that_cannot_be(sqlite, postgresql, tmp_path):
    Store(sqlite).close()
    store = Store(sqlite, read_only=True)
    there = tmp_path / "there.db"
    there.write_text("precious")
    with pytest.raises(InvalidParameter, match="is there already"):
        store.backup(there)
    assert there.read_text() == "precious"
    with pytest.raises(Exception, match="cannot be written"):
        store.backup(tmp_path / "nowhere" / "copy.db")
    store.close()
    Store(postgresql).close()
    store = Store(postgresql, read_only=True)
    with pytest.raises(InvalidParameter, match="pg_dump"):
        store.backup(tmp_path / "copy.db")
    store.close()
