"""Whether an edit names a product that a decision in force turned down."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePath
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.agents.hooks.edits import Edit
from preflights_es.features.agents.hooks.memory import Memory
from preflights_es.features.agents.hooks.packages import imported, is_list, squeezed
from preflights_es.features.agents.hooks.products import (
    is_meant,
    is_package,
    is_product,
    is_word,
    signs,
)
from preflights_es.kernel.ids import short
from preflights_es.kernel.statements import against, turned_down
from preflights_es.kernel.text import late_pattern, one_line, shortened, shown
from preflights_es.settings.load import Settings
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


class Turned(msgspec.Struct, frozen=True):
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
    fields: tuple[Turned, ...]
    mark: str
    """Behind its name: where only a session file holds it."""


class Contradiction(msgspec.Struct, frozen=True):
    """What an edit names, and the decision that has something else."""

    rule: Rule
    field: Turned
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


def _named(field: Turned, edit: Edit, words: tuple[str, ...]) -> Iterator[str]:
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
    beside = root / os.path.dirname(_relative(edit.path, settings))
    return any(
        squeezed(PurePath(name).stem) == squeezed(option)
        for folder in {root, root / "src", beside}
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


# The decisions -------------------------------------------------------------------------------


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
            fields = tuple(
                (one.name, one.value, one.others) for one in _fields(request, row) if one.others
            )
        kept[key] = fields
        if fields:
            name = short(row.uid) if row.number is None else f"ADR-{row.number:04}"
            date = (row.accepted_at or row.proposed_at)[:DATE]
            turned = tuple(Turned(*field) for field in fields)
            mark = " (file)" if row.file else ""
            found.append(Rule(row.uid, name, date, row.category, turned, mark))
    memory.turned = kept
    return found


def _fields(request: Request, row: DecisionRow) -> Iterator[Turned]:
    at = request.at_files() if row.file else request
    assert at is not None, "a file has the row"
    handle = at.process.runner.load(row.session_id)
    if handle.workflow.record is None:
        return
    record = handle.workflow.record(handle.session.state)
    for one in record.fields:
        others = (o for o in turned_down(record, one) if is_product(o) or is_package(o))
        yield Turned(one.name, one.value, tuple(others))


def _quoted(text: str) -> str:
    return shortened(shown(one_line(text)), TEXT_MAX)
