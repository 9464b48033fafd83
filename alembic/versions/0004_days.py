"""Indexes that answer which sessions are of a day, in trouble, or hold a decision in force."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

INDEXES = {
    "projected_sessions": ["project", "session_id", "status", "began_at", "moved_at"],
    "projected_decisions": ["project", "session_id", "version", "accepted_at", "superseded_at"],
}


def upgrade() -> None:
    for table, columns in INDEXES.items():
        op.drop_index(f"{table}_by_project", table)
        op.create_index(f"{table}_by_project", table, columns)


def downgrade() -> None:
    for table in INDEXES:
        op.drop_index(f"{table}_by_project", table)
        op.create_index(f"{table}_by_project", table, ["project", "session_id"])
