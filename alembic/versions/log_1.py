"""The log, the operational tables beside it, and the rows of projections.

A revision is `log_N`. N is the format of the log: a higher one is of a newer version
(docs/decisions/0041).
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "log_1"
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

# The same on PostgreSQL, where nothing replaces a row without an UPDATE. The table is named as the
# trigger knows it, so that no search path leads to another one.
GUARD = """
CREATE FUNCTION events_are_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  covered boolean;
BEGIN
  IF NEW.data IS NULL AND NEW.salt IS NULL
    AND (NEW.session_id, NEW.version, NEW.type, NEW.recorded_at, NEW.decider, NEW.digest, NEW.hash)
      = (OLD.session_id, OLD.version, OLD.type, OLD.recorded_at, OLD.decider, OLD.digest, OLD.hash)
    AND NEW.input_id IS NOT DISTINCT FROM OLD.input_id
    AND NEW.actor_kind IS NOT DISTINCT FROM OLD.actor_kind
  THEN
    EXECUTE pg_catalog.format(
      'SELECT EXISTS (SELECT 1 FROM %I.%I WHERE session_id = $1 AND type = $2)',
      TG_TABLE_SCHEMA, TG_TABLE_NAME
    ) INTO covered USING OLD.session_id, 'session.erased.v1';
    IF covered THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'events are never changed' USING ERRCODE = 'integrity_constraint_violation';
END
$$
"""
GUARD_ROWS = """
CREATE FUNCTION events_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'events are never deleted' USING ERRCODE = 'integrity_constraint_violation';
END
$$
"""
ON_UPDATE = """
CREATE TRIGGER events_are_immutable BEFORE UPDATE ON events
FOR EACH ROW EXECUTE FUNCTION events_are_immutable()
"""
ON_DELETE = """
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
FOR EACH ROW EXECUTE FUNCTION events_are_kept()
"""
ON_TRUNCATE = """
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events
FOR EACH STATEMENT EXECUTE FUNCTION events_are_kept()
"""
ON_POSTGRESQL = (GUARD, GUARD_ROWS, ON_UPDATE, ON_DELETE, ON_TRUNCATE)


def text(length=None):
    """Compared byte by byte: an index outlives what a server's language sorts otherwise."""
    kind = sa.String if length else sa.Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "heads",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("project", text(), nullable=False),
        sa.Column("workflow", text(), nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.LargeBinary, nullable=False),
    )
    op.create_index("heads_by_project", "heads", ["project", "session_id"])
    op.create_table(
        "events",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("input_id", text(100), unique=True),
        sa.Column("type", text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger, nullable=False),
        sa.Column("actor_kind", text()),
        sa.Column("decider", text(), nullable=False),
        sa.Column("data", text()),
        sa.Column("salt", sa.LargeBinary),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
    )
    op.create_table(
        "marks",
        sa.Column("projection", text(), primary_key=True),
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "claims",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("call", text(200), primary_key=True),
        sa.Column("project", text(), nullable=False),
        sa.Column("owner", text(), nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
    )
    op.create_index("claims_by_project", "claims", ["project"])
    op.create_table(
        "numbers",
        sa.Column("project", text(), primary_key=True),
        sa.Column("folder", text(), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("session_id", text(36), nullable=False),
    )
    op.create_table(
        "imported_documents",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("call", text(200), primary_key=True),
    )
    log = op.create_table("log", sa.Column("id", text(32), primary_key=True))
    op.bulk_insert(log, [{"id": secrets.token_hex(16)}])
    projections()
    if op.get_bind().dialect.name == "sqlite":
        op.execute(NO_DELETE)
        op.execute(NO_UPDATE)
        op.execute(NO_REPLACE)
    if op.get_bind().dialect.name == "postgresql":
        for statement in ON_POSTGRESQL:
            op.execute(statement)


INDEXES = {
    "sessions": ["project", "session_id", "status", "began_at", "moved_at"],
    "decisions": ["project", "session_id", "version", "accepted_at", "superseded_at"],
    "usage": ["project", "session_id"],
    "artifacts": ["project", "session_id", "version", "standing"],
    "items": ["project", "session_id"],
    "memory": ["project", "term", "session_id", "superseded_at"],
}


def projections() -> None:
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
    op.create_table(
        "projected_artifacts",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("project", text(), nullable=False),
        sa.Column("id", text(), nullable=False),
        sa.Column("type", text(), nullable=False),
        sa.Column("standing", text(), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("plan", text(), nullable=False),
    )
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
        sa.Column("source", text()),
        sa.Column("confidence", sa.Float),
        sa.Column("content", text()),
        sa.Column("decision", text()),
        sa.Column("record", sa.BigInteger),
        sa.Column("date", text()),
    )
    op.create_table(
        "projected_memory",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("term", text(), primary_key=True),
        sa.Column("project", text(), nullable=False),
        sa.Column("field", sa.BigInteger, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("length", sa.BigInteger, nullable=False),
        sa.Column("uid", text(), nullable=False),
        sa.Column("accepted_at", sa.BigInteger, nullable=False),
        sa.Column("superseded_at", sa.BigInteger),
    )
    for name, columns in INDEXES.items():
        op.create_index(f"projected_{name}_by_project", f"projected_{name}", columns)


def downgrade() -> None:
    message = "nothing is below the first revision: a log is not taken back"
    raise NotImplementedError(message)
