"""What hooks remember between their calls, beside the log; only a help, never a fact."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.system import atomic_file, bounded_read

FILE: Final = "hooks.json"
FILE_MAX: Final = 2_000_000  # bytes
CONVERSATIONS_MAX: Final = 200  # of which it is known what was asked; the newest stay

Field = tuple[str, str, tuple[str, ...]]
"""Name, value, and the products that were turned down."""


class Memory(msgspec.Struct):
    """What was asked, and what decisions turned down."""

    asked: dict[str, list[str]] = {}
    """By the conversation: uids of decisions about which the person was asked in it."""
    turned: dict[str, tuple[Field, ...]] = {}
    """By session and version of a decision in force."""


def remembered(folder: Path) -> Memory:
    """What is known; nothing where the file is missing or damaged."""
    try:
        content = bounded_read.regular(folder / FILE, FILE_MAX, follows=False)
        return msgspec.json.decode(content, type=Memory)
    except (OSError, bounded_read.Unreadable, msgspec.DecodeError, RecursionError):
        return Memory()


def remember(folder: Path, memory: Memory) -> None:
    """Write it; where that fails, it is found or asked again."""
    content = msgspec.json.encode(memory)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # a clone may have no log yet
        with (
            atomic_file.opened(folder) as here,
            here.new(FILE, replacing=True, mode=0o600) as file,
        ):
            file.write(content)


def forget(folder: Path) -> None:
    """Leave nothing of what decisions say: one of them was erased."""
    memory = remembered(folder)
    if memory.turned:
        memory.turned = {}
        remember(folder, memory)


def has_asked(memory: Memory, conversation: str, uids: Iterable[str]) -> None:
    """Note about which decisions a person is asked in a conversation."""
    before = memory.asked.pop(conversation, [])
    memory.asked[conversation] = [*before, *uids]
    for old in list(memory.asked)[:-CONVERSATIONS_MAX]:
        del memory.asked[old]
