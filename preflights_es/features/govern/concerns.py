"""What the decisions in force say of an edit: those of its place, and those of what it brings in.

A decision with paths concerns each edit of a file that they match. One without concerns what an
edit imports or installs, where it turned that down. Only a person's acceptance counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from preflights_es.kernel.ids import short
from preflights_es.kernel.reach import Hold, matched, specificity
from preflights_es.kernel.statements import turned_down
from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.settings.load import Settings
from preflights_es.use.decisions import decisions
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow

if TYPE_CHECKING:
    from preflights_es.features.govern.domain.imports import Used

NAMED_MAX: Final = 5  # decisions of which an edit is told at once
TEXT_MAX: Final = 80  # characters of a quoted value
BECAUSE_MAX: Final = 160  # characters of a quoted reason
NO_CATEGORY: Final = "Other"  # of a decision whose topic is a field of its own
_DATE: Final = len("2026-11-23")

Fields = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Names of fields, their values, and what was turned down."""
Change = tuple[str, str, str]
"""A file as an agent calls it, its new text or a part of it, and what stood there."""


class Concern(NamedTuple):
    """A decision in force, and what an edit has to do with it."""

    uid: str
    name: str
    """`ADR-0003`, or the end of the session's id."""
    hold: Hold
    line: str
    file: str
    """As the agent says it; empty where a command of a shell is concerned."""
    by_path: bool


def installs(command: str) -> bool:
    """Whether a command of a shell installs anything: most do not, and no log is opened then."""
    from preflights_es.features.govern.domain.imports import installed

    return bool(installed(command))


def edit_concerns(
    request: Request,
    changes: Sequence[Change],
    command: str,
    known: MutableMapping[str, Fields],
    passed: Iterable[str],
) -> tuple[Concern, ...]:
    """The decisions that changes of files or a command concern, the strongest and nearest first.

    Args:
        known: what decisions in force turned down, by session and version; it is kept up to date.
        passed: uids of decisions of which nothing more is to be said.
    """
    settings = request.process.settings
    places = [(path, _relative(path, settings)) for path, _, _ in changes]
    new, former = _brought_in(changes, command, settings)
    rows = [row for row in decisions(request) if row.imported_by is None]
    done = {*passed}
    found = [*_of_paths(request, rows, places, known, done)]
    if new:
        found += _of_imports(request, rows, new, former, known, done)
    return tuple(found[:NAMED_MAX])


# 1. By paths ----------------------------------------------------------------------------------


def _of_paths(
    request: Request,
    rows: Iterable[DecisionRow],
    places: Sequence[tuple[str, str]],
    known: MutableMapping[str, Fields],
    passed: set[str],
) -> list[Concern]:
    found = []
    for row in rows:
        for path, place in places if row.paths else ():
            pattern = matched(row.paths, place) if place else None
            if pattern is not None and (row.hold == "deny" or row.uid not in passed):
                rank = (STRENGTH.index(row.hold), -specificity(pattern))
                found.append((rank, row, pattern, path))
                break
    found.sort(key=lambda one: one[0])
    return [
        Concern(
            row.uid,
            _name(row),
            row.hold,
            _told(row, pattern, _fields(request, row, known)),
            path,
            True,
        )
        for _, row, pattern, path in found[:NAMED_MAX]
    ]


STRENGTH: Final[tuple[Hold, ...]] = ("deny", "ask", "tell")


def _told(row: DecisionRow, pattern: str, fields: Fields) -> str:
    """What is decided, why, and what was turned down."""
    values = ", ".join(f"{name}: {value}" for name, value in row.fields)
    because = f", because {_quoted(row.because.text, BECAUSE_MAX)}" if row.because else ""
    listed = (
        *(one.name for one in row.alternatives),
        *(o for _, _, others in fields for o in others),
    )
    others = [*dict.fromkeys(map(_quoted, listed))]
    instead = f". Turned down: {', '.join(others)}" if others else ""
    return f"{_who(row)} holds for {_quoted(pattern)}: {_quoted(values)}{because}{instead}."


# 2. By imports --------------------------------------------------------------------------------


def _of_imports(
    request: Request,
    rows: Sequence[DecisionRow],
    new: Sequence[tuple[Used, str]],
    former: Iterable[Used],
    known: MutableMapping[str, Fields],
    passed: set[str],
) -> Iterator[Concern]:
    """The first contradiction of each decision."""
    from preflights_es.features.govern.domain.products import named

    chosen = [value for row in rows for _, value in row.fields]
    before = [*former]
    files = dict(new)
    for row in rows:
        if row.paths or (row.uid in passed and row.hold != "deny"):
            continue
        for name, value, others in _fields(request, row, known):
            for option in others:
                one = named(option, files, chosen)
                if one is not None and named(option, before, chosen) is None:
                    line = _contradicted(row, name, value, option, files[one], request)
                    hold: Hold = "deny" if row.hold == "deny" else "ask"
                    yield Concern(row.uid, _name(row), hold, line, files[one], False)
                    break
            else:
                continue
            break
    _forget_others(rows, known)


def _contradicted(
    row: DecisionRow, name: str, value: str, option: str, file: str, request: Request
) -> str:
    category = "" if row.category == NO_CATEGORY else row.category
    place = _relative(file, request.process.settings) or file
    where = f"edit ({_quoted(place)})" if file else "command"
    return (
        f"{_who(row)} decided {_quoted(f'{category} {name}')}: {_quoted(value)}. "
        f"This {where} names {_quoted(option)}."
    )


def _brought_in(
    changes: Sequence[Change], command: str, settings: Settings
) -> tuple[list[tuple[Used, str]], set[Used]]:
    """What is new, with its file, and what the files used before."""
    from preflights_es.features.govern.domain.imports import installed, used

    new: list[tuple[Used, str]] = [(one, "") for one in sorted(installed(command))]
    before: set[Used] = set()
    for path, text, former in changes:
        place = _relative(path, settings) or path
        found = used(place, text)
        old = used(place, former) if found else frozenset()
        before |= old
        new += [
            (one, path) for one in sorted(found - old) if not _is_own(one, place, settings.root)
        ]
    return new, before


def _is_own(one: Used, place: str, root: Path) -> bool:
    """Whether a name is of the project itself, or of the language."""
    first = one.name.replace("::", ".").replace("/", ".").split(".")[0]
    if one.kind == "module" and place.endswith((".py", ".pyi", ".ipynb", ".rb")):
        if first in sys.stdlib_module_names and first not in _CHOSEN:
            return True
        beside = root / os.path.dirname(place)
        folders = {root, root / "src", *(() if (beside / "__init__.py").exists() else (beside,))}
        return any(
            (folder / f"{first}{end}").exists()
            for folder in folders
            for end in (".py", ".rb", "/__init__.py")
        ) or any(next((folder / first).glob("*.py"), None) for folder in folders)
    if one.kind == "jvm":
        return _package(place).startswith(".".join(one.name.split(".")[:2]))
    if one.kind == "address":
        return one.name.startswith(_first(root / "go.mod", "module ") or "\0")
    if one.kind == "package" and one.name.startswith("@"):
        own = _first(root / "package.json", '"name":').strip('"').partition("/")
        return bool(own[1]) and one.name.startswith(f"{own[0]}/")
    return False


_CHOSEN: Final = frozenset(("argparse", "asyncio", "logging", "sqlite3", "unittest"))
"""Modules of Python itself that stand for a choice between it and a package."""


def _package(place: str) -> str:
    """The package of a source file of the JVM, by its folders."""
    for folder in ("/java/", "/kotlin/", "/scala/"):
        if folder in f"/{place}":
            return os.path.dirname(f"/{place}".rpartition(folder)[2]).replace("/", ".")
    return ""


def _first(path: Path, key: str) -> str:
    """What stands behind a key in a line of a file; empty without."""
    from preflights_es.system import files

    try:
        text = files.regular(path, 1_000_000).decode("utf-8", "replace")
    except (OSError, ValueError, files.Unreadable):
        return ""
    found = (line.strip() for line in text.splitlines())
    return next((line[len(key) :].strip(" ,") for line in found if line.startswith(key)), "")


# 3. Decisions ---------------------------------------------------------------------------------


def _fields(request: Request, row: DecisionRow, known: MutableMapping[str, Fields]) -> Fields:
    """What a decision turned down; its session is folded once."""
    key = _key(row)
    if key not in known:
        at = request.at_files() if row.file else request
        assert at is not None, "a file has the row"
        handle = at.process.runner.load(row.session_id)
        record = handle.workflow.record and handle.workflow.record(handle.session.state)
        pairs = ((one, turned_down(record, one)) for one in record.fields) if record else ()
        known[key] = tuple((one.name, one.value, others) for one, others in pairs if others)
    return known[key]


def _key(row: DecisionRow) -> str:
    return f"{row.session_id}:{row.version}"


def _forget_others(rows: Iterable[DecisionRow], known: MutableMapping[str, Fields]) -> None:
    for key in known.keys() - {_key(row) for row in rows}:
        del known[key]


def _name(row: DecisionRow) -> str:
    return short(row.uid) if row.number is None else f"ADR-{row.number:04}"


def _who(row: DecisionRow) -> str:
    mark = " (file)" if row.file else ""
    return f"{_name(row)}{mark} of {(row.accepted_at or row.proposed_at)[:_DATE]}"


def _relative(path: str, settings: Settings) -> str:
    """A path from the root, with `/`; empty for a file elsewhere."""
    place = os.path.normpath(path.replace("\\", "/") or ".")
    if os.path.isabs(place):
        place = os.path.relpath(os.path.realpath(place), os.path.realpath(settings.root))
    place = place.replace("\\", "/")
    return "" if place.startswith("..") or place == "." else place


def _quoted(text: str, length: int = TEXT_MAX) -> str:
    return shortened(shown(one_line(text)), length)
