"""`prompts`: the texts that models are sent, by the names that `--prompt` takes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from preflights_cli.common import Voice
from preflights_cli.table import streamed
from preflights_es.kernel.completions import Prompt, prompt
from preflights_es.kernel.errors import Refused
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.load import load_settings

DIGITS: Final = 12
"""Of a digest, in a table."""
Used = tuple[str, str, Prompt]
"""A prompt's name, its workflow, and the version that a new session uses."""


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def prompts_command(name: str | None, as_json: bool) -> int:
    """List the prompts in use, or print one, to change it and try it by `--prompt NAME=FILE`.

    \b
    Examples:
      preflights prompts
      preflights prompts clarify > new.md
      preflights regress --prompt clarify=new.md
    """
    used = [
        (key, workflow.name, prompt(workflow.led.package, id_))
        for workflow in WORKFLOWS.installed()
        for key, id_ in workflow.led.prompts
    ]
    if name is not None:
        used = [_find_prompt(name, used)]
        if not as_json:
            sys.stdout.buffer.write(used[0][2].text.encode())  # byte by byte as it is sent
            return 0
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    rows = [_prompt_table_row(*one, whole=name is not None) for one in used]
    settings = load_settings(Path.cwd())
    asks = {"provider": settings.provider, "model": settings.model, "host": settings.host}
    voice.json({"format": "prompts/1", "prompts": rows, "asks": asks})
    if not as_json:
        streamed(
            ("name", "version", "workflow", "sha256"),
            ((key, one.id, workflow, one.sha256[:DIGITS]) for key, workflow, one in used),
        )
        if host := settings.host:
            who = f"{settings.provider} {settings.model}"
            voice.say(f"\nA new session sends them to {who} at {host}.")
    return 0


def _find_prompt(name: str, used: list[Used]) -> Used:
    """The prompt that is meant, by its name or version.

    Raises:
        Refused: none is called so, or several are.
    """
    found = [one for one in used if name in (one[0], one[2].id)]
    if len(found) == 1:
        return found[0]
    if found:
        versions = " or ".join(one[2].id for one in found)
        raise Refused(f"several prompts are called {name}: give {versions}", code="unknown_prompt")
    known = ", ".join(dict.fromkeys(one[0] for one in used))
    raise Refused(f"no prompt {name!r}: expected one of {known}", code="unknown_prompt")


def _prompt_table_row(name: str, workflow: str, found: Prompt, *, whole: bool) -> dict[str, str]:
    row = {"name": name, "version": found.id, "workflow": workflow, "sha256": found.sha256}
    return row | {"text": found.text} if whole else row
