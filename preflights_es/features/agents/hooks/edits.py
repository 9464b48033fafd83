"""The lines that a tool of an agent is about to add, and the file to which it adds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from preflights_es.features.agents.hooks.agents import EDITING, plain
from preflights_es.system import files


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEW: Final = _words("""
    newstring newstr newtext newsource content contents filetext code codeedit
    """)
_OLD: Final = frozenset(("oldstring", "oldstr", "oldtext", "oldsource"))
_PATH: Final = frozenset(("filepath", "path", "targetfile", "notebookpath", "file"))
_WHOLE: Final = frozenset(("content", "contents", "filetext"))
"""Fields that hold the new text of a whole file."""
_PATCH: Final = "*** Begin Patch"
_FILE: Final = ("*** Update File: ", "*** Add File: ", "*** Move to: ")
FILE_MAX: Final = 4_000_000  # bytes of a file that is about to be replaced
DEPTH_MAX: Final = 4  # of lists and objects in the input of a tool


class Edit(msgspec.Struct, frozen=True):
    """What happens to one file."""

    path: str
    """As the agent says it; may be empty."""
    added: tuple[str, ...]
    """Lines that are new."""
    former: str
    """What stood in their place."""


def edits(tool: str, said: Any) -> Iterator[Edit]:
    """What a call of a tool does to files; nothing of a tool that edits none."""
    if plain(tool) not in EDITING:
        return
    if isinstance(said, str | list):
        said = {"input": said}
    if isinstance(said, dict):
        yield from _of(said, "", 0)


def _of(said: dict[str, Any], path: str, depth: int) -> Iterator[Edit]:
    texts = {plain(key): _joined(value) for key, value in said.items()}
    path = next((text for name, text in texts.items() if name in _PATH and text), path)
    for text in texts.values():
        if _PATCH in text:
            yield from _patched(text)
    for name in texts.keys() & _NEW:
        former = next((texts[old] for old in texts if old in _OLD), "")
        # One call replaces one whole file; a list of such calls would be read again and again.
        former = former or (_there(path) if name in _WHOLE and not depth else "")
        if texts[name] and _PATCH not in texts[name]:
            yield Edit(path, _new(texts[name].splitlines(), former.splitlines()), former)
    for value in said.values():
        for one in value if isinstance(value, list) and depth < DEPTH_MAX else ():
            if isinstance(one, dict):
                yield from _of(one, path, depth + 1)


def _joined(value: Any) -> str:
    """A text, or the lines of one."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return value if isinstance(value, str) else ""


def _there(path: str) -> str:
    """The text of a file that is about to be replaced; nothing where there is none."""
    try:
        content = files.regular(Path(path), FILE_MAX)
    except (OSError, ValueError, files.Unreadable):
        return ""
    return content.decode("utf-8", "replace")


def _patched(text: str) -> Iterator[Edit]:
    """Each file of a patch in the form of Codex."""
    path, added, former = "", list[str](), list[str]()
    for line in text.splitlines():
        if line.startswith(_FILE):
            if added:
                yield Edit(path, _new(added, former), "\n".join(former))
            path = line.partition(": ")[2].strip()
            added, former = [], []
        elif line.startswith("+"):
            added.append(line[1:])
        elif line.startswith(("-", " ")):
            former.append(line[1:])
    if added:
        yield Edit(path, _new(added, former), "\n".join(former))


def _new(added: Iterable[str], former: Iterable[str]) -> tuple[str, ...]:
    """Lines that stood nowhere before."""
    known = set(map(str.strip, former))
    return tuple(line for line in added if line.strip() not in known)
