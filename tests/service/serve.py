"""A service in a process of its own: as it is, or broken on purpose.

durable
    As it ships.
ack-first
    The write is moved after the acknowledgement: what a crash test must notice.
unsynced
    SQLite is told not to sync: what the trace of system calls must notice.
"""

import sys
import time

import sqlalchemy as sa

from shortlist.service.reranker import RerankerSettings
from shortlist.service.store import Store, database
from shortlist.service.web import create_app, run


def acknowledge_first():
    """Acknowledge each batch at once, and write it with the first one that comes a tenth of a second later."""
    held, append = [], Store.append

    def append_later(store, *new):
        store.rollback()
        while held and held[0][0] < time.monotonic():
            _, *batch = held.pop(0)
            append(store, *batch)
        held.append((time.monotonic() + 0.1, *new))

    Store.append = append_later


def never_sync():
    """Tell SQLite not to wait for the disk."""
    make_engine = database.make_engine

    def make(address, *, read_only=False):
        engine = make_engine(address, read_only=read_only)
        sa.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF"))
        return engine

    database.make_engine = make


VARIANTS = {"durable": lambda: None, "ack-first": acknowledge_first, "unsynced": never_sync}


def main(address, port, variant, reranker=None):
    VARIANTS[variant]()
    behind = None if reranker is None else RerankerSettings(reranker)
    run(lambda: create_app(address, snapshot_every=200, reranker=behind), port=port)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
