"""`trust`: a person says that a repository's settings file may set what only its user may set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from preflights_cli.common import Voice, folder, is_terminal
from preflights_es.kernel.errors import Refused, SettingsError
from preflights_es.kernel.events import Evidence
from preflights_es.kernel.text import shown
from preflights_es.providers.capabilities import host_of
from preflights_es.settings import load
from preflights_es.settings.file import FileSettings, Key, Source, held_back
from preflights_es.settings.providers import key_receivers
from preflights_es.settings.signing import FILE as SIGNERS
from preflights_es.settings.signing import (
    AllowedSigner,
    allowed_signers,
    repository_lines,
)
from preflights_es.settings.trust import State, Trusted, hidden
from preflights_es.use.trust import trust

VALUE_MAX: Final = 300  # characters of a value: six of them fit on a terminal of 24 lines


@click.command()
@click.argument("file", required=False)
@click.option("--list", "lists", is_flag=True, help="List the files that are trusted.")
@click.option("--revoke", "revokes", is_flag=True, help="Stop trusting a file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; ask no question.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
def trust_command(file: str | None, lists: bool, revokes: bool, as_json: bool) -> int:
    """Trust the settings file of this repository, and its signers, as they are now.

    A repository's file may set project, database, actor, base_url, or a provider that takes a
    key, only when you trust it. So it is with .preflights/allowed_signers, whose keys prove who
    decided.
    When a file changes, you are asked again.

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
        message = "FILE goes with --revoke only: `trust` reads the files of the current folder"
        raise click.UsageError(message)
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    trusted = load.trusted_files()
    if revokes:
        _revoke(trusted, [Path(file)] if file is not None else _paths(), voice)
    elif not lists:
        _trust_here(trusted, voice)
    listed = trust(trusted)
    voice.json(listed)
    for one in listed.files if lists else ():
        voice.say(f"{one.state:<9}{shown(one.path)}")
    if lists and not listed.files:
        voice.say("No file is trusted.")
    return 0


def _trust_here(trusted: Trusted, voice: Voice) -> None:
    """Ask about each file here that needs trust."""
    told, root = load.repository_file(folder()), load.project_root(folder())
    brought = [one for name in LISTS if (one := repository_lines(root, name)) is not None]
    if told is None and not brought:
        raise Refused(NOTHING)
    if told is not None:
        _trust(told, trusted, voice)
    for source in brought:
        _trust_lines(source, trusted, voice)


LISTS: Final = (SIGNERS,)
NOTHING: Final = "there is no settings file in this folder or above it in the repository"


def _paths() -> list[Path]:
    """The files here that need trust, be they trusted or not."""
    told, root = load.repository_file(folder()), load.project_root(folder())
    found = [told.source.path] if told else []
    found += [root / name for name in LISTS if os.path.lexists(root / name)]
    if not found:
        raise Refused(NOTHING)
    return found


def _revoke(trusted: Trusted, files: Sequence[Path], voice: Voice) -> None:
    gone = [file for file in files if trusted.forget(file)]
    if not gone:
        message = f"{files[0]} is not trusted: `preflights trust --list` names those that are"
        raise Refused(message)
    for file in gone:
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
    refuse_others(f"{source.name} is not trusted", "trust it", voice)
    lines = [_line(source, key) for key in keys]
    voice.say(f"{path} sets:")
    for line in lines:
        voice.say(line)
    if (url := told.values.get("base_url")) is not None:
        voice.say(_receiver(told.values.get("provider"), url))
    _ask(source, trusted, state, voice)


def refuse_others(what: str, does: str, voice: Voice) -> None:
    """See that a person is there.

    Args:
        what: comes of it where none is.
        does: what only a person can do.

    Raises:
        Refused: an agent or a script is at work, or there is no terminal.
    """
    agent, variables = load.agent_seen()
    if variables:
        seen = Evidence(variables)
        message = f"{what}: {seen.set}, so an agent ({agent}) is at work"
        raise Refused(message, code="agent_at_work")
    if voice.as_json or not (is_terminal() and load.speaks_for_a_person()):
        raise Refused(f"{what}: only a person at a terminal can {does}")


def _ask(source: Source, trusted: Trusted, state: State, voice: Voice) -> None:
    if state == "changed":
        voice.say("The file changed since you trusted it.")
    if not click.confirm("Do you trust this file?"):
        raise Refused(f"{source.name} is not trusted")
    trusted.remember(source)
    voice.say("Trusted until the file changes.")


def _trust_lines(source: Source, trusted: Trusted, voice: Voice) -> None:
    """Ask about signers.

    Raises:
        Refused: the person says no, or no person is there to say yes.
        SettingsError: it does not fit on a screen, or a line is invalid.
    """
    path, state = shown(str(source.path)), trusted.state(source)
    if state == "trusted":
        voice.say(f"{path} is trusted already.")
        return
    lines = _signers(source)
    refuse_others(f"{source.name} is not trusted", "trust it", voice)
    voice.say(f"{path} names whose signatures count:")
    for line in lines or ["  nothing"]:
        voice.say(line)
    _ask(source, trusted, state, voice)


def _signers(source: Source) -> list[str]:
    lines = [_signer(one) for one in allowed_signers(source)]
    rows = sum(-(-len(line) // COLUMNS) for line in lines)
    if rows > ROWS_MAX:
        found = f"{SIGNERS} fills {rows:,} rows of a terminal, at most {ROWS_MAX} can be trusted"
        cure = "read it, and name a copy of your own with `git config --global"
        raise SettingsError(f"{found}: {cure} gpg.ssh.allowedSignersFile FILE`")
    return lines


def _signer(one: AllowedSigner) -> str:
    said = " ".join(filter(None, (one.principals, one.options, one.kind)))
    return f"  line {one.line:<3} {shown(said)} {one.fingerprint}"


COLUMNS: Final = 80
ROWS_MAX: Final = 18  # what a terminal of 24 lines shows with the question


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
