"""A table for the projection of structured plans."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def text(length=None):
    """Compared byte by byte, as in the tables of the log."""
    kind = sa.String if length else sa.Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


def upgrade() -> None:
    table = "projected_artifacts"
    op.create_table(
        table,
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("project", text(), nullable=False),
        sa.Column("id", text(), nullable=False),
        sa.Column("type", text(), nullable=False),
        sa.Column("standing", text(), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("plan", text(), nullable=False),
    )
    op.create_index(f"{table}_by_project", table, ["project", "session_id", "version", "standing"])


def downgrade() -> None:
    op.drop_table("projected_artifacts")
    op.execute("DELETE FROM marks WHERE projection = 'artifacts'")
    op.execute("DELETE FROM projections WHERE name = 'artifacts'")
