"""`admin completion`: the script that teaches a shell our words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


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
    cls = get_completion_class(shell)
    assert cls is not None, "click knows the shells it offers"
    root = ctx.find_root().command
    click.echo(cls(root, {}, "preflights", "_PREFLIGHTS_COMPLETE").source())
    return 0
