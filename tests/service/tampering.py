"""Changes to a database behind the service's back."""

import contextlib
import json

import sqlalchemy as sa

from shortlist.service.store import database
from shortlist.service.store.tables import events

__all__ = ["alter", "alter_body", "connected"]


@contextlib.contextmanager
def connected(address):
    """Return a connection of its own, in a transaction."""
    engine = database.make_engine(address)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def alter(address, sql):
    """Run a statement, which must change something."""
    with connected(address) as connection:
        assert connection.exec_driver_sql(sql).rowcount > 0


def alter_body(address, number, change):
    """Change the stored fields of an event of the first stream."""
    here = events.c.stream_id == 1, events.c.number == number
    with connected(address) as connection:
        fields = json.loads(connection.execute(sa.select(events.c.body).where(*here)).scalar_one())
        before = json.dumps(fields)
        change(fields)
        assert json.dumps(fields) != before
        connection.execute(events.update().where(*here).values(body=json.dumps(fields)))
