"""Services for the tests of HTTP."""

import pytest

from shortlist.service.keys import KeyFile
from tests.service.running import running


@pytest.fixture
def sqlite_service(sqlite):
    """A service on SQLite, with a stream."""
    with running(sqlite) as service:
        service.make()
        yield service


@pytest.fixture
def guarded(sqlite, keys):
    """A service that asks for keys."""
    with running(sqlite, keys=KeyFile(keys["file"].path)) as service:
        yield service
