"""The log: heads and events, and the operational tables beside them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# The one change that an event may suffer: its payload and salt go, in a session that holds an
# erasure. Everything else is refused by the database itself.
NO_DELETE = """
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN
  SELECT RAISE(ABORT, 'events are never deleted');
END
"""
NO_UPDATE = """
CREATE TRIGGER events_are_immutable BEFORE UPDATE ON events
WHEN NOT (
  NEW.data IS NULL AND NEW.salt IS NULL AND NEW.rowid IS OLD.rowid
  AND NEW.session_id IS OLD.session_id AND NEW.version IS OLD.version
  AND NEW.input_id IS OLD.input_id AND NEW.type IS OLD.type
  AND NEW.recorded_at IS OLD.recorded_at AND NEW.actor_kind IS OLD.actor_kind
  AND NEW.decider IS OLD.decider AND NEW.digest IS OLD.digest AND NEW.hash IS OLD.hash
  AND EXISTS (
    SELECT 1 FROM events AS erasure
    WHERE erasure.session_id = OLD.session_id AND erasure.type = 'session.erased.v1'
  )
)
BEGIN
  SELECT RAISE(ABORT, 'events are never changed');
END
"""
# `INSERT OR REPLACE` deletes the row in its way, and says so to no trigger of DELETE.
NO_REPLACE = """
CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
WHEN EXISTS (
  SELECT 1 FROM events AS old WHERE old.session_id = NEW.session_id AND old.version = NEW.version
) OR EXISTS (
  SELECT 1 FROM events AS old WHERE old.input_id = NEW.input_id
) OR EXISTS (
  SELECT 1 FROM events AS old WHERE old.rowid = NEW.rowid
)
BEGIN
  SELECT RAISE(ABORT, 'events are never replaced');
END
"""


def upgrade() -> None:
    op.create_table(
        "heads",
        sa.Column("session_id", sa.String(36), primary_key=True),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("workflow", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.LargeBinary, nullable=False),
    )
    op.create_index("heads_by_project", "heads", ["project", "session_id"])
    op.create_table(
        "events",
        sa.Column("session_id", sa.String(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("input_id", sa.String(100), unique=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("recorded_at", sa.BigInteger, nullable=False),
        sa.Column("actor_kind", sa.Text),
        sa.Column("decider", sa.Text, nullable=False),
        sa.Column("data", sa.Text),
        sa.Column("salt", sa.LargeBinary),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("session_id", sa.String(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
    )
    op.create_table(
        "marks",
        sa.Column("projection", sa.Text, primary_key=True),
        sa.Column("session_id", sa.String(36), primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "claims",
        sa.Column("session_id", sa.String(36), primary_key=True),
        sa.Column("call", sa.String(200), primary_key=True),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
    )
    op.create_index("claims_by_project", "claims", ["project"])
    op.create_table(
        "numbers",
        sa.Column("project", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("session_id", sa.String(36), nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(NO_DELETE)
        op.execute(NO_UPDATE)
        op.execute(NO_REPLACE)


def downgrade() -> None:
    message = "the first revision has nothing below it: a log is not taken back"
    raise NotImplementedError(message)
