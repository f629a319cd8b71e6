"""A log to write to."""

import pytest

from shortlist.service.store import Store


@pytest.fixture
def store(address):
    """An empty log."""
    store = Store(address)
    yield store
    store.close()


@pytest.fixture
def row(store):
    """A stream in it."""
    return store.create_stream("a", {"coverage": 0.9}, 0.0)[0]
