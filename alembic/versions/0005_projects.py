"""Which repository a project's name belongs to, where several share the log."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def text():
    """Compared byte by byte, as in the tables of the log."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "projects",
        sa.Column("name", text(), primary_key=True),
        sa.Column("identity", text(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("projects")
