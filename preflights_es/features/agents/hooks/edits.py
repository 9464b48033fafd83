"""Whether an edit names a product that a decision in force turned down.

What a person was asked about is remembered beside the log; it is only a help, never a fact.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.agents.hooks.events import EDITING, plain
from preflights_es.features.agents.hooks.products import (
    imported,
    is_list,
    is_meant,
    is_package,
    is_product,
    is_word,
    signs,
    squeezed,
)
from preflights_es.kernel.ids import short
from preflights_es.kernel.statements import against, turned_down
from preflights_es.kernel.text import late_pattern, one_line, shortened, shown
from preflights_es.settings.load import Settings
from preflights_es.system import files
from preflights_es.use.decisions import decisions
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow

NAMED_MAX: Final = 3  # decisions that one question names
LINES_MAX: Final = 2_000  # that name an option, and are read closely
TEXT_MAX: Final = 80  # characters of a quoted value
DATE: Final = len("2026-11-23")
NO_CATEGORY: Final = "Other"  # of a decision whose topic is a field of its own

PROSE: Final = (".md", ".mdx", ".rst", ".txt", ".adoc", ".svg", ".csv", ".tsv", ".po")
PAGES: Final = (".html", ".htm")  # prose, except what they load
GENERATED: Final = (".lock", ".sum", ".min.js", ".min.css", ".map", ".snap", ".ipynb")
LISTS: Final = frozenset(("package-lock.json", "pnpm-lock.yaml", "npm-shrinkwrap.json"))
_APART: Final = late_pattern(
    r"(?:^|/)(?:tests?|specs?|__tests__|fixtures|testdata|node_modules|vendor|third_party|\.git)/"
    r"|(?:^|/)(?:test_|conftest\.)[^/]*$|[._-](?:test|spec)s?\.[a-z]+$|(?:^|/)\.[a-z]*ignore$",
    2,  # re.IGNORECASE
)
"""Paths of files that name what is foreign on purpose: tests, code of others, lists of ignored."""
_SETTINGS: Final = late_pattern(r"(?:^|/)(\w+)\.config\.[cm]?[jt]s$")
_COMMENT: Final = late_pattern(r"\s*(?:#(?!include|!)|//|/\*|\*(?:\s|/)|--\s|<!--|;|%|'''|\"\"\")")
_QUOTED: Final = late_pattern(r"([\"'`])((?:(?!\1).)*)\1")
_SENTENCE: Final = late_pattern(
    r"\b(?:the|of|was|were|are|our|your|we|you|der|die|das|den|dem|ein|eine|und|von|ist|nicht)\b", 2
)
"""Words of sentences that stand in no command, no query and no address."""
_TAKEN: Final = late_pattern(
    r"\b(?:not?|no longer|never|without|instead of|rather than|unlike|versus|vs|replac\w+|remov\w+|"
    r"drop\w*|uninstall|deprecat\w+|legacy|former\w*|migrat\w+|moved? (?:away )?from|away from|"
    r"switch\w* from|compar\w+|forbid\w*|den(?:y|ied)|exclud\w+|disallow\w*|ban(?:s|ned)?)\b",
    2,
)
"""Words that take away what stands in their line."""
_OLD: Final = frozenset(("oldstring", "oldstr", "oldtext", "oldsource"))
_PATH: Final = frozenset(("filepath", "path", "targetfile", "notebookpath", "file"))
_WHOLE: Final = frozenset(("content", "contents", "filetext"))
"""Fields that hold the new text of a whole file."""
_NEW: Final = _WHOLE | {"newstring", "newstr", "newtext", "newsource", "code", "codeedit"}
_PATCH: Final = "*** Begin Patch"
_FILE: Final = ("*** Update File: ", "*** Add File: ", "*** Move to: ")
FILE_MAX: Final = 4_000_000  # bytes of a file that is about to be replaced
DEPTH_MAX: Final = 4  # of lists and objects in the input of a tool

FILE: Final = "hooks.json"
MEMORY_MAX: Final = 2_000_000  # bytes
EDITED_MAX: Final = 4_000_000  # bytes of a file that was edited
KEPT_LINES_MAX: Final = 20  # of one edit
DIGITS: Final = 16
CONVERSATIONS_MAX: Final = 200  # of which it is known what was asked; the newest stay


class TurnedDown(msgspec.Struct, frozen=True, array_like=True):
    """One value of a decision in force, and the products that were not chosen."""

    name: str
    value: str
    others: tuple[str, ...]


class Rule(msgspec.Struct, frozen=True):
    """A decision in force, as edits are held against it."""

    uid: str
    name: str
    """`ADR-0003`, or the end of the session's id."""
    date: str
    category: str
    fields: tuple[TurnedDown, ...]
    mark: str
    """Behind its name: where only a session file holds it."""


class Contradiction(msgspec.Struct, frozen=True):
    """What an edit names, and the decision that has something else."""

    rule: Rule
    field: TurnedDown
    option: str
    path: str
    """Of the file, as people call it."""
    file: str
    """The same, as the agent says it."""

    @property
    def reason(self) -> str:
        """What the person is told."""
        category = "" if self.rule.category == NO_CATEGORY else self.rule.category
        field = _quoted(f"{category} {self.field.name}")
        where = f" ({_quoted(self.path)})" if self.path else ""
        return (
            f"{self.rule.name}{self.rule.mark} of {self.rule.date} decided {field}: "
            f"{_quoted(self.field.value)}. This edit{where} names {_quoted(self.option)}."
        )


def contradictions(
    request: Request, edits: Iterable[Edit], memory: Memory, asked: Iterable[str]
) -> tuple[Contradiction, ...]:
    """The first contradiction of each decision that edits contradict.

    Args:
        asked: uids of decisions about which the person agreed before.
    """
    settings = request.process.settings
    looked = [one for one in edits if one.added and not _is_apart(one.path, settings)]
    if not looked:
        return ()
    looked = [_with_its_tool(edit) for edit in looked]
    texts = [(edit, "\n".join(edit.added).casefold()) for edit in looked]
    known = set(asked)
    rules = _rules(request, memory)
    chosen = " ".join(field.value for rule in rules for field in rule.fields).casefold()
    found = (_first(rule, texts, chosen, settings) for rule in rules if rule.uid not in known)
    return tuple(one for one in found if one is not None)[:NAMED_MAX]


def _with_its_tool(edit: Edit) -> Edit:
    """A new file of settings, such as `webpack.config.js`, names what it is for."""
    found = None if edit.former else _SETTINGS.search(edit.path)
    return replace(edit, added=(*edit.added, f"import {found[1]}")) if found else edit


def _first(
    rule: Rule, texts: list[tuple[Edit, str]], chosen: str, settings: Settings
) -> Contradiction | None:
    for field in rule.fields:
        words = signs(field.others)
        for edit, whole in texts:
            if not any(word in whole for word in words):
                continue  # so it is with most, whatever their length
            for option in _named(field, edit, (*words, *signs((field.value,)))):
                # Another decision has it, or the project itself a module of that name.
                if not _has(chosen, option) and not _is_own(option, edit, settings):
                    return Contradiction(
                        rule, field, option, _relative(edit.path, settings), edit.path
                    )
    return None


def _named(field: TurnedDown, edit: Edit, words: tuple[str, ...]) -> Iterator[str]:
    """Options that the added lines name, and the former text did not."""
    naming = (line for line in edit.added if any(word in line.casefold() for word in words))
    lines = [*islice(naming, LINES_MAX)]
    texts = tuple(("", text) for text in _told(lines, edit.path, (*field.others, field.value)))
    whole = "\n".join(text for _, text in texts).casefold()
    former = edit.former.casefold()
    for option, _ in against(texts, whole, field):
        if not _has(former, option) and is_meant(option, lines, edit.path):
            yield option


def _has(text: str, option: str) -> bool:
    """Whether a text in lower case has an option as a word."""
    return re.search(rf"(?<![a-z]){re.escape(option.casefold())}(?![a-z])", text) is not None


def _is_own(option: str, edit: Edit, settings: Settings) -> bool:
    """Whether a word is a module of the project, beside the file or at the root."""
    if not is_word(option) or is_list(edit.path):
        return False
    root = settings.root
    own = root / os.path.dirname(_relative(edit.path, settings))
    return any(
        squeezed(PurePath(name).stem) == squeezed(option)
        for folder in {root, root / "src", own}
        if folder.is_dir()
        for name in os.listdir(folder)
    )


def _told(lines: Iterable[str], path: str, options: Iterable[str]) -> Iterator[str]:
    """What lines use: no comment, no sentence, nothing that is taken away; options as packages."""
    names = {squeezed(option): option for option in options}
    for line in lines:
        bare = line.strip()
        if bare and not _COMMENT.match(bare) and not _TAKEN.search(bare):
            if not path.endswith(PAGES):
                # In prose a word alone on its line is a name; in code it is a variable.
                yield f"{_QUOTED.sub(_unless_sentence, bare)} ."
            for package in imported(bare, path):
                yield names.get(squeezed(package), package)


def _unless_sentence(quoted: re.Match[str]) -> str:
    text = quoted[2]
    return "" if "://" not in text and _SENTENCE.search(text) else quoted[0]


def _is_apart(path: str, settings: Settings) -> bool:
    """Whether a file is no code of the project: prose, a list that a tool writes, a test."""
    place = _relative(path, settings)
    name = PurePath(place).name.casefold()
    if (
        name in LISTS
        or (name.endswith((*PROSE, *GENERATED)) and not is_list(place))
        or _APART.search(place)
    ):
        return True
    folders = (settings.decisions, settings.tasks, ".preflights")
    return any(place.startswith(f"{folder}/") for folder in folders)


def _relative(path: str, settings: Settings) -> str:
    place = path
    if os.path.isabs(path):
        place = os.path.relpath(os.path.normpath(path), settings.root)
    return place.replace("\\", "/").removeprefix("./")


# 1. The decisions ---------------------------------------------------------------------------------


def _rules(request: Request, memory: Memory) -> list[Rule]:
    """The decisions in force that turned down a product; what a session says is kept."""
    found = []
    kept = {}
    for row in decisions(request):
        if row.imported_by is not None:
            continue  # by an agent: a person has not confirmed it
        key = f"{row.session_id}:{row.version}"
        fields = memory.turned.get(key)
        if fields is None:
            fields = tuple(one for one in _fields(request, row) if one.others)
        kept[key] = fields
        if fields:
            name = short(row.uid) if row.number is None else f"ADR-{row.number:04}"
            date = (row.accepted_at or row.proposed_at)[:DATE]
            mark = " (file)" if row.file else ""
            found.append(Rule(row.uid, name, date, row.category, fields, mark))
    memory.turned = kept
    return found


def _fields(request: Request, row: DecisionRow) -> Iterator[TurnedDown]:
    handle = request.reading.load(row)
    if handle.workflow.record is None:
        return
    record = handle.workflow.record(handle.session.state)
    for one in record.fields:
        others = (o for o in turned_down(record, one) if is_product(o) or is_package(o))
        yield TurnedDown(one.name, one.value, tuple(others))


def _quoted(text: str) -> str:
    return shortened(shown(one_line(text)), TEXT_MAX)


# 2. Edits -----------------------------------------------------------------------------------------


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


# 3. What is remembered ----------------------------------------------------------------------------


class AskedEdit(msgspec.Struct):
    """The edit about which the person was asked."""

    path: str
    lines: list[str]
    """Digests of lines that it adds, the first of them."""
    call: str = ""
    """The agent's own id of the call."""


class Memory(msgspec.Struct):
    """What was asked, and what decisions turned down."""

    asked: dict[str, dict[str, AskedEdit]] = {}
    """By the conversation: uids of decisions, and the edit about which the person was asked."""
    turned: dict[str, tuple[TurnedDown, ...]] = {}
    """By session and version of a decision in force."""


def remembered(folder: Path) -> Memory:
    """What is known; nothing where the file is missing or damaged."""
    try:
        content = files.regular(folder / FILE, MEMORY_MAX, follows=False)
        return msgspec.json.decode(content, type=Memory)
    except (OSError, files.Unreadable, msgspec.DecodeError, RecursionError):
        return Memory()


def remember(folder: Path, memory: Memory) -> None:
    """Write it; where that fails, it is found or asked again."""
    content = msgspec.json.encode(memory)
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # a clone may have no log yet
        with (
            files.opened(folder) as here,
            here.new(FILE, replacing=True, mode=0o600) as file,
        ):
            file.write(content)


def forget(folder: Path) -> None:
    """Leave nothing of what decisions say: one of them was erased."""
    memory = remembered(folder)
    if memory.turned:
        memory.turned = {}
        remember(folder, memory)


def has_asked(
    memory: Memory, conversation: str, about: Iterable[tuple[str, str, Iterable[str]]], call: str
) -> None:
    """Note about which decisions and edits a person is asked in a conversation.

    Args:
        about: a decision's uid, the path of a file, and the lines that are to be added to it.
    """
    before = memory.asked.pop(conversation, {})
    new = {
        uid: AskedEdit(path, [*_digests(lines)][:KEPT_LINES_MAX], call)
        for uid, path, lines in about
    }
    memory.asked[conversation] = before | new
    for old in list(memory.asked)[:-CONVERSATIONS_MAX]:
        del memory.asked[old]


def agreed(memory: Memory, conversation: str, root: Path, call: str) -> Iterator[str]:
    """Uids of decisions about which the person was asked, and let the edit happen.

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
        is_this = bool(call) and one.call == call
        if is_this or not one.path or {*one.lines} <= {*_digests(text.splitlines())}:
            yield uid


def _digests(lines: Iterable[str]) -> Iterator[str]:
    """Of lines that hold anything: what a file says is kept nowhere else."""
    for line in map(str.strip, lines):
        if line:
            yield sha256(line.encode("utf-8", "replace")).hexdigest()[:DIGITS]
