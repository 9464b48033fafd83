"""`plan`: a group with a command for each pass."""

from __future__ import annotations

import click

from preflights_cli.commands import Lazy


@click.command(cls=Lazy, under="plan")
def plan_command() -> None:
    """Make structured plans from documents, pass by pass.

    A model, or the rules (--provider mock, the default), answers one artifact. You approve it;
    the next pass reads only what is approved.

    \b
    Examples:
      preflights init --plans
      preflights plan project --dry-run
      preflights plan project
      preflights plan architecture --use docs/adr/0001-log.md
      preflights plan impl src/billing.py --provider anthropic
    """
