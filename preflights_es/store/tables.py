"""The tables, as SQLAlchemy Core knows them; alembic/versions creates the same.

`events`, `heads`, `numbers`, `imported_documents` and `log` are the log. `outbox`, `marks`,
`claims`, `projections` and what begins with `projected_` are operational: they can be rebuilt from
it.
"""

from __future__ import annotations

from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from sqlalchemy import BigInteger, Column, Float, Index, LargeBinary, MetaData, String, Table, Text
from sqlalchemy.types import TypeEngine

from preflights_es.projections.projection import Projection, declared
from preflights_es.store.frozen import PREFIX

metadata = MetaData()


def _text_column_type(length: int | None = None) -> TypeEngine[str]:
    """Compared byte by byte, on every server alike, as SQLite does anyway."""
    kind = String if length else Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


heads = Table(
    "heads",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("project", _text_column_type(), nullable=False),
    Column("workflow", _text_column_type(), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Index("heads_by_project", "project", "session_id"),
)

events = Table(
    "events",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("input_id", _text_column_type(100), unique=True),
    Column("type", _text_column_type(), nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("actor_kind", _text_column_type()),
    Column("decider", _text_column_type(), nullable=False),
    Column("data", _text_column_type()),
    Column("salt", LargeBinary),
    Column("digest", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
)

marks = Table(
    "marks",
    metadata,
    Column("projection", _text_column_type(), primary_key=True),
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("version", BigInteger, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("call", _text_column_type(200), primary_key=True),
    Column("project", _text_column_type(), nullable=False),
    Column("owner", _text_column_type(), nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("claims_by_project", "project"),
)

numbers = Table(
    "numbers",
    metadata,
    Column("project", _text_column_type(), primary_key=True),
    Column("folder", _text_column_type(), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("session_id", _text_column_type(36), nullable=False),
)

imported_documents = Table(
    "imported_documents",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("call", _text_column_type(200), primary_key=True),
)
"""Documents that this log does not owe: their requests came with an import."""

log = Table("log", metadata, Column("id", _text_column_type(32), primary_key=True))
"""One row: what the log calls itself."""

projections = Table(
    "projections",
    metadata,
    Column("name", _text_column_type(100), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("complete", BigInteger, nullable=False),
)


def _projected(one: Projection) -> Table:
    hints = get_type_hints(one.row)
    return Table(
        PREFIX + one.name,
        metadata,
        *(_column(name, hints[name], number < one.key) for number, name in enumerate(hints)),
        Index(f"{PREFIX}{one.name}_by_project", *one.index),
    )


def _column(name: str, hint: Any, is_key: bool) -> Column[Any]:
    types = get_args(hint) or (hint,)
    kind = _KINDS[types[0]]() if name != "session_id" else _text_column_type(36)
    is_nullable = NoneType in types
    return Column(name, kind, primary_key=is_key, autoincrement=False, nullable=is_nullable)


_KINDS: Final[dict[Any, Any]] = {str: _text_column_type, int: BigInteger, float: Float}

projected: Final = {one.name: _projected(one) for one in declared()}
"""The table of each projection."""
