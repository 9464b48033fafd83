"""`init`: files that make other programs use Preflights, and those that plans begin with."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from shutil import which
from typing import Final, Literal, get_args

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, current_folder
from preflights_es.features.agents.agent_files import (
    AGENTS,
    PROGRAM,
    AgentName,
    agent_files,
    agents_found,
)
from preflights_es.features.agents.project_files import (
    Host,
    ProjectFile,
    ProjectFiles,
    ci_files,
    plan_files,
    repository_file,
)
from preflights_es.kernel.text import escaped_text, shown_lines
from preflights_es.settings.load import Settings, load_settings, record_places

_PATH_OF_OURS: Final = re.compile(r"[^\s\"'=]*[/\\]preflights(?:-es)?(?:\.exe)?(?=[\s\"'])")
_SERVER_OF_OURS: Final = re.compile(
    r"\bpreflights[\"']?\]?\s*:?\s*\{?[^{}\[\]]*?\bcommand[\"']?\s*[:=]\s*\[?\s*[\"']([^\"']+)"
)
"""The program of our entry in a file of servers, in JSON or in TOML."""
SAID: Final = {
    "current": "is up to date",
    "present": "is there, and stays as it is",
    "edited": "was edited, and stays as it is",
    "unclear": "has a shape that `init` does not change; add this yourself:",
}
NEXT: Final = "Commit these files, and restart the agent:"
NOTHING: Final = (
    "no coding agent is found here: name one (--agent claude), or say --ci github, or --plans"
)


@click.command()
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice([*AGENTS, "all"]),
    help="Let this coding agent use Preflights; may be repeated.",
)
@click.option(
    "--ci",
    "host",
    type=click.Choice(get_args(Host)),
    help="Replay recorded sessions in this CI, and in pre-commit.",
)
@click.option("--plans", is_flag=True, help="Write starters of the documents that plans read.")
@click.option("--print", "prints", is_flag=True, help="Write nothing; print the files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
def init_command(
    agents: tuple[str, ...], host: Host | None, plans: bool, prints: bool, as_json: bool
) -> int:
    """Write files into this repository: for coding agents, for a CI that replays, or for plans.

    Without an option it sets up the coding agents that this repository is used with: the server
    `preflights-es mcp`, hooks, and a block in AGENTS.md. Your own text and your edits stay.

    You may edit the files of --ci: `init` writes only what is missing, and what an older version
    wrote and no person edited since. Of --plans it writes only what is missing: starters of the
    requirements, the constraints and the glossary.

    \b
    Examples:
      preflights init --agent claude
      preflights init --ci github
      preflights init --plans
    """
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    settings, writes = load_settings(current_folder()), not prints
    named = tuple(name for name in AGENTS if name in agents or "all" in agents)
    named = named or (() if host or plans else agents_found(settings))
    if not (named or host or plans):
        raise click.UsageError(NOTHING)
    files = agent_files(settings, named, writes=writes).files if named else ()
    files += ci_files(settings, host, writes=writes).files if host else ()
    files += plan_files(settings, writes=writes).files if plans else ()
    files += (repository_file(settings),) if writes and (named or host) else ()
    done = ProjectFiles(files=files)
    voice.json(done)
    for file in done.files:
        _say_project_file(voice, file, prints=prints)
    if named and any(file.written for file in done.files):
        voice.hint(NEXT)
        voice.hint(f"  git add {shlex.join(_to_commit(settings, done.files))}")
    if named and not prints:
        _warn(voice)
    if host and any(file.written for file in done.files):
        _try(voice)
    return EXIT_REFUSED if any(f.state == "unclear" for f in done.files) and not prints else 0


def _to_commit(settings: Settings, files: Iterable[ProjectFile]) -> Iterator[str]:
    """Paths that git has something to add of: the records that were found, and what is ours."""
    records = record_places(settings).new
    if any((settings.root / records).glob("*")):
        yield records
    yield from (file.path for file in files if file.state != "unclear")


def _say_project_file(voice: Voice, file: ProjectFile, *, prints: bool) -> None:
    if prints:
        voice.say(f"# {file.path}\n{shown_lines(file.content)}", is_copied=True)
        return
    if file.written:
        voice.say(f"Wrote {file.path}.")
        return
    why = f"is left as it is: {escaped_text(file.why)}; add this yourself:"
    voice.say(f"{file.path} {why if file.why else SAID[file.state]}")
    if file.state == "unclear":
        voice.say(shown_lines(file.content), is_copied=True)


def _warn(voice: Voice) -> None:
    """What an agent will miss on this machine."""
    if which(PROGRAM) is None:
        voice.warn(f"`{PROGRAM}` is not on the PATH: agents do not find it")
    if find_spec("mcp") is None:
        from preflights_es.use.installed_source import command_with

        voice.warn(f"the server needs the extra `mcp`: `{command_with('mcp')}`")


def _try(voice: Voice) -> None:
    """See that CI can install what it is told."""
    from preflights_es.use.installed_source import find_install_source, tried

    requirement, trouble = find_install_source()
    if trouble := trouble or tried(requirement):
        voice.warn(
            f"CI cannot install {requirement!r}: {trouble}. Install Preflights from a repository "
            "that CI reads (uv tool install git+URL) and run this again, or edit that line"
        )


def agent_setup(
    settings: Settings,
) -> Iterator[tuple[AgentName, Literal["ok", "note", "wrong"], str, str]]:
    """How each agent of this repository is set up: its state, what was found, and the cure."""
    for agent in agents_found(settings):
        files = agent_files(settings, (agent,), writes=False).files
        cure = f"`preflights init --agent {agent}` writes what is missing"
        lacking = [file.path for file in files if file.state in ("missing", "stale")]
        unclear = [f"{file.path}: {file.why}" for file in files if file.state == "unclear"]
        edited = (file for file in files if file.state == "edited")
        lost = [*_lost_programs(settings, edited)]
        if len(lacking) == len(files):
            yield agent, "note", "seen, and not set up", cure
        elif unclear:
            yield agent, "wrong", "; ".join(unclear), "mend the file, then run `preflights init`"
        elif lost:
            yield agent, "wrong", "; ".join(lost), f"mend the path, or delete the entry: {cure}"
        elif lacking:
            found = f"not as this version writes it: {', '.join(lacking)}"
            yield agent, "wrong", found, cure
        elif find_spec("mcp") is None:
            from preflights_es.use.installed_source import command_with

            found = "its server needs the extra `mcp`"
            yield agent, "wrong", found, f"`{command_with('mcp')}`"
        elif which(PROGRAM) is None:
            found = f"its files start `{PROGRAM}`, which is not on the PATH"
            yield agent, "wrong", found, "add the folder of the program to PATH"
        else:
            yield agent, "ok", "set up", ""


def _lost_programs(settings: Settings, files: Iterable[ProjectFile]) -> Iterator[str]:
    """Files of an agent that start, in our place, a program that is not there."""
    for file in files:
        text = (settings.root / file.path).read_text("utf-8", "replace")
        named = (*_PATH_OF_OURS.findall(text), *_SERVER_OF_OURS.findall(text))
        for path in dict.fromkeys(named):
            is_sought = os.path.isabs(path) or not os.path.dirname(path)
            if is_sought and path != PROGRAM and which(path) is None:
                yield f"{file.path} starts {path}, which is not there"
