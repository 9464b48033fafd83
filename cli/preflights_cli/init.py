"""`init`: files that make other programs use Preflights, and those that plans begin with."""

from __future__ import annotations

from typing import Final, get_args

import click

from preflights_cli.common import Voice, folder
from preflights_cli.main import EXIT_REFUSED
from preflights_es.core.text import shown_lines
from preflights_es.services.project_files import (
    Host,
    ProjectFile,
    ProjectFiles,
    ci_files,
    plan_files,
)
from preflights_es.settings.load import load_settings

SAID: Final = {
    "missing": "is missing",
    "current": "is up to date",
    "present": "is there, and stays as it is",
    "stale": "is of another version",
    "edited": "was edited, and stays as it is",
    "unclear": "has a shape that `init` does not change; add this yourself:",
}


@click.command()
@click.option(
    "--ci",
    "host",
    type=click.Choice(get_args(Host)),
    help="Replay recorded sessions on this host, and in pre-commit.",
)
@click.option("--plans", is_flag=True, help="Begin the documents that plans are made from.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is missing or stale.")
@click.option("--print", "prints", is_flag=True, help="Write nothing; print the files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/api.md).")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
def init_command(host: Host | None, plans: bool, check: bool, prints: bool, as_json: bool) -> int:
    """Write files into this repository: for a CI that replays its sessions, or for plans.

    You may edit the files of --ci: `init` writes only what is missing, and what an older version
    wrote and no person edited since. Of --plans it writes only what is missing: starters of the
    requirements, the constraints and the glossary.

    \b
    Examples:
      preflights init --ci github
      preflights init --ci github --check
      preflights init --plans
    """
    if not (host or plans):
        message = "say what to write: --ci github, or --plans"
        raise click.UsageError(message)
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    settings, writes = load_settings(folder()), not (check or prints)
    files = ci_files(settings, host, writes=writes).files if host else ()
    files += plan_files(settings, writes=writes).files if plans else ()
    done = ProjectFiles(files=files)
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
