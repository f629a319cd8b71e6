"""The first schema: streams, events, snapshots, texts, annotators, items, leases, and a row to test writing with."""

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
    )
    op.create_table(
        "texts",
        _of_stream(),
        _number(),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
        sa.Column("image", sa.Text, nullable=False),
    )
    op.create_table("annotators", _of_stream(), _number(), sa.Column("annotator", sa.Text, nullable=False))
    op.create_table(
        "corrections",
        _of_stream(),
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "items",
        _of_stream(),
        sa.Column("item_id", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger),
        sa.Column("added", sa.Double, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("problem", sa.Text),
        sa.UniqueConstraint("stream_id", "position", name="one_item_per_position"),
    )
    op.create_table(
        "leases",
        _of_stream(),
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
        sa.Column("rests_until", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "heartbeat",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
    )
