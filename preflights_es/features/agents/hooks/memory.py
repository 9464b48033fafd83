"""What the hooks of a conversation asked and told; it is only a help, never a fact.

It lies beside the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.system import files

FILE: Final = "hooks.json"
MEMORY_MAX: Final = 2_000_000  # bytes
EDITED_MAX: Final = 4_000_000  # bytes of a file that was edited
KEPT_LINES_MAX: Final = 20  # of one edit
DIGITS: Final = 16
CONVERSATIONS_MAX: Final = 200  # of which it is known what was asked; the newest stay


class AskedEdit(msgspec.Struct):
    """The edit about which the person was asked."""

    path: str
    lines: list[str]
    """Digests of lines that it adds, the first of them."""
    call: str = ""
    """The agent's own id of the call."""
    each: bool = False
    """Whether each edit is asked about."""


class Memory(msgspec.Struct):
    """What was asked, and where the log said the most."""

    asked: dict[str, dict[str, AskedEdit]] = {}
    """By the conversation: uids of decisions, and the edit about which the person was asked."""
    files: str = ""
    """The log and the folders of session files, when no file said more than the log."""


def read_hook_memory(folder: Path) -> Memory:
    """What is known; nothing where the file is missing or damaged."""
    return files.read_cache(folder / FILE, MEMORY_MAX, Memory) or Memory()


def remember(folder: Path, memory: Memory) -> None:
    """Write it; where that fails, it is found or asked again."""
    files.write_cache(folder / FILE, memory)


def has_asked(
    memory: Memory,
    conversation: str,
    about: Iterable[tuple[str, str, Iterable[str], bool]],
    call: str,
) -> None:
    """Note about which decisions and edits a person is asked in a conversation.

    Args:
        about: a decision's uid, the path of a file, the lines that are to be added to it, and
            whether each edit is asked about.
    """
    before = memory.asked.pop(conversation, {})
    new = {
        uid: AskedEdit(path, [*_digests(lines)][:KEPT_LINES_MAX], call, each)
        for uid, path, lines, each in about
    }
    memory.asked[conversation] = before | new
    for old in list(memory.asked)[:-CONVERSATIONS_MAX]:
        del memory.asked[old]


def find_agreed_decisions(
    memory: Memory, conversation: str, root: Path, call: str
) -> Iterator[str]:
    """Uids of decisions of which the agent was told, or the person let the edit happen.

    A file that lacks the lines shows that the person said no: then the same edit is asked about
    again. Where no path is known, asking once is enough; and an editor that runs the hooks of two
    agents asks about one call once.
    """
    for uid, one in memory.asked.get(conversation, {}).items():
        try:
            content = files.regular(root / one.path, EDITED_MAX) if one.path else b""
        except (OSError, ValueError, files.Unreadable):
            content = b""
        text = content.decode("utf-8", "replace")
        is_there = not one.path or {*one.lines} <= {*_digests(text.splitlines())}
        if (bool(call) and one.call == call) or (is_there and not one.each):
            yield uid


def _digests(lines: Iterable[str]) -> Iterator[str]:
    """Of lines that hold anything: what a file says is kept nowhere else."""
    for line in map(str.strip, lines):
        if line:
            yield sha256(line.encode("utf-8", "replace")).hexdigest()[:DIGITS]
