"""`admin`: commands that manage the log and its files."""

from __future__ import annotations

import click

from preflights_cli.commands import Lazy


@click.command(cls=Lazy, under="admin")
def admin_command() -> None:
    """Manage the log: its database, projections and files.

    \b
    Examples:
      preflights admin db status
      preflights admin export --all
      preflights admin render last --check
    """
