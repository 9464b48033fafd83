"""Which folders hold records: the usual names, and what settings and files of other tools say."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.text import late_pattern, problem
from preflights_es.records.record_names import is_dated
from preflights_es.system.files import Unreadable, regular

ADR_DIR: Final = ".adr-dir"  # adr-tools: the name of the folder, on one line
NAMING_MAX: Final = 65_536  # bytes of a file that names folders
NAME_MAX: Final = 4_096  # characters of a folder
LOG4BRAINS: Final = ".log4brains.yml"
DEFAULT: Final = "docs/decisions"  # as MADR has it

_USUAL: Final = frozenset(
    """
    adr adrs adl adls rfd rfds decision decisions decisionlog decisionlogs
    decisionrecord decisionrecords
    architecturedecision architecturedecisions architecturedecisionlog
    architecturedecisionrecord architecturedecisionrecords
    architecturaldecision architecturaldecisions architecturaldecisionlog
    architecturaldecisionrecord architecturaldecisionrecords
    designdecision designdecisions designdecisionrecords technicaldecisions
    entscheidungen architekturentscheidungen
    """.split()  # noqa: SIM905  a table
)
"""Names of folders in adr-tools, MADR, log4brains, adr.github.io and collections of records."""
_ABOVE: Final = frozenset(("docs", "doc", "documentation", "architecture", "arch"))
"""Names of folders of a project in which one of records usually lies."""
_LEFT_OUT: Final = frozenset(
    """
    node_modules vendor third_party third-party
    test tests testdata fixture fixtures example examples template templates
    """.split()  # noqa: SIM905  a table
)
_LAST: Final = late_pattern("[-_. ]")
_DEPTH_MAX: Final = 3  # docs/architecture/decisions

By = Literal["settings", ".adr-dir", "name", "content", "default"]


class RecordFolder(msgspec.Struct, frozen=True, array_like=True):
    """A folder in which records are read, and what says so."""

    path: str
    """Relative to the project's root, with forward slashes."""
    by: By = "name"
    ignored: tuple[str, ...] = ()
    """Pages in it that git ignores, relative to the root."""
    said_of: str | None = None
    """The package of which a file of another tool says so."""

    @property
    def package(self) -> str:
        """The package whose records lie in it, relative to the root; empty of the whole."""
        return package_of(self.path) if self.said_of is None else self.said_of

    @property
    def is_deep(self) -> bool:
        """Whether its subfolders are read, too: only some files of other folders are records."""
        return self.by != "content" and self.path != "."

    def holds(self, path: str) -> bool:
        """Whether a file lies in it, or in a subfolder that is read; relative to the root."""
        if self.is_deep:
            return path.startswith(f"{self.path}/")
        folder = path.rpartition("/")[0] or "."
        above, _, own = folder.rpartition("/")
        return folder == self.path or (above == self.path and is_dated(own))


def folder_of(path: str, folders: Iterable[RecordFolder]) -> RecordFolder | None:
    """The folder of records in which a file lies, relative to the root; None where it is in none.

    Of a folder within another one, a file belongs to the inner.
    """
    found = (folder for folder in folders if folder.holds(path))
    return max(found, key=lambda folder: len(folder.path), default=None)


def usual_folder(folder: str) -> str | None:
    """The folder of records in which a path lies, by its names alone; None where it is in none."""
    parts = folder.split("/")
    for at, part in enumerate(parts):
        if is_left_out(part):
            return None
        if is_usual(part):
            found = parts[: at + 1]
            return None if any(map(is_passed_over, parts[at:])) else "/".join(found)
    return None


def is_usual(name: str) -> bool:
    """Whether a folder has one of the usual names, in any case and with any sign between words."""
    return name.casefold().translate(_SIGNS) in _USUAL


_SIGNS: Final = {ord(sign): None for sign in "-_. "}


def is_left_out(name: str) -> bool:
    """Whether no records are looked for in a folder of this name, such as `integration-tests`."""
    folded = name.casefold().strip("_")
    return name.startswith(".") or folded in _LEFT_OUT or _LAST.split(folded)[-1] in _LEFT_OUT


def is_passed_over(name: str) -> bool:
    """The same within a folder of records: `2022-08-17-remove-tests` there is a record's own."""
    return is_left_out(name) and not is_dated(name)


def package_of(folder: str) -> str:
    """The package whose records lie in a folder, relative to the root; empty of the whole."""
    parts = folder.split("/")
    while parts and (is_usual(parts[-1]) or parts[-1].casefold() in _ABOVE):
        parts.pop()
    return "/".join(parts)


def usual_folders(root: Path) -> tuple[str, ...]:
    """The folders of usual names at the root and below `docs` and the like, without asking git."""
    return tuple(sorted(_usual_below(root, "", _DEPTH_MAX)))


def _usual_below(root: Path, folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(root / folder) as found:
            names = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for name in names:
        path = f"{folder}/{name}" if folder else name
        if is_usual(name):
            yield path
        elif depth > 1 and name.casefold() in _ABOVE:
            yield from _usual_below(root, path, depth - 1)


def said_folders(root: Path, told: str) -> tuple[RecordFolder, ...]:
    """What settings and `.adr-dir` name, in this order: a new record goes to the first.

    Args:
        told: by settings; empty where they name none.

    Raises:
        ArtifactOutside: one of them leads outside of the project, or to git's files.
    """
    found = []
    if told:
        _check_record_folder(root, told)
        found.append(RecordFolder(told, "settings"))
    if (named := _adr_dir(root)) is not None and named != told:
        found.append(RecordFolder(named, ".adr-dir"))
    return tuple(found)


def _adr_dir(root: Path) -> str | None:
    """What `.adr-dir` names; None where there is no such file, or nothing stands in it."""
    try:
        named = _content(root / ADR_DIR).strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Unreadable, UnicodeDecodeError) as error:
        raise ArtifactOutside(f"{ADR_DIR} cannot be read: {error}") from error
    if not named:
        return None
    try:
        return _within(root, named)
    except ArtifactOutside as error:
        raise ArtifactOutside(f"{ADR_DIR}: {error}") from error


def package_folders(root: Path, files: Iterable[str]) -> Iterator[RecordFolder]:
    """The folders that `.adr-dir` of a package, and `.log4brains.yml`, name.

    What leads outside of the project, or is no text, is left out.

    Args:
        files: paths of such files.
    """
    for file in files:
        place, _, name = file.rpartition("/")
        if any(map(is_left_out, filter(None, place.split("/")))):
            continue
        with suppress(ArtifactOutside, OSError, Unreadable, UnicodeDecodeError):
            text = _content(root / file)
            named = _listed(text) if name == LOG4BRAINS else [(place, text.strip())]
            for package, folder in named if place or name == LOG4BRAINS else ():
                path = f"{place}/{folder}" if name == ADR_DIR else folder
                yield from (RecordFolder(_within(root, path), said_of=package),) if folder else ()


def _listed(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of a package and the folder of its records, as log4brains lists them."""
    for part in _ITEM.split(text):
        said = {key: value.strip() for key, value in _KEY.findall(part)}
        package = os.path.normpath(said.get("path") or ".")
        if said.get("adrFolder"):
            yield "" if package == "." else package, said["adrFolder"]


_ITEM: Final = late_pattern(r"^[ \t]*-[ \t]+", re.MULTILINE)
_KEY: Final = late_pattern(r"""^[ \t]*(path|adrFolder):[ \t]*["']?([^"'#\n]*)""", re.MULTILINE)


def _content(path: Path) -> str:
    return regular(path, NAMING_MAX, follows=False).decode("utf-8-sig")


def _within(root: Path, named: str) -> str:
    """A folder that a file names, relative to the root."""
    if "\n" in named or "\\" in named or problem(named, NAME_MAX) or not named.isprintable():
        raise ArtifactOutside(f"{named!r} is not one folder inside the project")
    _check_record_folder(root, named)
    return os.path.normpath(named).replace(os.sep, "/")


def _check_record_folder(root: Path, folder: str) -> Path:
    from preflights_es.records.files import checked_folder

    return checked_folder(root, folder)
