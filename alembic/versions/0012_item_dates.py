"""The projection `items` keeps the date of an event, and the task that goes before another."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

COLUMNS = ("date", "after")


def upgrade() -> None:
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    for name in COLUMNS:
        op.add_column("projected_items", sa.Column(name, text))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("projected_items", name)
    op.execute("DELETE FROM marks WHERE projection = 'items'")
    op.execute("DELETE FROM projections WHERE name = 'items'")
