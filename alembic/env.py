"""Runs migrations on the connection that `preflights_es.store.migrate` hands over."""

from alembic import context

from preflights_es.store.core_tables import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    message = "run `preflights admin db upgrade`: migrations need its connection"
    raise SystemExit(message)

context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
