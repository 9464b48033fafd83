"""The answer to an agent before a call of a tool: what the call does to files or gives to a shell,
and what the hooks of this conversation asked before. The memory lies beside the log; it is a help,
never a fact.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.features.agents.hook_events import (
    EDITING,
    SHELLS,
    HookEvent,
    Output,
    is_attended,
    normalize_hook_name,
    output_before_edit,
)
from preflights_es.runtime.features import FEATURES
from preflights_es.system import files
from preflights_es.use.request import Request

_OLD: Final = frozenset(("oldstring", "oldstr", "oldtext", "oldsource"))
_PATH: Final = frozenset(("filepath", "path", "targetfile", "notebookpath", "file"))
_WHOLE: Final = frozenset(("content", "contents", "filetext"))
"""Fields that hold the new text of a whole file."""
_NEW: Final = _WHOLE | {"newstring", "newstr", "newtext", "newsource", "code", "codeedit"}
_PATCH: Final = "*** Begin Patch"
_FILE: Final = ("*** Update File: ", "*** Add File: ", "*** Move to: ", "*** Delete File: ")
FILE_MAX: Final = 4_000_000  # bytes of a file that is about to be changed
DEPTH_MAX: Final = 4  # of lists and objects in the input of a tool


class Edit(NamedTuple):
    """What happens to one file."""

    path: str
    """As the agent says it; may be empty."""
    text: str = ""
    """The whole file as it will be; where that is not known, the part that is new."""
    former: str = ""
    """The whole file as it is, or what stood in the place of the part."""
    added: tuple[str, ...] = ()
    """Lines that are new."""


def edits(tool: str, said: Any, folder: Path) -> list[Edit]:
    """What a call of a tool does to files; nothing of a tool that edits none.

    Args:
        folder: in which paths that are not absolute begin.
    """
    if normalize_hook_name(tool) in SHELLS:
        text = shell_command_of_call(tool, said)
        return [*_patched(text, folder)] if holds_patch(text) else []
    if normalize_hook_name(tool) not in EDITING:
        return []
    if isinstance(said, str | list):
        said = {"input": said}
    if not isinstance(said, dict):
        return []
    found = [*_find_edits_in_call(said, "", folder, 0)]
    return found or [Edit(path) for path in _paths(said) if path]


def shell_command_of_call(tool: str, said: Any) -> str:
    """What a call gives to a shell; empty for another tool."""
    if normalize_hook_name(tool) not in SHELLS:
        return ""
    given = said if isinstance(said, dict) else {"command": said}
    found = next((given[key] for key in ("command", "cmd", "script") if given.get(key)), "")
    if isinstance(found, list):  # `["bash", "-lc", "npm install x"]`, or the words of one
        words = [one for one in found if isinstance(one, str)]
        return words[-1] if words[1:2] in (["-lc"], ["-c"]) else " ".join(words)
    return found if isinstance(found, str) else ""


def holds_patch(text: str) -> bool:
    """Whether a text has edits in the form of Codex."""
    return _PATCH in text


def _paths(said: dict[str, Any]) -> list[str]:
    """Files of a call that tells no text: what is edited, or several."""
    listed = said.get("files")
    several = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    named = (value for key, value in said.items() if normalize_hook_name(key) in _PATH)
    return several or [*map(_joined, named)][:1]


def _find_edits_in_call(
    said: dict[str, Any], path: str, folder: Path, depth: int
) -> Iterator[Edit]:
    texts = {normalize_hook_name(key): _joined(value) for key, value in said.items()}
    path = next((text for name, text in texts.items() if name in _PATH and text), path)
    for text in texts.values():
        if _PATCH in text:
            yield from _patched(text, folder)
    for name in texts.keys() & _NEW:
        if texts[name] and _PATCH not in texts[name]:
            former = next((texts[old] for old in texts if old in _OLD), "")
            # One call changes one file; in a list of changes it would be read again and again.
            whole = _there(folder / path) if path and not depth else ""
            yield _edit(path, texts[name], former, whole, replaces=name in _WHOLE)
    for value in said.values():
        for one in value if isinstance(value, list) and depth < DEPTH_MAX else ():
            if isinstance(one, dict):
                yield from _find_edits_in_call(one, path, folder, depth + 1)


def _edit(path: str, new: str, former: str, whole: str, *, replaces: bool = False) -> Edit:
    """An edit as a whole, where the file has what it replaces."""
    if replaces:
        former = former or whole
    known = set(map(str.strip, former.splitlines()))
    added = tuple(line for line in new.splitlines() if line.strip() not in known)
    if not replaces and former and former in whole:
        return Edit(path, whole.replace(former, new, 1), whole, added)
    return Edit(path, new, former, added)


def _joined(value: Any) -> str:
    """A text, or the lines of one."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return value if isinstance(value, str) else ""


def _there(path: Path) -> str:
    """The text of a file that is about to be changed; nothing where there is none."""
    try:
        content = files.regular(path, FILE_MAX)
    except (OSError, ValueError, files.Unreadable):
        return ""
    return content.decode("utf-8", "replace")


def _patched(text: str, folder: Path) -> Iterator[Edit]:
    """Each part of a file in a patch in the form of Codex."""
    path, whole, added, former = "", "", list[str](), list[str]()
    for line in [*text.splitlines(), _FILE[0]]:
        is_file = line.startswith(_FILE)
        if (is_file or line.startswith("@@")) and (added or former):
            yield _edit(path, "\n".join(added), "\n".join(former), whole)
            added, former = [], []
        if is_file:
            path = line.partition(": ")[2].strip()
            whole = _there(folder / path) if path else ""
            if line.startswith(_FILE[-1]):
                yield Edit(path, "", whole)
        elif line.startswith(("+", " ")):
            added.append(line[1:])
            former += [line[1:]] if line[0] == " " else []
        elif line.startswith("-"):
            former.append(line[1:])


# What decisions say of it ------------------------------------------------------------------------


def before_edit(
    request: Request,
    agent: str,
    event: HookEvent,
    folder: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Output:
    """What decisions in force say of an edit, or of a command that installs something.

    A decision that tells does so once in a conversation. Where an edit brings in what was turned
    down, the person is asked once, and again as long as the file lacks the lines.
    """
    root = request.process.settings.root
    base = Path(event.cwd) if event.cwd else root
    found = edits(event.tool_name, event.tool_input, base)
    links = [(one, _follow_links_inside(base / one.path, root)) for one in found]
    found += [one._replace(path=led) for one, led in links if led]
    memory = read_hook_memory(folder)
    before = memory.files
    conversation = event.conversation or agent
    passed = find_agreed_decisions(memory, conversation, base, event.tool_use_id)
    changes = [(str(base / one.path) if one.path else "", one.text, one.former) for one in found]
    said = shell_command_of_call(event.tool_name, event.tool_input)
    concerns = FEATURES.port("edit_concerns")(request, changes, said, memory, passed=passed)
    if concerns:
        added = {file: one.added for (file, _, _), one in zip(changes, found, strict=True)}
        about = [_memory_of_concern(one, added.get(one.file, ())) for one in concerns]
        has_asked(memory, conversation, about, event.tool_use_id)
    if concerns or memory.files != before:
        remember(folder, memory)
    if not concerns:
        return {}
    reasons = "\n".join(one.line for one in concerns)
    reason = f"{reasons} `preflights why {concerns[0].decision}` says why it was decided."
    attended = is_attended(event, environment)
    return output_before_edit(agent, concerns[0].hold, reason, attended=attended)


def _follow_links_inside(path: Path, root: Path) -> str:
    """Where links within the repository lead a path; empty where none does."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    relative = os.path.relpath(real, top)
    plain = os.path.relpath(os.path.normpath(path), root)
    is_inside = not relative.startswith(os.pardir)
    return os.path.join(root, relative) if is_inside and relative != plain else ""


def _memory_of_concern(concern: Any, added: Iterable[str]) -> tuple[str, str, Iterable[str], bool]:
    """As it is remembered: what is told needs no line in the file to be over."""
    if concern.hold == "tell":
        return concern.uid, "", (), False
    return concern.uid, concern.file, added, concern.by_path


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
    for uid, path, lines, each in about:
        before[uid] = AskedEdit(path, [*_digests(lines)][:KEPT_LINES_MAX], call, each)
    memory.asked[conversation] = before
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
