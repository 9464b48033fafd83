"""What a log calls itself: the keys of its commands are its own."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    kind = sa.String(32).with_variant(sa.String(32, collation="C"), "postgresql")
    made = op.create_table("log", sa.Column("id", kind, primary_key=True))
    op.bulk_insert(made, [{"id": secrets.token_hex(16)}])


def downgrade() -> None:
    op.drop_table("log")
