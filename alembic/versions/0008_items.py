"""The projection `items`: what sessions hold that others go on with."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def text(length: int | None = None) -> sa.types.TypeEngine[str]:
    kind = sa.String if length else sa.Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "projected_items",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("project", text(), nullable=False),
        sa.Column("type", text(), nullable=False),
        sa.Column("status", text(), nullable=False),
        sa.Column("title", text(), nullable=False),
        sa.Column("importance", text()),
        sa.Column("energy", text()),
        sa.Column("due", text()),
        sa.Column("duration_min", sa.BigInteger),
        sa.Column("duration_max", sa.BigInteger),
        sa.Column("start_time", text()),
        sa.Column("end_time", text()),
        sa.Column("noted_at", text(), nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("hash", text(), nullable=False),
    )
    op.create_index("projected_items_by_project", "projected_items", ["project", "session_id"])


def downgrade() -> None:
    op.drop_table("projected_items")
    op.execute("DELETE FROM marks WHERE projection = 'items'")
    op.execute("DELETE FROM projections WHERE name = 'items'")
