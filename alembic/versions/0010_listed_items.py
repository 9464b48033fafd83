"""The projection `items` keeps all that a list of items shows."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

COLUMNS = ("source", "confidence", "content", "decision", "record")


def upgrade() -> None:
    text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    kinds = {"confidence": sa.Float(), "record": sa.BigInteger()}
    for name in COLUMNS:
        op.add_column("projected_items", sa.Column(name, kinds.get(name, text)))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("projected_items", name)
    op.execute("DELETE FROM marks WHERE projection = 'items'")
    op.execute("DELETE FROM projections WHERE name = 'items'")
