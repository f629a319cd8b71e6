"""Writing the log: what is deleted is gone, and backups are whole."""

import asyncio
import dataclasses
import sqlite3

import pytest

from shortlist.errors import InvalidParameter
from shortlist.service.engine import Engine, StreamSettings
from shortlist.service.store import Snapshot, Store, Text
from tests.service.playing import play
from tests.service.store.entries import hit, listed
from tests.service.tampering import alter


def test_what_is_deleted_is_gone_from_the_file(sqlite, tmp_path):
    """Not only from the tables: the bytes are overwritten."""
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1, ids=["the-secret-document"])], [Text(row.id, 1, "my secret question", None, None)])
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
    store.append([listed(row, 1, "r")], [Text(row.id, 1, "the secret", None, None)])

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
            await engine.create_stream("a", StreamSettings.of(coverage=0.9))
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
    with pytest.raises(InvalidParameter, match="already exists"):
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


def test_begin_tells_what_is_new_what_is_gone_and_what_is_damaged(address, store):
    rows = {name: store.create_stream(name, {"coverage": 0.9}, 0.0)[0] for name in ("new", "same", "gone", "damaged")}
    for row in rows.values():
        store.append([listed(row, 1), hit(row, 2), listed(row, 3, "other")])
    store.delete_stream(rows["gone"].id)
    alter(address, f"UPDATE events SET body = '{{' WHERE number = 2 AND stream_id = {rows['damaged'].id}")
    ids = {name: row.id for name, row in rows.items()}
    folded = {ids["new"]: 1, ids["same"]: 3, ids["gone"]: 3, ids["damaged"]: 1}
    view = store.begin(folded, [(ids["same"], "r"), (ids["same"], "nothing"), (ids["damaged"], "other")])
    store.rollback()
    assert {stream_id: [entry.number for entry in tail] for stream_id, tail in view.tails.items()} == {
        ids["new"]: [2, 3]
    }
    assert view.gone == {ids["gone"]}
    assert [(entry.stream_id, entry.number) for entry in view.rounds] == [
        (ids["same"], 1),
        (ids["same"], 2),
        (ids["damaged"], 3),
    ]
    assert list(view.damaged) == [ids["damaged"]]


def test_entries_are_stored_together_or_not_at_all(store, row):
    """Also when something else than the database fails: what was begun is given up."""
    broken = listed(row, 2, "other", scores=object())
    with pytest.raises(TypeError):
        store.append([listed(row, 1), broken], [Text(row.id, 1, "why", None, None)])
    store.append([listed(row, 1)])
    with store.reading() as reader:
        assert [entry.round_id for entry in reader.events(row.id)] == ["r"]
        assert reader.stream("a").last_number == 1
        assert reader.texts(row.id, [1]) == {}


def test_of_snapshots_the_last_two_are_kept(store, row):
    for number in (10, 20, 30, 30, 40):
        store.save_snapshot(row.id, Snapshot(number, 5, f"state {number}"))
    with store.reading() as reader:
        kept = reader.snapshots(row.id)
    assert kept == [Snapshot(40, 5, "state 40"), Snapshot(30, 5, "state 30")]


def test_texts_are_erased_by_age_and_the_log_stays(store, row):
    old, recent = listed(row, 1), dataclasses.replace(listed(row, 2, "recent"), at=100.0)
    store.append([old, recent], [Text(row.id, number, "why", None, None) for number in (1, 2)])
    assert store.erase_texts(row.id, before=50.0) == 1
    assert store.erase_texts(row.id, before=50.0) == 0
    with store.reading() as reader:
        assert list(reader.texts(row.id, [1, 2])) == [2]
        assert len(list(reader.events(row.id))) == 2


def test_what_is_read_does_not_change_while_it_is_read(store, row):
    with store.reading() as reader:
        assert list(reader.events(row.id)) == []
        store.append([listed(row, 1)])
        assert list(reader.events(row.id)) == []
    with store.reading() as reader:
        assert len(list(reader.events(row.id))) == 1
