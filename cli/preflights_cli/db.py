"""`db upgrade` and `db status`."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, common
from preflights_es.app import App
from preflights_es.core.text import shown
from preflights_es.store.engines import file_of, shown_url
from preflights_es.store.tables import SCHEMA


@click.group()
def db_command() -> None:
    """Look after the log's database.

    \b
    Examples:
      preflights db status
      preflights db upgrade
    """


@db_command.command("upgrade", short_help="Create the log, or bring its tables up to date.")
@common
def upgrade_command(app: App, voice: Voice) -> int:
    """Create the log, or bring its tables up to date; any command does so when it is needed.

    \b
    Examples:
      preflights db upgrade
      preflights db upgrade --db sqlite:////srv/preflights/log.db
    """
    store = app.store
    voice.json(
        {"format": "db-upgrade/1", "database": shown_url(store.url), "schema": store.schema()}
    )
    voice.say(f"{shown(shown_url(store.url))} has schema {store.schema()}.")
    return 0


@db_command.command("status", short_help="Say where the log lies, and whether it is whole.")
@common
def status_command(app: App, voice: Voice) -> int:
    """Say where the log lies, how large it is, and whether its file is whole.

    \b
    Examples:
      preflights db status
      preflights db status --json
    """
    store = app.store
    store.check()
    path = file_of(store.url)
    counts = store.counts()
    shape = {
        "format": "db-status/1",
        "database": shown_url(store.url),
        "engine": store.url.get_backend_name(),
        "schema": store.schema(),
        "schema_known": SCHEMA,
        "bytes": path.stat().st_size if path and path.exists() else None,
        "project": app.settings.project,
        **counts,
    }
    voice.json(shape)
    for name, value in shape.items():
        if name != "format":
            voice.say(f"{name.replace('_', ' '):<14}{shown(str(value))}")
    return 0
