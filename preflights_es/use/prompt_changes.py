"""Prompts that are tried in place of a session's own: another version, or the text of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from preflights_es.kernel.completions import versions
from preflights_es.kernel.errors import Refused, SettingsError
from preflights_es.system.files import Unreadable, regular
from preflights_es.words.workflow import Workflow

Pairs = tuple[tuple[str, str], ...]

TEXT_MAX: Final = 1_000_000  # bytes of a prompt: more than any model reads at once
_VERSION: Final = re.compile(r"(?:[a-z_]+\.)?v[1-9][0-9]*")


class PromptChange(msgspec.Struct, frozen=True):
    """A prompt in place of the session's own."""

    name: str
    version: str = ""
    """`name.vN`; empty for that which a new session uses."""
    text: str = ""
    """What is tried in place of that version's words; empty where the file that ships is meant."""


def read_prompt_changes(pairs: Pairs, workflows: Sequence[Workflow[Any]]) -> Iterator[PromptChange]:
    """The changes that pairs of a name, and a version or a file, ask for.

    Args:
        pairs: a version may be written `v2` or whole.

    Raises:
        SettingsError: no workflow has such a prompt, or such a version of it; names those that
            exist.
        Refused: a file cannot be read.
    """
    names = [name for name, _ in pairs]
    for name, value in pairs:
        if names.count(name) > 1:
            raise SettingsError(f"the prompt {name} is named twice")
        packages = [one.led.package for one in workflows if name in dict(one.led.prompts)]
        if not packages:
            known = sorted({name for one in workflows for name, _ in one.led.prompts})
            expected = f"expected one of {', '.join(known)}" if known else "there is none"
            expected += "; words of another program's calls are changed with --workflow calls"
            raise SettingsError(f"no prompt {name!r}: {expected}")
        if not _VERSION.fullmatch(value):
            yield PromptChange(name, text=read_prompt_file(value))
            continue
        whole = value if "." in value else f"{name}.{value}"
        exist = sorted({one for package in packages for one in versions(package, name)})
        if whole not in exist:
            expected = f"expected one of {', '.join(exist)}, or a file"
            raise SettingsError(f"no version {value!r} of the prompt {name}: {expected}")
        yield PromptChange(name, version=whole)


def read_prompt_file(path: str, encoding: str = "utf-8") -> str:
    """The words of a file, which has some.

    Raises:
        Refused: it cannot be read, or is empty.
    """
    try:
        text = regular(Path(path), TEXT_MAX).decode(encoding)
    except UnicodeDecodeError as error:
        raise Refused(f"{path} cannot be read: it is no UTF-8") from error
    except (Unreadable, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{path} cannot be read: {why}") from error
    if not text.strip():
        raise Refused(f"{path} is empty: a prompt needs words")
    return text


def changed_versions(changes: Iterable[PromptChange], workflow: Workflow[Any]) -> Pairs:
    """Of prompts that a workflow has: pairs of name and version that is read from now on."""
    todays = dict(workflow.led.prompts)
    return tuple((p.name, p.version or todays[p.name]) for p in changes if p.name in todays)


def candidate_texts(changes: Iterable[PromptChange], workflow: Workflow[Any]) -> Pairs:
    """Pairs of a version, and the text that is tried in its place."""
    todays = dict(workflow.led.prompts)
    ours = (p for p in changes if p.text and p.name in todays)
    return tuple((p.version or todays[p.name], p.text) for p in ours)
