"""What a log calls itself: a name by chance, so that two logs never give one id to two Inputs."""

from __future__ import annotations

from preflights_es.core.errors import LogDamaged
from preflights_es.store.sql import SqlStore
from preflights_es.store.urls import shown_url


def log_id(store: SqlStore) -> str:
    """32 hexadecimal digits, chosen when the log was made; a copy of its database has the same.

    Raises:
        LogDamaged: it was removed.
        StoreUnavailable: it cannot be read.
    """
    rows = store.database.looked(lambda cursor: cursor.execute("SELECT id FROM log").fetchall())
    if len(rows) != 1:
        found = f"it says {len(rows)} ids, expected one" if rows else "it does not say its id"
        raise LogDamaged(shown_url(store.url), 0, found)
    return str(rows[0][0])
