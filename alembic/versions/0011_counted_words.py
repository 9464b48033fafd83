"""`memory` counts words: the best place of each, how often it stands there, and of how many."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def text(length: int | None = None) -> sa.types.TypeEngine[str]:
    kind = sa.String if length else sa.Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


def upgrade() -> None:
    # Fails where it was done before, so that a schema that was set back is told as such.
    op.add_column("projected_memory", sa.Column("length", sa.BigInteger))
    _made_anew("field", "count", "length")


def downgrade() -> None:
    _made_anew("weight")


def _made_anew(*numbers: str) -> None:
    """Rows follow from the log: the next reader folds them again."""
    op.drop_table("projected_memory")
    op.create_table(
        "projected_memory",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("term", text(), primary_key=True),
        sa.Column("project", text(), nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in numbers),
        sa.Column("uid", text(), nullable=False),
        sa.Column("accepted_at", sa.BigInteger),
        sa.Column("superseded_at", sa.BigInteger),
    )
    op.create_index(
        "projected_memory_by_project",
        "projected_memory",
        ["project", "term", "session_id", "superseded_at"],
    )
    op.execute("DELETE FROM marks WHERE projection = 'memory'")
    op.execute("DELETE FROM projections WHERE name = 'memory'")
