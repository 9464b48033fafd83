"""Which documents this log does not owe: their requests came with an import.

A log of before does not tell them from documents whose row of `claims` is lost: every document that
is open and has no row counts as imported, so that an upgrade writes no file.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

CALL_MAX = 200  # characters, as in `claims`


def text(length):
    """Compared byte by byte, as in the tables of the log."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    table = op.create_table(
        "imported_documents",
        sa.Column("session_id", text(36), primary_key=True),
        sa.Column("call", text(CALL_MAX), primary_key=True),
    )
    connection = op.get_bind()
    if found := sorted(open_documents(connection) - claimed(connection)):
        op.bulk_insert(table, [{"session_id": one, "call": call} for one, call in found])


def open_documents(connection):
    """Documents that were asked for and never written, as pairs of session and call."""
    events = sa.table("events", *map(sa.column, ("session_id", "version", "type", "data")))
    data = events.c.data
    if connection.dialect.name == "sqlite":
        data = sa.cast(data, sa.LargeBinary)  # a damaged text would end the upgrade
    kinds = ("artifact.due.v1", "artifact.written.v1")
    rows = connection.execute(
        sa.select(events.c.session_id, events.c.type, data)
        .where(events.c.type.in_(kinds), events.c.data.is_not(None))
        .order_by(events.c.session_id, events.c.version)
        .execution_options(yield_per=1_000)
    )
    found = set()
    for session_id, kind, payload in rows:
        one = session_id, call_of(payload)
        if kind == kinds[1]:
            found.discard(one)
        elif one[1]:
            found.add(one)
    return found


def call_of(payload):
    """The call that a payload names; empty where it is damaged."""
    try:
        call = json.loads(payload)["call"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    fits = isinstance(call, str) and len(call) <= CALL_MAX and call.isascii() and call.isprintable()
    return call if fits else ""


def claimed(connection):
    """Calls that have a row."""
    claims = sa.table("claims", sa.column("session_id"), sa.column("call"))
    return {tuple(row) for row in connection.execute(sa.select(claims.c.session_id, claims.c.call))}


def downgrade() -> None:
    op.drop_table("imported_documents")
