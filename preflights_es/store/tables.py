"""The tables, as SQLAlchemy Core knows them; alembic/versions creates the same.

`events`, `heads`, `numbers`, `imported_documents`, `projects` and `log` are the log. `outbox`,
`marks`, `claims`, `projections` and what begins with `projected_` are operational: they can be
rebuilt from it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Float, Index, LargeBinary, MetaData, String, Table, Text
from sqlalchemy.types import TypeEngine

SCHEMA: Final = "0006"
"""The revision these tables correspond to; a test holds it against the migrations' head.

The program reads it from the frozen file (`store.frozen.schema`).
"""

metadata = MetaData()


def _text(length: int | None = None) -> TypeEngine[str]:
    """Compared byte by byte, on every server alike, as SQLite does anyway."""
    kind = String if length else Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


heads = Table(
    "heads",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("project", _text(), nullable=False),
    Column("workflow", _text(), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Index("heads_by_project", "project", "session_id"),
)

events = Table(
    "events",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("input_id", _text(100), unique=True),
    Column("type", _text(), nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("actor_kind", _text()),
    Column("decider", _text(), nullable=False),
    Column("data", _text()),
    Column("salt", LargeBinary),
    Column("digest", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
)

marks = Table(
    "marks",
    metadata,
    Column("projection", _text(), primary_key=True),
    Column("session_id", _text(36), primary_key=True),
    Column("version", BigInteger, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("call", _text(200), primary_key=True),
    Column("project", _text(), nullable=False),
    Column("owner", _text(), nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("claims_by_project", "project"),
)

numbers = Table(
    "numbers",
    metadata,
    Column("project", _text(), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("session_id", _text(36), nullable=False),
)

imported_documents = Table(
    "imported_documents",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("call", _text(200), primary_key=True),
)
"""Documents that this log does not owe: their requests came with an import."""

log = Table("log", metadata, Column("id", _text(32), primary_key=True))
"""One row: what the log calls itself."""

projects = Table(
    "projects",
    metadata,
    Column("name", _text(), primary_key=True),
    Column("identity", _text(), nullable=False),
)
"""Names that repositories have, where they share the log."""

projections = Table(
    "projections",
    metadata,
    Column("name", _text(100), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("complete", BigInteger, nullable=False),
)

projected_sessions = Table(
    "projected_sessions",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("project", _text(), nullable=False),
    Column("workflow", _text(), nullable=False),
    Column("status", _text(), nullable=False),
    Column("progress", Float),
    Column("turns", BigInteger, nullable=False),
    Column("provider", _text(), nullable=False),
    Column("model", _text(), nullable=False),
    Column("fell_back", _text(), nullable=False),
    Column("intention", _text(), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("began_at", BigInteger, nullable=False),
    Column("moved_at", BigInteger, nullable=False),
    # In the order in which rows are read, with all that is asked before a row is: a row has texts.
    Index(
        "projected_sessions_by_project",
        *("project", "session_id", "status", "began_at", "moved_at"),
    ),
)

projected_decisions = Table(
    "projected_decisions",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("project", _text(), nullable=False),
    Column("uid", _text(), nullable=False),
    Column("standing", _text(), nullable=False),
    Column("category", _text(), nullable=False),
    Column("accepted_at", BigInteger),
    Column("superseded_at", BigInteger),
    Column("decided", _text(), nullable=False),
    Index(
        "projected_decisions_by_project",
        *("project", "session_id", "version", "accepted_at", "superseded_at"),
    ),
)

projected_usage = Table(
    "projected_usage",
    metadata,
    Column("session_id", _text(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("project", _text(), nullable=False),
    Column("workflow", _text(), nullable=False),
    Column("call", _text(), nullable=False),
    Column("provider", _text(), nullable=False),
    Column("model", _text(), nullable=False),
    Column("prompt", _text(), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("attempt", BigInteger, nullable=False),
    Column("outcome", _text(), nullable=False),
    Column("judged", _text(), nullable=False),
    Column("fell_back", BigInteger, nullable=False),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("latency_ms", BigInteger),
    Index("projected_usage_by_project", "project", "session_id"),
)
