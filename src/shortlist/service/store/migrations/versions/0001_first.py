"""The first schema: streams, events, snapshots, texts, and a row to write when nothing else tells whether it can."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _of_stream() -> sa.Column[int]:
    return sa.Column("stream_id", sa.Integer, sa.ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)


def _number() -> sa.Column[int]:
    return sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "streams",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("last_number", sa.BigInteger, nullable=False),
        sa.Column("chain", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "events",
        _of_stream(),
        _number(),
        sa.Column("phase", sa.SmallInteger),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("round_id", sa.Text),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.UniqueConstraint("stream_id", "round_id", "phase", name="one_list_one_answer"),
    )
    op.create_table(
        "snapshots",
        _of_stream(),
        _number(),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("chain", sa.Text, nullable=False),
    )
    op.create_table(
        "texts",
        _of_stream(),
        _number(),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
        sa.Column("salt", sa.Text, nullable=False),
    )
    op.create_table(
        "heartbeat",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
    )
