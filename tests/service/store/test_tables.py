"""The tables: as the migrations make them, with one list and one answer per round."""

import contextlib
import sqlite3

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from shortlist.errors import StoreUnavailable
from shortlist.service.store import Store, database, tables
from tests.service.store.entries import hit, listed, miss


def test_the_migrations_make_the_tables(address):
    engine = database.make_engine(address)
    database.migrate(engine)
    database.migrate(engine)  # again changes nothing
    with engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []
    engine.dispose()


def test_a_round_has_one_list_and_one_answer_whoever_writes(address):
    store = Store(address)
    row, _ = store.create_stream("a", {"coverage": 0.9}, 0.0)
    store.append([listed(row, 1), hit(row, 2)])
    for twice in (listed(row, 3), miss(row, 3), listed(row, 2, "other")):
        with pytest.raises(StoreUnavailable):
            store.append([listed(row, 3 if twice.number == 2 else 4, "new"), twice])
    with store.reading() as reader:
        assert [e.number for e in reader.events(row.id)] == [1, 2]
        assert reader.stream("a").last_number == 2
    store.close()


@pytest.mark.parametrize("phase", [0, 1])
def test_the_database_itself_refuses_a_second_list_and_a_second_answer(address, phase):
    """Without the store's help; what belongs to no round may come as often as it likes."""
    engine = database.make_engine(address)
    database.migrate(engine)
    row = {"stream_id": 1, "kind": "any", "at": 0.0, "body": "{}"}
    with engine.begin() as connection:
        connection.execute(tables.streams.insert().values(id=1, name="a", settings="{}", created=0.0, last_number=0))
        connection.execute(tables.events.insert().values(row | {"number": 1, "phase": phase, "round_id": "r"}))
        connection.execute(tables.events.insert().values(row | {"number": 2, "phase": 1 - phase, "round_id": "r"}))
        connection.execute(tables.events.insert().values(row | {"number": 3, "phase": phase, "round_id": "other"}))
        for number in (4, 5):
            connection.execute(tables.events.insert().values(row | {"number": number}))
    for wrong in ({"number": 6, "phase": phase, "round_id": "r"}, {"number": 2}, {"number": 6, "stream_id": 7}):
        with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
            connection.execute(tables.events.insert().values({**row, **wrong}))
    engine.dispose()


def test_tables_that_are_not_as_they_are_made_are_named(sqlite, read):
    Store(sqlite).close()
    store = read(sqlite)
    with store.reading() as reader:
        assert reader.integrity() == []
    alter_schema = "UPDATE sqlite_master SET sql = replace(sql, 'UNIQUE (stream_id, round_id, phase)', 'UNIQUE ({})')"
    for columns in ("stream_id, phase, round_id", "stream_id, round_id, at"):
        with contextlib.closing(sqlite3.connect(sqlite.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(alter_schema.format(columns))
        with read(sqlite).reading() as reader:
            assert "the table events is not as shortlist makes it" in reader.integrity()
