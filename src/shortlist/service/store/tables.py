"""The tables. The migrations make them; a test holds the two to each other.

An event's `phase` is 0 where a list was shown, 1 where its round was closed and null elsewhere, so that one unique
constraint gives every round one list and one answer, whichever process writes.
"""

import sqlalchemy as sa

__all__ = [
    "altered_tables",
    "annotators",
    "corrections",
    "events",
    "heartbeat",
    "items",
    "leases",
    "metadata",
    "snapshots",
    "streams",
    "texts",
]

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
)

# Apart from the log, so that what users wrote can be erased and the log stays intact.
texts = sa.Table(
    "texts",
    metadata,
    _of_stream(),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("texts", sa.Text, nullable=False),
    sa.Column("image", sa.Text, nullable=False),
)

# Who gave an answer, by the number of its event: apart from the log, like texts, and erased with them.
annotators = sa.Table(
    "annotators",
    metadata,
    _of_stream(),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("annotator", sa.Text, nullable=False),
)

# Labels that a lead has set afterwards: they are for the training set, and no threshold depends on them. As JSON, like
# texts; notes and names are erased with these.
corrections = sa.Table(
    "corrections",
    metadata,
    _of_stream(),
    sa.Column("round_id", sa.Text, primary_key=True),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("reviewer", sa.Text, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
)

# What waits to become a round. Positions are dense, from 0, so that one item can be drawn without reading the others;
# null where an item was refused when it was drawn.
items = sa.Table(
    "items",
    metadata,
    _of_stream(),
    sa.Column("item_id", sa.Text, primary_key=True),
    sa.Column("position", sa.BigInteger),
    sa.Column("added", sa.Double, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("problem", sa.Text),
    sa.UniqueConstraint("stream_id", "position", name="one_item_per_position"),
)

# Who is answering which round, and until when nobody else is given it.
leases = sa.Table(
    "leases",
    metadata,
    _of_stream(),
    sa.Column("round_id", sa.Text, primary_key=True),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    # How many rounds the stream must have before a round that was given back is offered again.
    sa.Column("rests_until", sa.BigInteger, nullable=False),
)

# One row, written when nothing else tells whether the database takes writes.
heartbeat = sa.Table(
    "heartbeat",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Double, nullable=False),
)


def altered_tables(connection: sa.Connection) -> list[str]:
    """Return the tables of a SQLite database that are not as above."""
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    try:
        with engine.begin() as fresh:
            metadata.create_all(fresh)
            expected, actual = _written(fresh), _written(connection)
    finally:
        engine.dispose()
    altered = {str(row[0]) for row in expected ^ actual}
    return sorted(altered if altered or _counts_ids(connection) else {"sqlite_sequence"})


def _counts_ids(connection: sa.Connection) -> bool:
    """Return whether SQLite still knows which ids of streams were given."""
    last = connection.execute(sa.select(sa.func.max(streams.c.id))).scalar()
    query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'streams'")
    given = connection.execute(query).scalar()
    return last is None or (isinstance(given, int) and given >= last)


def _written(connection: sa.Connection) -> set[tuple[object, ...]]:
    """Return what a SQLite database is made with, as it is written there; the first of each is the table's name."""
    rows = connection.execute(sa.text("SELECT tbl_name, type, name, sql FROM sqlite_master")).all()
    # The table of versions is Alembic's, and it alone.
    return {(*row[:3], " ".join(str(row[3]).split())) for row in rows if row[0] != "alembic_version"}
