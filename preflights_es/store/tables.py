"""The tables, as SQLAlchemy Core knows them; alembic/versions creates the same.

`events`, `heads` and `numbers` are the log. `outbox`, `marks` and `claims` are operational: they
can be rebuilt from it.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Index, LargeBinary, MetaData, String, Table, Text

SCHEMA: Final = "0001"
"""The revision these tables correspond to; a test holds it against the migrations' head."""

metadata = MetaData()

heads = Table(
    "heads",
    metadata,
    Column("session_id", String(36), primary_key=True),
    Column("project", Text, nullable=False),
    Column("workflow", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Index("heads_by_project", "project", "session_id"),
)

events = Table(
    "events",
    metadata,
    Column("session_id", String(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("input_id", String(100), unique=True),
    Column("type", Text, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("actor_kind", Text),
    Column("decider", Text, nullable=False),
    Column("data", Text),
    Column("salt", LargeBinary),
    Column("digest", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("session_id", String(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
)

marks = Table(
    "marks",
    metadata,
    Column("projection", Text, primary_key=True),
    Column("session_id", String(36), primary_key=True),
    Column("version", BigInteger, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("session_id", String(36), primary_key=True),
    Column("call", String(200), primary_key=True),
    Column("project", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("claims_by_project", "project"),
)

numbers = Table(
    "numbers",
    metadata,
    Column("project", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("session_id", String(36), nullable=False),
)
