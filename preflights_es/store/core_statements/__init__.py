"""Every statement of the store, in SQLAlchemy Core: the one source of what engines are sent.

SQLite takes them from the frozen file (`store.frozen`), so that this package, and SQLAlchemy with
it, is imported for PostgreSQL alone (docs/decisions/0017).
"""
