"""The log on disk: its schema, who may write to it, and that what is deleted is gone."""

import psutil
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from shortlist.errors import DatabaseInUse, InvalidParameter, NewerDatabase, StoreUnavailable
from shortlist.service.store import Event, Store, Text, database, tables
from tests.service.conftest import PostgreSQL


def test_the_migrations_make_the_tables(address):
    engine = database.make_engine(address)
    database.migrate(engine)
    database.migrate(engine)  # again changes nothing
    with engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []
    engine.dispose()


def test_a_newer_schema_is_refused_and_left_alone(address):
    store = Store(address)
    store.close()
    engine = database.make_engine(address)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(NewerDatabase, match="schema 9999, and this shortlist knows up to 0001: upgrade shortlist"):
        Store(address)
    engine = database.make_engine(address)
    with engine.begin() as connection:
        assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()


def test_a_sqlite_file_has_one_writer(sqlite):
    store = Store(sqlite)
    with pytest.raises(DatabaseInUse, match="is in use by another shortlist"):
        Store(sqlite)
    reader = Store(sqlite, read_only=True)  # readers are welcome
    reader.close()
    store.close()
    Store(sqlite).close()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mysql://a/b", "'mysql'; give sqlite:///file or postgresql://"),
        ("sqlite://", "has no file"),
        ("sqlite:///:memory:", "has no file"),
        ("nonsense", "cannot be read"),
    ],
)
def test_addresses_that_cannot_be(given, message):
    with pytest.raises(InvalidParameter, match=message):
        Store(given)


def test_a_database_that_cannot_be_reached_is_said_in_one_line_without_the_password():
    with pytest.raises(StoreUnavailable) as caught:
        Store("postgresql://me:secret@127.0.0.1:1/log")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sqlite_is_set_to_survive_a_power_cut(sqlite):
    store = Store(sqlite)
    connection = store._writing.raw_connection()
    pragmas = {
        name: connection.cursor().execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    }
    connection.close()
    store.close()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2}


def test_postgresql_is_set_to_survive_a_power_cut(postgresql):
    """Even where the server's default is not to wait for the disk."""
    store = Store(postgresql)
    with store._writing.begin() as connection:
        assert connection.execute(sa.text("SHOW synchronous_commit")).scalar() == "on"
        assert connection.execute(sa.text("SHOW fsync")).scalar() == "on"
    store.close()


def event(row, number, kind, round_id="r", **body):
    return Event(row.id, number, kind, round_id, 0.0, body)


def test_a_round_has_one_list_and_one_answer_whoever_writes(address):
    store = Store(address)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([event(row, 1, "shown"), event(row, 2, "hit")])
    for twice in (event(row, 3, "shown"), event(row, 3, "miss"), event(row, 2, "shown", "other")):
        with pytest.raises(StoreUnavailable):
            store.append([event(row, 3 if twice.number == 2 else 4, "shown", "new"), twice])
    with store.reading() as reader:
        assert [e.number for e in reader.events(row.id)] == [1, 2]
        assert reader.stream("a").last_number == 2
    store.close()


def test_what_is_deleted_is_gone_from_the_file(sqlite, tmp_path):
    """Not only from the tables: the bytes are overwritten."""
    store = Store(sqlite)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([event(row, 1, "shown", ids=["the-secret-document"])], [Text(row.id, 1, "my secret question", None)])
    found = b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))
    assert b"secret question" in found
    store.delete_stream(row.id)
    found = b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))
    assert b"secret" not in found
    again, created = store.create_stream("a", {"coverage": 0.9}, 0.0)
    assert created
    assert again.id != row.id  # nobody mistakes the new one for the old one
    store.close()


def test_texts_of_any_kind_come_back(address):
    """Zero characters too, which PostgreSQL does not take in a text."""
    store = Store(address)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    question, texts = "why\x00?  \U0001f600", ["\x00", None, "<b>"]
    store.append([event(row, 1, "shown", ids=["\x00"])], [Text(row.id, 1, question, texts)])
    with store.reading() as reader:
        assert reader.texts(row.id, [1])[1] == Text(row.id, 1, question, texts)
        assert next(reader.events(row.id)).body == {"ids": ["\x00"]}
    store.close()


def test_a_server_that_was_killed_is_replaced(tmp_path):
    """Of the tests' own server: it has been seen to go, on a machine that others use too."""
    folders = iter([tmp_path / "first", tmp_path / "second"])

    def new_folder():
        folder = next(folders)
        folder.mkdir()
        return folder

    made = PostgreSQL(new_folder)
    postmaster = psutil.Process(made.server.get_pid())
    for process in (postmaster, *postmaster.children(recursive=True)):
        process.kill()
    try:
        Store(made.new_database()).close()
    finally:
        made.server.cleanup()
    assert made.server.pgdata.parent.name == "second"
