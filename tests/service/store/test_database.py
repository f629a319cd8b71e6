"""Opening a database: its address, its schema, who may write to it, and that it waits for the disk."""

import pytest
import sqlalchemy as sa

from shortlist.errors import DatabaseInUse, InvalidParameter, NewerDatabase, StoreUnavailable
from shortlist.service.store import Store, database


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
    engine = database.make_engine(sqlite)
    with engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        }
    engine.dispose()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2}


def test_postgresql_is_set_to_survive_a_power_cut(postgresql):
    """Even where the server's default is not to wait for the disk."""
    engine = database.make_engine(postgresql)
    with engine.begin() as connection:
        assert connection.execute(sa.text("SHOW synchronous_commit")).scalar() == "on"
        assert connection.execute(sa.text("SHOW fsync")).scalar() == "on"
    engine.dispose()
