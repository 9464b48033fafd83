"""The facts of a repository: its packages, images, languages, CI and README, as people read them
(RESOLUTIONS 0.25; seed 0, section 9). What was read of a file is kept until the file changes.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from preflights_es.kernel import __version__
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.text import escaped_text, late_pattern, one_line, shortened
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.settings.load import cached
from preflights_es.system.files import Unreadable, read_cache, regular, write_cache
from preflights_es.use.foreign import ForeignRow, read_foreign_records
from preflights_es.use.process import Process
from preflights_es.use.repository_packages import is_list, is_lock, is_of_images, list_package_names
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.words.language import CI_SERVICES, fold_letters, product, read_product_names

TEXT_MAX: Final = 10_000  # characters that are looked at for secrets
PACKAGES_MAX: Final = 1_000_000  # characters of all names of packages, looked at together
TITLE_MAX: Final = 120
RECORDS_MAX: Final = 15


class Technology(Result, frozen=True):
    """A package or an image that a file lists."""

    name: str
    product: str
    """What it stands for, by the names that Preflights knows; empty where it knows none."""
    path: str


class LanguageCount(Result, frozen=True):
    """A programming language and how many files are written in it."""

    name: str
    files: int


class NotRead(Result, frozen=True):
    """A file that says something, and was not read."""

    path: str
    why: str


class Facts(Result, frozen=True, tag_field="format", tag="facts/1"):
    """What the repository says of itself; products that Preflights knows come first."""

    readme: str
    """Its first paragraph; empty without one."""
    languages: tuple[LanguageCount, ...]
    ci: tuple[str, ...]
    technologies: tuple[Technology, ...]
    records: tuple[str, ...]
    """Titles of the records that other tools wrote."""
    not_read: tuple[NotRead, ...]


def read_known_facts(request: Request) -> Facts:
    """What is known of the repository; nothing of it is recorded."""
    try:
        rows = read_foreign_records(request.process).rows
    except PreflightsError:
        rows = ()  # a folder that cannot be read is told of where records are listed
    return facts_of(request.process, rows)


def facts_of(process: Process, records: Iterable[ForeignRow]) -> Facts:
    """The same, with records that are read already."""
    settings, sanitizer = process.settings, process.sanitizer
    found = repository(settings.root, cached("facts"), is_whole=settings.is_in_git)
    return Facts(
        readme=_clean_fact_text(found.readme, sanitizer),
        languages=tuple(LanguageCount(name=name, files=files) for name, files in found.languages),
        ci=found.ci,
        technologies=tuple(_technologies(found, sanitizer)),
        records=tuple(_titles(records, sanitizer)),
        not_read=tuple(NotRead(path=escaped_text(one.path), why=one.why) for one in found.unread),
    )


def _technologies(found: Repository, sanitizer: Sanitizer) -> Iterator[Technology]:
    products = {
        fold_letters(package): one.name for one in read_product_names() for package in one.packages
    }
    first: dict[str, Technology] = {}
    fit = _fit({name for one in found.listed for name in one.names}, sanitizer)
    paths = _fit({one.path for one in found.listed}, sanitizer)
    for one in found.listed:
        if one.path not in paths:
            continue
        for name in one.names:
            image = name.partition(":")[0].rpartition("/")[2]
            of = product(image) if one.are_images else products.get(fold_letters(name), "")
            if name in fit and name not in first:
                first[name] = Technology(name=name, product=of, path=one.path)
    yield from sorted(first.values(), key=lambda one: not one.product)


def _titles(records: Iterable[ForeignRow], sanitizer: Sanitizer) -> Iterator[str]:
    held = islice((row.title for row in records if row.is_held), RECORDS_MAX)
    # Looked at together: most have no secret, and each look has its price.
    titles = [escaped_text(one_line(title)) for title in held]
    whole = _clean_fact_text("; ".join(titles), sanitizer)
    for title in titles:
        yield shortened(title if title in whole else _clean_fact_text(title, sanitizer), TITLE_MAX)


def _clean_fact_text(text: str, sanitizer: Sanitizer) -> str:
    """A text of a stranger, on one line, without secrets; empty where it cannot be recorded."""
    try:
        return sanitizer.cleaned_text("a fact", escaped_text(one_line(text)), TEXT_MAX)[0]
    except Refused:
        return ""


def _fit(packages: set[str], sanitizer: Sanitizer) -> set[str]:
    """Names of packages that can be recorded: those that hold no secret."""
    if _is_fit("\n".join(sorted(packages)), PACKAGES_MAX, sanitizer):
        return packages
    return {one for one in packages if _is_fit(one, TEXT_MAX, sanitizer)}


def _is_fit(names: str, limit: int, sanitizer: Sanitizer) -> bool:
    try:
        return not sanitizer.cleaned_text("packages", names, limit)[1]
    except Refused:
        return False


FILES_MAX: Final = 50
BYTES_MAX: Final = 1_000_000  # of all files that are read
ENTRIES_MAX: Final = 5_000  # of folders that are looked at
DEPTH_MAX: Final = 3  # folders below the root of a file that is read
COUNTED_DEPTH_MAX: Final = 6  # of one whose language counts: packages/web/src/cart/form/list
README_MAX: Final = 600  # characters
CACHE_MAX: Final = 2_000_000  # bytes
READER: Final = f"{__version__}/1"  # a new number when files are read in another way
RACE_NS: Final = 2_000_000_000
"""How much older than the cache a change must be: another one could follow in the same tick."""

PASSED: Final = frozenset(
    """
    node_modules vendor venv env dist build target site-packages third_party testdata fixtures
    __pycache__ Pods bower_components
    """.split()  # noqa: SIM905  a table
)
"""Folders whose files are not the project's own, or are only tried out."""
LANGUAGES: Final = {
    ".c": "C", ".cc": "C++", ".clj": "Clojure", ".cpp": "C++", ".cs": "C#", ".dart": "Dart",
    ".ex": "Elixir", ".exs": "Elixir", ".go": "Go", ".h": "C", ".hs": "Haskell", ".java": "Java",
    ".js": "JavaScript", ".jsx": "JavaScript", ".kt": "Kotlin", ".mjs": "JavaScript",
    ".php": "PHP", ".py": "Python", ".r": "R", ".rb": "Ruby", ".rs": "Rust", ".scala": "Scala",
    ".sh": "Shell", ".sql": "SQL", ".swift": "Swift", ".tf": "Terraform", ".ts": "TypeScript",
    ".tsx": "TypeScript", ".vue": "Vue", ".svelte": "Svelte", ".zig": "Zig",
}  # fmt: skip

Stamp = tuple[int, int]
"""Size and time of a file."""


class FileListing(msgspec.Struct, frozen=True):
    """What a file lists."""

    path: str
    names: tuple[str, ...]
    are_images: bool = False


class Repository(msgspec.Struct, frozen=True):
    """What was found."""

    listed: tuple[FileListing, ...] = ()
    languages: tuple[tuple[str, int], ...] = ()
    """With their files, the most first."""
    ci: tuple[str, ...] = ()
    readme: str = ""
    """Its first paragraph, on one line."""
    unread: tuple[NotRead, ...] = ()


class _FileFacts(msgspec.Struct, frozen=True, array_like=True):
    stamp: Stamp
    names: tuple[str, ...]
    why: str = ""
    """Why nothing was read of it; empty where it was."""


class _FactsCache(msgspec.Struct, frozen=True, array_like=True):
    reader: str
    root: str
    rows: dict[str, _FileFacts]


class _FactsFile(NamedTuple):
    """A file that says something."""

    path: str
    stamp: Stamp


def repository(root: Path, cache: Path | None = None, *, is_whole: bool = True) -> Repository:
    """What the files below a folder say; links are not followed.

    Args:
        cache: the folder of our own cache; None reads every file anew.
        is_whole: whether the folders in it are looked at too.
    """
    languages: Counter[str] = Counter()
    found: list[_FactsFile] = []
    for path, entry in _walk_project_files(root, COUNTED_DEPTH_MAX if is_whole else 0):
        name = entry.name
        if language := LANGUAGES.get(os.path.splitext(name)[1].casefold()):
            languages[language] += 1
        if path.count("/") <= DEPTH_MAX and (is_list(name) or _is_readme(path)):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                found.append(_FactsFile(path, (status.st_size, status.st_mtime_ns)))
    found.sort(key=lambda one: (is_lock(_base_file_name(one.path)), one.path.count("/"), one.path))
    rows = _read_facts_by_path(root, found, cache)
    lists = [
        FileListing(path, row.names, is_of_images(_base_file_name(path)))
        for path, row in rows.items()
        if row.names and not _is_readme(path)
    ]
    heads = (row.names[0] for path, row in rows.items() if row.names and _is_readme(path))
    return Repository(
        listed=tuple(lists),
        languages=tuple(languages.most_common()),
        ci=tuple(name for path, name in CI_SERVICES.items() if (root / path).exists()),
        readme=next(heads, ""),
        unread=tuple(NotRead(path=path, why=row.why) for path, row in rows.items() if row.why),
    )


def _base_file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_readme(path: str) -> bool:
    return path.casefold() in ("readme.md", "readme.rst", "readme.txt", "readme")


def _walk_project_files(root: Path, depth_max: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files of the project, those near the root first; at most `ENTRIES_MAX` are looked at."""
    folders = deque([("", 0)])
    left = ENTRIES_MAX
    while folders and left > 0:
        at, depth = folders.popleft()
        try:
            entries = sorted(os.scandir(f"{root}/{at}"), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries[:left]:
            name = entry.name
            if entry.is_symlink() or not name.isprintable():  # nor what is no text at all
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < depth_max and name not in PASSED and not name.startswith("."):
                    folders.append((f"{at}{name}/", depth + 1))
            elif entry.is_file(follow_symlinks=False):
                yield f"{at}{name}", entry
        left -= len(entries)


def _read_facts_by_path(
    root: Path, found: list[_FactsFile], cache: Path | None
) -> dict[str, _FileFacts]:
    """What each file says, by its path."""
    folder = str(root.resolve())
    name = f"{sha256(folder.encode(errors='surrogatepass')).hexdigest()[:16]}.facts"
    kept, newest = _read_facts_cache(cache, name, folder)
    rows: dict[str, _FileFacts] = {}
    left, files, is_new = BYTES_MAX, FILES_MAX, False
    for path, stamp in found:
        files -= 1
        if files < 0 or stamp[0] > left:
            limit = f"{FILES_MAX} files" if files < 0 else f"{BYTES_MAX:,} bytes"
            rows[path] = _FileFacts(stamp, (), f"more than {limit} would be read")
            continue
        left -= stamp[0]
        row = kept.get(path)
        if row is None or row.stamp != stamp or stamp[1] + RACE_NS > newest:
            row, is_new = _read_file_facts(root, path, stamp), True
        rows[path] = row
    if cache is not None and (is_new or kept.keys() != rows.keys()):
        write_cache(cache / name, _FactsCache(READER, folder, rows))
    return rows


def _read_file_facts(root: Path, path: str, stamp: Stamp) -> _FileFacts:
    try:
        text = regular(root / path, BYTES_MAX, follows=False).decode("utf-8-sig")
        return _FileFacts(
            stamp,
            _head(text) if _is_readme(path) else list_package_names(_base_file_name(path), text),
        )
    except UnicodeDecodeError:
        return _FileFacts(stamp, (), "it is not in UTF-8")
    except (OSError, Unreadable) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return _FileFacts(stamp, (), why or "it cannot be read")


_ASIDE: Final = late_pattern(r"\s*(?:#|=|~|\*\*\*|---|<|!?\[!?\[|!\[|\.\. |:\w+:|```|>)")
_LINK: Final = late_pattern(r"!?\[([^]\n]*)\]\([^)\n]*\)|<?\bhttps?://\S+")


def _head(text: str) -> tuple[str, ...]:
    """The first paragraph of prose; none where there is no such."""
    for paragraph in text[: 10 * README_MAX].replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        while lines and _ASIDE.match(lines[0]):
            lines.pop(0)
        if len(lines) > 1 and set(lines[1].strip()) <= {"=", "-"}:
            continue  # a title that is underlined
        prose = one_line(_LINK.sub(r"\1", " ".join(lines))).strip()
        if prose:
            return (shortened(prose, README_MAX),)
    return ()


def _read_facts_cache(
    cache: Path | None, name: str, root: str
) -> tuple[dict[str, _FileFacts], int]:
    """What was read before, and when that was written."""
    if cache is None:
        return {}, 0
    try:
        written = (cache / name).stat().st_mtime_ns
    except OSError:
        return {}, 0
    found = read_cache(cache / name, CACHE_MAX, _FactsCache)
    is_ours = found is not None and (found.reader, found.root) == (READER, root)
    return (found.rows, written) if found and is_ours else ({}, 0)
