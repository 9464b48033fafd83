"""What the decisions in force say of an edit: those of its place, and those of what it brings in.

A decision with paths concerns each edit of a file that they match. What an edit imports or installs
concerns the decision that turned it down. Only a person's acceptance counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.projections.projection import decode_projected_value
from preflights_es.use.request import Request
from preflights_es.use.work_tree import WorkTree
from preflights_es.words.decisions import Hold, Reach, list_superseded
from preflights_es.words.path_patterns import specificity

if TYPE_CHECKING:
    from preflights_es.features.govern.domain.imports import UsedName
    from preflights_es.features.govern.gate import Row
    from preflights_es.use.process import Process
    from preflights_es.use.results import DecisionRow

NAMED_MAX: Final = 5  # decisions of which an edit is told at once
TEXT_MAX: Final = 80  # characters of a quoted value
_DIGITS: Final = 16
STRENGTH: Final[tuple[Hold, ...]] = ("deny", "ask", "tell")

Change = tuple[str, str, str]
"""A file as an agent calls it, its new text or a part of it, and what stood there."""


class ConcernMemory(Protocol):
    """What is remembered from one edit to the next, so that it need not be looked at again."""

    files: str
    """The log and the folders of session files, when no file said more than the log."""


class Concern(NamedTuple):
    """A decision in force, and what an edit has to do with it."""

    uid: str
    """What is remembered of it, so that it is said once."""
    decision: str
    """Its id or path, as `why` takes it."""
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
    known: ConcernMemory,
    passed: Iterable[str],
) -> tuple[Concern, ...]:
    """The decisions that changes of files or a command concern, the strongest and nearest first.

    Args:
        known: it is kept up to date.
        passed: uids of decisions of which nothing more is to be said.
    """
    root = request.process.settings.root
    places = [(path, _relative(path, root)) for path, _, _ in changes]
    rows, done = _read_decisions_in_force(request, known), {*passed}
    found = [*_of_paths(request, rows, places, done)]
    new, former = _find_new_uses(changes, command, root)
    if new:
        found = [*_of_imports(request, rows, new, former, passed=done), *found]
    found.sort(key=lambda one: STRENGTH.index(one.hold))
    return tuple(found[:NAMED_MAX])


# 1. Decisions ---------------------------------------------------------------------------------


class _DecisionSummary(msgspec.Struct, frozen=True):
    """What of a kept decision is looked at first.

    A hook waits for it: the whole of 500 decisions takes as long to decode as all else.
    """

    uid: str
    reach: Reach = Reach()


class _AcceptedDecision(msgspec.Struct, frozen=True):
    """A decision in force that a person accepted."""

    session_id: str
    said: _DecisionSummary
    row: dict[str, Any]
    """Of the projection."""
    file: str | None = None

    def whole(self) -> DecisionRow:
        """As lists have it."""
        from preflights_es.projections.decisions import decode_patch_row
        from preflights_es.use.results import DecisionRow

        return replace(DecisionRow.of(decode_patch_row(self.row)), file=self.file)


def _read_decisions_in_force(request: Request, known: ConcernMemory) -> list[_AcceptedDecision]:
    """Those of the log, and of session files where these say more than it."""
    process = request.process
    stamp = f"{process.log_id()} {process.session_folders.stamp()}"
    if known.files == stamp:
        return [*_projected_decisions_in_force(process)]
    rows = [*request.reading.rows(_projected_decisions_in_force)]
    known.files = stamp if process.file_log.is_empty else ""
    return rows


def _projected_decisions_in_force(process: Process) -> Iterator[_AcceptedDecision]:
    return _projected_decisions(process, "in_force")


def _projected_superseded_decisions(process: Process) -> Iterator[_AcceptedDecision]:
    return _projected_decisions(process, "all")


def _projected_decisions(
    process: Process, which: Literal["in_force", "all"]
) -> Iterator[_AcceptedDecision]:
    """Those in force, or of all those that were superseded."""
    for row in process.projector.rows("decisions", process.project, which, INT_MAX):
        is_over = row["superseded_at"] is not None
        if row["accepted_at"] is not None and is_over == (which == "all"):
            said = decode_projected_value("decisions", row, "decided", _DecisionSummary)
            yield _AcceptedDecision(row["session_id"], said, row)


# 2. By paths ----------------------------------------------------------------------------------


def _of_paths(
    request: Request,
    rows: Iterable[_AcceptedDecision],
    places: Sequence[tuple[str, str]],
    passed: set[str],
) -> Iterator[Concern]:
    tree = WorkTree(request.process.settings.root)
    found = []
    for row in rows:
        reach = row.said.reach
        if row.said.uid in passed and reach.hold != "deny":
            continue  # before its patterns are compiled, which costs as much as all else
        for path, place in places if reach.paths else ():
            if pattern := tree.matched(reach.paths, place) if place else "":
                rank = (STRENGTH.index(reach.hold), -specificity(pattern))
                found.append((rank, row, pattern, path))
                break
    found.sort(key=lambda each: each[0])
    for _, one, pattern, path in found[:NAMED_MAX]:
        from preflights_es.use.holding import as_held, describe_holding_decision

        held = as_held(one.whole(), pattern)
        mark = " (file)" if one.file else ""
        name = f"{held.name}{mark} for {_shorten_concern_text(pattern)}"
        line = describe_holding_decision(replace(held, name=name))
        uid, hold = one.said.uid, one.said.reach.hold
        yield Concern(uid, uid, hold, f"{line}.", file=path, by_path=True)


# 3. By imports --------------------------------------------------------------------------------


def _of_imports(
    request: Request,
    rows: Sequence[_AcceptedDecision],
    new: Mapping[UsedName, str],
    former: Iterable[UsedName],
    passed: set[str],
) -> Iterator[Concern]:
    """The first of each decision that turned down what an edit brings in.

    It is said although the agent was told of the decision before.
    """
    from preflights_es.features.govern.domain.products import find_option_use
    from preflights_es.features.govern.gate import barred, find_barred_uses
    from preflights_es.use.results import DecisionRow
    from preflights_es.use.turned_down import describe_turned_down

    tree, before = WorkTree(request.process.settings.root), [*former]
    in_force, others = _read_whole_decisions(request, rows)
    done = {*passed}
    for one, names in find_barred_uses(barred(in_force, others), new, in_force):
        row = one.row
        # What is remembered of it holds no word of the decision.
        key = sha256(f"{one.name} {one.what.name}".encode("utf-8", "replace")).hexdigest()
        uid = key[:_DIGITS]
        hold: Hold = "ask" if row.hold == "tell" and not row.paths else row.hold
        if uid in done and hold != "deny":
            continue
        files = ((new[name], name) for name in names)
        here = [
            (file, name)
            for file, name in files
            if not row.paths or tree.matched(row.paths, _relative(file, tree.root) or "\0")
        ]
        if here and find_option_use(one.what.name, before, ()) is None:
            file, name = here[0]
            done.add(uid)
            place = _shorten_concern_text(_relative(file, tree.root) or file)
            where = f"edit ({place})" if file else "command"
            mark = " (file)" if row.file else ""
            use = f"This {where} uses it ({_shorten_concern_text(name.name)})"
            line = f"{describe_turned_down(row, one.what, mark)}. {use}."
            decision = row.uid if isinstance(row, DecisionRow) else row.path
            yield Concern(uid, decision, hold, line, file=file, by_path=False)


def _read_whole_decisions(
    request: Request, rows: Sequence[_AcceptedDecision]
) -> tuple[list[Row], list[Row]]:
    """The decisions and records in force, and those that were superseded."""
    from preflights_es.use.decisions import records_beside

    own = [one.whole() for one in rows]
    records = records_beside(request, everything=True).rows
    others: list[Row] = [one for one in records if one.status == "superseded"]
    if any(map(list_superseded, own)):
        others += [one.whole() for one in request.reading.rows(_projected_superseded_decisions)]
    return [*own, *(one for one in records if one.is_held)], others


def _find_new_uses(
    changes: Sequence[Change], command: str, root: Path
) -> tuple[dict[UsedName, str], set[UsedName]]:
    """What is new, with its file, and what the files used before."""
    from preflights_es.features.govern.domain.imports import installed, used

    new = dict.fromkeys(sorted(installed(command)), "")
    before: set[UsedName] = set()
    for path, text, former in changes:
        place = _relative(path, root) or path
        found = used(place, text)
        old = used(place, former) if found else frozenset()
        before |= old
        new |= {one: path for one in sorted(found - old) if not is_own(one, place, root)}
    return new, before


def is_own(one: UsedName, place: str, root: Path) -> bool:
    """Whether a name is of the project itself, or of the language."""
    first = one.name.replace("::", ".").replace("/", ".").split(".")[0]
    if one.kind == "module" and PurePosixPath(place).suffix in _OF_MODULES:
        if first in sys.stdlib_module_names and first not in _CHOSEN:
            return True
        rest = one.name.replace("::", ".").replace("/", ".").split(".")[1:2]
        return any(_holds_module(folder, first, rest) for folder in _import_roots(root, place))
    if one.kind == "jvm":
        return f"{package_of_source(place)}.".startswith(".".join((*one.name.split(".")[:2], "")))
    if one.kind == "address" and not place.endswith("go.mod"):  # which names no module of its own
        own = _read_value_behind_key(root / "go.mod", "module ")
        return bool(own) and f"{one.name}/".startswith(f"{own}/")
    return False


def _import_roots(root: Path, place: str) -> Iterator[Path]:
    """The folders above a source file that are no package: a program there finds modules in them.

    In a monorepo, that of a package may lie at any depth. A link leads to what was written for
    another place.
    """
    for above in PurePosixPath(place).parents:
        if above == PurePosixPath() or not (root / above / "__init__.py").exists():
            yield from (one for one in (root / above, root / above / "src") if not one.is_symlink())


def _holds_module(folder: Path, name: str, rest: Sequence[str]) -> bool:
    """Whether a folder holds a module.

    A folder of that name without `__init__.py` gives way to a package that is installed, so it
    counts where it holds what is asked of it.

    Args:
        rest: the next part of the module's name.
    """
    modules = [f"{name}.py", f"{name}.rb", f"{name}/__init__.py"]
    modules += [f"{name}/{part}{end}" for part in rest for end in (".py", ".rb", "/__init__.py")]
    return any((folder / module).is_file() for module in modules)


_OF_MODULES: Final = ("", ".py", ".pyi", ".pyw", ".ipynb", ".rb")
"""Endings of sources that find modules in folders of the project; a script may have none."""
_CHOSEN: Final = frozenset(("argparse", "asyncio", "logging", "sqlite3", "unittest"))
"""Modules of Python itself that stand for a choice between it and a package."""


def package_of_source(place: str) -> str:
    """The package of a source file of the JVM, by its folders."""
    for folder in ("/java/", "/kotlin/", "/scala/"):
        if folder in f"/{place}":
            return os.path.dirname(f"/{place}".rpartition(folder)[2]).replace("/", ".")
    return ""


def _read_value_behind_key(path: Path, key: str) -> str:
    """What stands behind a key in a line of a file; empty without."""
    from preflights_es.system import files

    try:
        text = files.regular(path, 1_000_000).decode("utf-8", "replace")
    except (OSError, ValueError, files.Unreadable):
        return ""
    found = (line.strip() for line in text.splitlines())
    return next((line[len(key) :].strip(" ,") for line in found if line.startswith(key)), "")


# 4. Words -------------------------------------------------------------------------------------


def _relative(path: str, root: Path) -> str:
    """A path from the root, as patterns name it; empty for a file elsewhere."""
    from preflights_es.kernel.errors import Refused
    from preflights_es.use.work_tree import project_path

    try:
        return project_path(root, path.replace("\\", "/")).rstrip("/") if path else ""
    except (Refused, ValueError):
        return ""


def _shorten_concern_text(text: str) -> str:
    return shortened(escaped_text(one_line(text)), TEXT_MAX)
