"""Projections: which there are, and the rows of each."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def text(length=None):
    """Compared byte by byte, as in the tables of the log."""
    kind = sa.String if length else sa.Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "projections",
        sa.Column("name", text(100), primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("complete", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "projected_sessions",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("project", text(), nullable=False),
        sa.Column("workflow", text(), nullable=False),
        sa.Column("status", text(), nullable=False),
        sa.Column("progress", sa.Float),
        sa.Column("turns", sa.BigInteger, nullable=False),
        sa.Column("provider", text(), nullable=False),
        sa.Column("model", text(), nullable=False),
        sa.Column("fell_back", text(), nullable=False),
        sa.Column("intention", text(), nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("moved_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "projected_decisions",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("project", text(), nullable=False),
        sa.Column("uid", text(), nullable=False),
        sa.Column("standing", text(), nullable=False),
        sa.Column("category", text(), nullable=False),
        sa.Column("accepted_at", sa.BigInteger),
        sa.Column("superseded_at", sa.BigInteger),
        sa.Column("decided", text(), nullable=False),
    )
    op.create_table(
        "projected_usage",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("project", text(), nullable=False),
        sa.Column("workflow", text(), nullable=False),
        sa.Column("call", text(), nullable=False),
        sa.Column("provider", text(), nullable=False),
        sa.Column("model", text(), nullable=False),
        sa.Column("prompt", text(), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("outcome", text(), nullable=False),
        sa.Column("judged", text(), nullable=False),
        sa.Column("fell_back", sa.BigInteger, nullable=False),
        sa.Column("input_tokens", sa.BigInteger),
        sa.Column("output_tokens", sa.BigInteger),
        sa.Column("latency_ms", sa.BigInteger),
    )
    for name in ("sessions", "decisions", "usage"):
        table = f"projected_{name}"
        op.create_index(f"{table}_by_project", table, ["project", "session_id"])


def downgrade() -> None:
    for name in ("projected_usage", "projected_decisions", "projected_sessions", "projections"):
        op.drop_table(name)
    op.execute("DELETE FROM marks")
