"""`trust`: a person says that a repository's settings file may set what only its user may set."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from preflights_cli.common import Voice, folder, is_terminal
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Evidence
from preflights_es.kernel.text import shown
from preflights_es.providers.capabilities import host_of
from preflights_es.settings import load
from preflights_es.settings.file import FileSettings, Key, Source, held_back
from preflights_es.settings.providers import key_receivers
from preflights_es.settings.trust import Trusted, hidden
from preflights_es.use.trust import trust

VALUE_MAX: Final = 300  # characters of a value: six of them fit on a terminal of 24 lines


@click.command()
@click.argument("file", required=False)
@click.option("--list", "lists", is_flag=True, help="List the files that are trusted.")
@click.option("--revoke", "revokes", is_flag=True, help="Stop trusting a file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; ask no question.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
def trust_command(file: str | None, lists: bool, revokes: bool, as_json: bool) -> int:
    """Trust the settings file of this repository, as it is now.

    A repository's file may set project, database, actor, base_url, or a provider that takes a
    key, only when you trust it. When the file changes, you are asked again.

    \b
    Examples:
      preflights trust
      preflights trust --list
      preflights trust --revoke /home/ada/shop/preflights.toml
    """
    if lists and revokes:
        message = "give --list or --revoke, not both"
        raise click.UsageError(message)
    if file is not None and not revokes:
        message = "FILE goes with --revoke only: `trust` reads the file of the current folder"
        raise click.UsageError(message)
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    trusted = load.trusted_files()
    if revokes:
        _revoke(trusted, Path(file) if file is not None else _here().source.path, voice)
    elif not lists:
        _trust(_here(), trusted, voice)
    listed = trust(trusted)
    voice.json(listed)
    for one in listed.files if lists else ():
        voice.say(f"{one.state:<9}{shown(one.path)}")
    if lists and not listed.files:
        voice.say("No file is trusted.")
    return 0


def _here() -> FileSettings:
    if (told := load.repository_file(folder())) is None:
        raise Refused("there is no settings file in this folder or above it in the repository")
    return told


def _revoke(trusted: Trusted, file: Path, voice: Voice) -> None:
    if not trusted.forget(file):
        raise Refused(f"{file} is not trusted: `preflights trust --list` names those that are")
    voice.say(f"{shown(str(file))} is not trusted any more.")


def _trust(told: FileSettings, trusted: Trusted, voice: Voice) -> None:
    """Ask about what needs trust, unless it has it.

    Raises:
        Refused: the person says no, or no person is there to say yes.
        SettingsError: the file says what no trust allows.
    """
    source, keys = told.source, held_back(told)
    path = shown(str(source.path))
    if not keys:
        voice.say(f"{path} sets no key that needs trust.")
        return
    state = trusted.state(source)
    if state == "trusted":
        voice.say(f"{path} is trusted already.")
        return
    load.check_trustable(folder())
    agent, variables = load.agent_seen()
    if variables:
        seen = Evidence(variables)
        message = f"{source.name} is not trusted: {seen.set}, so an agent ({agent}) is at work"
        raise Refused(message, code="agent_at_work")
    if voice.as_json or not (is_terminal() and load.speaks_for_a_person()):
        raise Refused(f"{source.name} is not trusted: only a person at a terminal can trust it")
    lines = [_line(source, key) for key in keys]
    voice.say(f"{path} sets:")
    for line in lines:
        voice.say(line)
    if (url := told.values.get("base_url")) is not None:
        voice.say(_receiver(told.values.get("provider"), url))
    if state == "changed":
        voice.say("The file changed since you trusted it.")
    if not click.confirm("Do you trust this file?"):
        raise Refused(f"{source.name} is not trusted")
    trusted.remember(source)
    voice.say("Trusted until the file changes.")


def _line(source: Source, key: Key) -> str:
    """A key and its whole value: a person must see all that is trusted, on one screen.

    Raises:
        SettingsError: the value is too long for that.
    """
    value = shown(hidden(key.value) if key.name == "base_url" else key.value)
    if len(value) > VALUE_MAX:
        found = f"has {len(value):,} characters, at most {VALUE_MAX} can be trusted: shorten it"
        raise source.wrong((key.name,), found)
    quoted = value.replace('"', '\\"')
    return f'  line {key.line:<3} {key.name} = "{quoted}"'


def _receiver(provider: str | None, url: str) -> str:
    """Whose key the server of `base_url` gets."""
    try:
        names = key_receivers(provider, url)
    except ValueError as error:
        return f"No key is sent to that base_url: {error}."
    if not names:
        return f"No key is sent to that base_url: the provider {shown(str(provider))} takes none."
    return f"When you use {' or '.join(names)}, your key is sent to {host_of(url)}."
