"""`admin`: commands that manage the log and its files; and the completion of a shell."""

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


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for a shell.

    \b
    Examples:
      eval "$(preflights admin completion bash)"
      preflights admin completion fish > ~/.config/fish/completions/preflights.fish
    """
    from click.shell_completion import get_completion_class

    cls = get_completion_class(shell)
    assert cls is not None, "click knows the shells it offers"
    root = ctx.find_root().command
    click.echo(cls(root, {}, "preflights", "_PREFLIGHTS_COMPLETE").source())
    return 0
