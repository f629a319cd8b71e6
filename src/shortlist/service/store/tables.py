"""The tables. The migrations make them; a test holds the two to each other.

An event's `phase` is 0 where a list was shown, 1 where its round was closed and null elsewhere, so that one unique
constraint gives every round one list and one answer, whoever writes.
"""

import sqlalchemy as sa

__all__ = ["altered_tables", "events", "heartbeat", "metadata", "snapshots", "streams", "texts"]

metadata = sa.MetaData()

streams = sa.Table(
    "streams",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    # The number of the last event: raised under the row's lock, so that a tail has no gaps.
    sa.Column("last_number", sa.BigInteger, nullable=False),
    # The chained hash of its events up to that one: see chain.py.
    sa.Column("chain", sa.Text, nullable=False),
    sqlite_autoincrement=True,  # the id of a deleted stream is never given again
)


def _of_stream() -> sa.Column[int]:
    return sa.Column("stream_id", sa.ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)


events = sa.Table(
    "events",
    metadata,
    _of_stream(),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    # 0 for the list and 1 for what closes it: a round has one of each. Null for what may happen more than once.
    sa.Column("phase", sa.SmallInteger),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("round_id", sa.Text),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.UniqueConstraint("stream_id", "round_id", "phase", name="one_list_one_answer"),
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    _of_stream(),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    # The chained hash of the events up to its own.
    sa.Column("chain", sa.Text, nullable=False),
)

# Apart from the log, so that what people wrote can be erased and the log stays whole.
texts = sa.Table(
    "texts",
    metadata,
    _of_stream(),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("texts", sa.Text, nullable=False),
    # The log has a digest of both, made with this: without it nobody can guess what they were.
    sa.Column("salt", sa.Text, nullable=False),
)

# One row, written when nothing else tells whether the database takes writes.
heartbeat = sa.Table(
    "heartbeat",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Double, nullable=False),
)

#: Columns, keys and references of a SQLite database, as SQLite understood its schema.
_SHAPE = (
    """SELECT m.name, p.cid, p.name, p.type, p."notnull", p.dflt_value, p.pk
    FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'""",
    """SELECT m.name, i.name, i."unique", i.origin, i.partial, c.seqno, c.name
    FROM sqlite_master m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) c WHERE m.type = 'table'""",
    """SELECT m.name, f."table", f."from", f."to", f.on_update, f.on_delete
    FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'""",
)


def altered_tables(connection: sa.Connection) -> list[str]:
    """Return the tables of a SQLite database that are not as above."""
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    try:
        with engine.begin() as fresh:
            metadata.create_all(fresh)
            expected, found = _shape(fresh), _shape(connection)
    finally:
        engine.dispose()
    altered = {str(row[0]) for row in expected ^ found}
    return sorted(altered if altered or _counts_ids(connection) else {"sqlite_sequence"})


def _counts_ids(connection: sa.Connection) -> bool:
    """Return whether SQLite still knows which ids of streams were given."""
    last = connection.execute(sa.select(sa.func.max(streams.c.id))).scalar()
    query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'streams'")
    given = connection.execute(query).scalar()
    return last is None or (isinstance(given, int) and given >= last)


def _shape(connection: sa.Connection) -> set[tuple[object, ...]]:
    rows = {tuple(row) for query in _SHAPE for row in connection.execute(sa.text(query)).all()}
    return {row for row in rows if row[0] != "alembic_version"}  # that one is Alembic's
