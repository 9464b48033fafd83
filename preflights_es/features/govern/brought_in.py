"""What changed files import or install that a decision turned down, and what of them is not read.

A name that stands in no import of it is told too: a program may load code by any text, and the
package of a plug-in brings in what it is for.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from preflights_es.features.govern.changes import (
    CONTENT_MAX,
    ChangedFile,
    ChangeSet,
    content_of,
    decode_file_text,
    objects,
    printable,
    read_changed_texts,
)
from preflights_es.features.govern.concerns import is_own, package_of_source
from preflights_es.features.govern.domain import products
from preflights_es.features.govern.domain.imports import (
    UsedName,
    is_loaded,
    is_of_others,
    may_import,
    mentioned,
    runs_decoded_text,
    used,
)
from preflights_es.features.govern.findings import (
    NEWER,
    Finding,
    Level,
    converted_sources,
    files_said,
    finding,
)
from preflights_es.features.govern.gate import Barred, Row, barred, find_barred_uses, is_let_in
from preflights_es.kernel.text import escaped_text
from preflights_es.system.files import Unreadable, read_file_beginning, regular
from preflights_es.use.turned_down import describe_turned_down as turned_down_line
from preflights_es.use.work_tree import WorkTree

NAMES_MAX: Final = 10_000
"""Of one file: no source has more, and each is held against all that was turned down."""
SUBMODULE: Final = "a submodule. Read what the commit that it names brings"
DECODED: Final = "text that it now decodes and runs. Write that as code"
OTHERS: Final = "kept as the work of others. Read who imports it, or install it by its name"
UNREAD: Final = (
    f"a link, binary, kept by git LFS, in another encoding, larger than {CONTENT_MAX:,} bytes, or "
    f"with more than {NAMES_MAX:,} imports. Read what it imports, or leave it out of the change"
)


def find_brought_in(
    rows: Sequence[Row], every: Iterable[Row], tree: WorkTree, change: ChangeSet, level: Level
) -> Iterator[Finding]:
    """What changed files import or install, and did not before, where a decision turned it down.

    Args:
        level: of files that are not looked at, and of more files than were moved.
    """
    is_there = {id(row) for row in rows}
    kept_out = barred(rows, (one for one in every if id(one) not in is_there))
    called = [(what, products.package_names(what.what.name)) for what in kept_out]
    uses, named, unread = _read_uses(tree.root, change, {one for _, of in called for one in of})
    for why, unread_paths in unread.items():
        if kept_out or (rows and why == SUBMODULE):
            text = f"{files_said(unread_paths)}: not looked at for what was turned down: {why}"
            yield finding("unread-file", level, text, unread_paths)
    modules = _new_modules(tree.root, change) if kept_out else {}
    for what, names in find_barred_uses(kept_out, modules, rows):
        yield _stands_for(what, modules[names[0]], level)
    found = [*find_barred_uses(kept_out, uses, rows)]
    met = [file for _, names in found for one in names for file in uses[one]]
    met += [file for files in named.values() for file in files]
    comparison = _Comparison(tree, change, met)
    told = set[tuple[str, str]]()
    for what, names in found:
        used = [(file.path, one) for one in reversed(names) for file in uses[one]]
        by_file = {path: one for path, one in used if not is_own(one, path, tree.root)}
        new, moved = comparison.new_files(what, by_file, frozenset())
        told |= {(what.name, path) for path in new}
        if new:
            yield _turned_down_finding(
                tree.root, what, new, change, level=level if moved else "error"
            )
    for what, of in called:
        by_name = {file.path: name for name in sorted(of & named.keys()) for file in named[name]}
        by_name = {path: one for path, one in by_name.items() if (what.name, path) not in told}
        new_names, _ = comparison.new_files(what, by_name, of) if by_name else ({}, 0)
        let_in = {one for one in {*new_names.values()} if is_let_in(what, one, rows)}
        if paths := sorted(path for path, one in new_names.items() if one not in let_in):
            yield _named_finding(what, paths, new_names[paths[0]], level)


class _Comparison:
    """What the base held of files that bring in what was turned down, and of those that go."""

    def __init__(self, tree: WorkTree, change: ChangeSet, met: Iterable[ChangedFile]) -> None:
        self._tree = tree
        self._files = {one.path: one for one in change.files}
        self._gone = [one for one in change.files if one.is_gone and one.old]
        files = {*met, *self._gone}
        stored = objects(tree.root, [one.old for one in files])
        self._before = {one.path: decode_file_text(stored.get(one.old, b"")) or "" for one in files}

    def new_files(
        self, what: Barred, by_file: Mapping[str, N], names: frozenset[str]
    ) -> tuple[dict[str, N], int]:
        """Files that did not have it before, and how many others live on in those that are new.

        None where these are as many: they may be the same files elsewhere. What moves away from
        where it is kept out is still kept out.
        """
        paths = what.row.paths

        def had(path: str) -> bool:
            text = self._before[path]
            uses = used(path, text)
            parts = set[str]().union(*map(products.parts_of_package, uses)) if names else set()
            is_named = names and (names & parts or mentioned(path, text, names))
            return bool(is_named or products.find_option_use(what.what.name, uses, ()))

        def is_bound(path: str) -> bool:
            return not paths or bool(self._tree.matched(paths, path))

        fresh = [path for path in by_file if not had(path)]
        gone = [one.path for one in self._gone if fresh and is_bound(one.path)]
        texts = {path: self._lines(path) if gone else set[str]() for path in fresh}
        left = [path for path in gone if not had(path)]

        def is_new(path: str) -> bool:
            return is_bound(path) or any(self._lives_on(one, [texts[path]]) for one in left)

        new = {path: by_file[path] for path in filter(is_new, texts)}
        elsewhere = [texts[path] for path in new if not self._files[path].old]
        moved = sum(self._lives_on(path, elsewhere) for path in {*gone}.difference(left))
        return (new if len(new) > moved else {}), moved

    def _lines(self, path: str) -> set[str]:
        content = content_of(self._tree.root, self._files[path])
        return {*(decode_file_text(content or b"") or "").split("\n")}

    def _lives_on(self, path: str, texts: Iterable[set[str]]) -> bool:
        """Whether half of its lines stand in one of the texts."""
        lines = {*self._before[path].split("\n")} - {""}
        return bool(lines) and any(2 * len(lines & text) >= len(lines) for text in texts)


N = TypeVar("N")


def _read_uses(
    root: Path, change: ChangeSet, wanted: AbstractSet[str]
) -> tuple[
    Mapping[UsedName, list[ChangedFile]], Mapping[str, list[ChangedFile]], Mapping[str, list[str]]
]:
    """What changed files use; which names that are wanted they say; what is not known, by why."""
    uses, unread = dict[UsedName, list[ChangedFile]](), defaultdict[str, list[str]](list)
    named, decoding = defaultdict[str, list[ChangedFile]](list), list[ChangedFile]()
    for file, text in _source_texts(root, change):
        names = used(file.path, text or "")
        if text is None or len(names) > NAMES_MAX:
            is_submodule = not (file.is_text or os.path.islink(root / file.path))
            why = OTHERS if is_of_others(file.path) else UNREAD
            unread[SUBMODULE if is_submodule else why].append(file.path)
            continue
        for one in sorted(names):
            uses.setdefault(one, []).append(file)
        said = mentioned(file.path, text, wanted) if wanted and is_loaded(file.path) else set[str]()
        for name in said.union(*(products.parts_of_package(one) & wanted for one in names)):
            named[name].append(file)
        decoding += [file] if may_import(file.path) and runs_decoded_text(text) else []
    before = objects(root, [file.old for file in decoding])
    for file in decoding:
        if not runs_decoded_text(decode_file_text(before.get(file.old, b"")) or ""):
            unread[DECODED].append(file.path)
    return uses, named, unread


def _source_texts(root: Path, change: ChangeSet) -> Iterator[tuple[ChangedFile, str | None]]:
    """What a program reads of changed files; None of what is not looked at, and may import."""
    converted = dict.fromkeys(converted_sources(root, change))
    yield from ((ChangedFile(path), None) for path in converted)
    for file, text in read_changed_texts(root, change):
        if file.path in converted:
            continue
        is_source, is_link = may_import(file.path), os.path.islink(root / file.path)
        read = _read_behind_link(root, file) if is_link else text
        is_read = is_source or is_link or text is not None or not file.is_text
        if is_read or _is_program(root / file.path):
            yield file, None if is_source and is_of_others(file.path) else read


_PROGRAMS: Final = (
    b"#!",
    b"\x7fELF",
    b"MZ",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
    b"PK\3\4",
    b"!<arch>",
)
"""How programs begin, whatever they are called, and archives from which a language loads them."""
_OFFICE: Final = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub")
"""Such archives that hold a text."""


def _is_program(file: Path) -> bool:
    with suppress(OSError, Unreadable):
        begins = read_file_beginning(file, 8, follows=False).startswith(_PROGRAMS)
        return begins and file.suffix.lower() not in _OFFICE
    return False


def _read_behind_link(root: Path, file: ChangedFile) -> str | None:
    """The text of the source to which a link leads; empty of no source.

    None of a folder, and of what lies outside.
    """
    found = os.path.realpath(root / file.path)
    if os.path.isdir(found) or not may_import(file.path):
        return None if os.path.isdir(found) else ""
    try:
        is_inside = found.startswith(os.path.join(os.path.realpath(root), ""))
        return decode_file_text(regular(found, CONTENT_MAX)) if is_inside else None
    except FileNotFoundError:
        return ""
    except (OSError, Unreadable):
        return None


def _new_modules(root: Path, change: ChangeSet) -> dict[UsedName, str]:
    """Modules that the change adds, each with its file: an import of one is the project's own."""
    found = dict[UsedName, str]()
    added = [one for one in change.files if change.base and not (one.old or one.is_gone)]
    new = {one.path for one in added}
    modules = [
        one
        for one in added
        if one.path.endswith((".py", ".rb")) or not one.is_text or os.path.islink(root / one.path)
    ]
    owners = dict[str, str]()
    for one in added:
        if package := package_of_source(one.path).replace(".", "/"):
            place = one.path[: one.path.rindex(package)]
            owners.setdefault(place + "/".join(package.split("/")[:2]), one.path)
    for owner, path in owners.items():
        sources = (source for source in (root / owner).rglob("*") if source.is_file())
        if all(source.relative_to(root).as_posix() in new for source in sources):
            found.setdefault(UsedName(".".join(owner.split("/")[-2:]), "jvm"), path)
    for module in modules:
        found.setdefault(UsedName(module.name.partition(".")[0], "module"), module.path)
        for folder in PurePosixPath(module.path).parents[:-1]:
            lying = (folder / file.name for file in (root / folder).glob("*.py"))
            if all(file.as_posix() in new for file in lying):
                found.setdefault(UsedName(folder.name, "module"), module.path)
    return found


def _stands_for(what: Barred, path: str, level: Level) -> Finding:
    """What names a module of the project as something that was turned down."""
    text = (
        f"{turned_down_line(what.row, what.what)}. {printable(path)} is a module of that name, so "
        "its import is taken for the project's own and not stopped: give it another name"
    )
    return finding("turned-down", level, text, [path], decision=what.name)


def _turned_down_finding(
    root: Path, what: Barred, new: dict[str, UsedName], change: ChangeSet, level: Level
) -> Finding:
    paths = sorted(new)
    one = new[paths[0]]
    use = "uses" if len(paths) == 1 else "use"
    text = (
        f"{turned_down_line(what.row, what.what)}. {files_said(paths)} now {use} it "
        f"({escaped_text(one.name)}). Take it out again, or {NEWER.format(escaped_text(what.name))}"
    )
    file = next(file for file in change.files if file.path == paths[0])
    lines = (decode_file_text(content_of(root, file) or b"") or "").splitlines()
    parts = one.name.split(".") if one.kind == "module" else [one.name]  # `from x import y`
    at = (at for at, said in enumerate(lines, 1) if all(part in said for part in parts))
    more = {"decision": what.name, "session_id": what.row.session_id, "line": next(at, None)}
    return finding("turned-down", level, text, paths, **more)


def _named_finding(what: Barred, paths: Sequence[str], name: str, level: Level) -> Finding:
    text = (
        f"{turned_down_line(what.row, what.what)}. {files_said(paths)}: the name "
        f"{escaped_text(name)} stands there in no import of it. See that nothing brings it in"
    )
    return finding("unread-file", level, text, paths, decision=what.name)
