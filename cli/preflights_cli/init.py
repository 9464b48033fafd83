"""`init`: files that make other programs use Preflights."""

from __future__ import annotations

from typing import Final, get_args

import click

from preflights_cli.common import Voice, folder
from preflights_cli.main import EXIT_REFUSED
from preflights_es.core.text import shown_lines
from preflights_es.services.project_files import Host, ProjectFile, ci_files
from preflights_es.settings.load import load_settings

SAID: Final = {
    "missing": "is missing",
    "current": "is up to date",
    "stale": "is of another version",
    "edited": "was edited, and stays as it is",
    "unclear": "has a shape that `init` does not change; add this yourself:",
}


@click.command()
@click.option(
    "--ci",
    "host",
    type=click.Choice(get_args(Host)),
    required=True,
    help="Replay recorded sessions on this host, and in pre-commit.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is missing or stale.")
@click.option("--print", "prints", is_flag=True, help="Write nothing; print the files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/api.md).")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
def init_command(host: Host, check: bool, prints: bool, as_json: bool) -> int:
    """Write the files that make a host replay the sessions of this repository.

    You may edit these files: `init` writes only what is missing, and what an older version wrote
    and no person edited since.

    \b
    Examples:
      preflights init --ci github
      preflights init --ci github --check
    """
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    done = ci_files(load_settings(folder()), host, writes=not (check or prints))
    voice.json(done)
    for file in done.files:
        _say(voice, file, prints=prints)
    is_behind = any(f.state == "unclear" or _is_owed(f) for f in done.files)
    return EXIT_REFUSED if is_behind and not prints else 0


def _is_owed(file: ProjectFile) -> bool:
    return file.state in ("missing", "stale") and not file.written


def _say(voice: Voice, file: ProjectFile, *, prints: bool) -> None:
    if prints:
        voice.say(f"# {file.path}\n{shown_lines(file.content)}")
        return
    voice.say(f"Wrote {file.path}." if file.written else f"{file.path} {SAID[file.state]}")
    if file.state == "unclear":
        voice.say(shown_lines(file.content))
