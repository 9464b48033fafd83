"""What is known of a record without reading its text: its name, its day, its number in the sequence
of its folder, and the header that a reader makes of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final, Literal

import msgspec

from preflights_es.kernel.text import late_pattern, one_line

NUMBER_DIGITS_MAX: Final = 6  # a longer name is a date or an id, not a record's number
NUMBER_MAX: Final = 10**NUMBER_DIGITS_MAX - 1  # the last that a document's name can bear
FAR: Final = 1_000
"""Numbers beyond the highest known one that may be missing.

Branches, erased sessions and records that were removed leave some out. A file that says more of
them can be forged, and each such file could take away most of the numbers that a project has.
"""
MARKDOWN: Final = (".md", ".markdown", ".mdx")
ASCIIDOC: Final = (".adoc", ".asciidoc")
OTHER_TEXTS: Final = (".rst", ".txt", ".org", ".textile", ".html", ".docx", ".pdf")
"""Endings of documents that are not read: one with the number or day of a record is named."""
_NO_RECORD = late_pattern(
    r"(?:\d+[-_ ])?(?:(?:(?:adr|madr|dr|rfc)[-_ ]?(?:x+|n+)?|nygard|architectur(?:e|al)|decision"
    r"|record|long|short|bare|minimal)[-_. ])*"
    r"(?:template|vorlage)(?:[-_ ](?:adr|madr|bare|minimal|long|short|full|de|en))*"
    r"|(?:\d+[-_ ])?(?:adr[-_ ])?_?index|readme|toc|changelog|contributing"
    r"|(?:(?:adr|madr|dr|rfc)[-_ ]?)?(?:n{3,}|x{3,})(?:[-_ ].*)?",
    re.IGNORECASE,
)
_PAGES: Final = frozenset(
    {"template", "vorlage", "index", "readme", "toc", "changelog", "contributing", "nnn", "xxx"}
)
_DAY = late_pattern(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d)", re.ASCII)
_BEHIND_DAY = late_pattern(r"\d{4}-?\d{2}-?\d{2}[-_ ](\d{3,6})(?=[-_ ]|$)", re.ASCII)
_YEAR: Final = r"(?:19|20)\d\d[-_]"
_NAMED = late_pattern(
    r"(?P<before>(?P<kind>(?:adr|madr|dr|rfc|decision|record)[-_ ]?"
    r"|(?:[a-z]{1,15}[-_]){1,3}(?=0\d{2,4}(?!\d)))"
    rf"(?:{_YEAR}(?=\d{{1,4}}(?!\d)))?|(?:{_YEAR}(?=\d{{3,4}}(?!\d)))?)"
    r"(?P<digits>\d{1,6})(?=[-_ ]|\.(?:mdx?|markdown|adoc|asciidoc)$|$)",
    re.IGNORECASE | re.ASCII,
)
_MONTH = late_pattern(rf"{_YEAR}(?:0[1-9]|1[0-2])(?!\d)|(?:19|20)\d\d$", re.ASCII)
_YEAR_NAME = late_pattern(r"(?:19|20)\d\d", re.ASCII)
_OF_DECISIONS: Final = ("", "adr", "madr", "dr", "decision", "record")


class NumberedName(msgspec.Struct, frozen=True):
    """The name of a record's file, taken apart: `ADR-2026-` `002` `-use-react.md`."""

    before: str
    """A word such as `ADR`, and a year."""
    digits: str
    after: str
    series: str
    """Within which the number counts: `2026`, `rfc`; empty for a plain number, and that of an ADR.
    """

    @property
    def number(self) -> int:
        """As a whole number."""
        return int(self.digits)

    @property
    def label(self) -> str:
        """How the record is called: `ADR-2026-002`, `ADR-0002`."""
        return f"ADR-{self.number:04d}" if not self.series else f"{self.before}{self.digits}"

    def with_number(self, number: int) -> str:
        """The name with another number, as wide as before where it fits."""
        return f"{self.before}{number:0{len(self.digits)}d}{self.after}"


@lru_cache(maxsize=4096)
def numbered_name(name: str) -> NumberedName | None:
    """A name that bears a number; a day, a month or a year is no number.

    A list asks it of each record several times.
    """
    found = _NAMED.match(name)
    if found is None or day_of_file_name(name) or _MONTH.match(name):
        return None
    kind, before = (found["kind"] or "").lower(), found["before"]
    if kind and day_of_file_name(name[len(kind) :]):
        return None
    year, kind = before[len(kind) :].strip("-_ "), kind.strip("-_ ")
    series = "-".join(filter(None, ("" if kind in _OF_DECISIONS else kind, year)))
    return NumberedName(before, found["digits"], name[found.end() :], series)


def number_of(name: str) -> int | None:
    """The number that a file's name begins with; a date and a year are no number."""
    found = numbered_name(name)
    return found.number if found else None


def day_of_file_name(name: str) -> str:
    """The day that a file's name begins with (`20201021-title.md`), ISO 8601; else empty."""
    found = _DAY.match(name)
    return iso_day_or_empty(found[1], found[2], found[3]) if found else ""


def number_behind_day(name: str) -> int | None:
    """The number of three digits or more behind a day: 1 in `2021-06-05_001-use-x`."""
    found = _BEHIND_DAY.match(name)
    return int(found[1]) if found else None


def title_of_name(name: str) -> str:
    """The words of a name without number and day; empty where it has no other."""
    day = day_of_file_name(name)
    text = name[len(day.replace("-", "")) :] if day else name
    numbered = numbered_name(text)
    return one_line((numbered.after if numbered else text).replace("-", " ").replace("_", " "))


def is_page(name: str) -> bool:
    """Whether a file has an ending that is read, in any case."""
    return name.casefold().endswith((*MARKDOWN, *ASCIIDOC))


def name_of_record(path: str) -> str:
    """What a record is called: its file without ending, or its folder where only that says it.

    Args:
        path: relative to the folder of records.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] if is_page(name) else name
    above = folder.rpartition("/")[2]
    is_named = is_first_page(path) or (not is_dated(stem) and is_dated(above))
    return above if above and is_named else stem


def is_first_page(path: str) -> bool:
    """Whether a page stands for its folder."""
    return path.rpartition("/")[2].rpartition(".")[0].casefold() in ("readme", "index")


def of_own_folder(path: PurePosixPath) -> PurePosixPath:
    """The folder of a record that has one of its own; every other path as it is."""
    is_own = is_first_page(path.name) and is_page(path.name) and is_dated(path.parent.name)
    return path.parent if is_own else path


def is_year(name: str) -> bool:
    """Whether a folder is called as a year."""
    return _YEAR_NAME.fullmatch(name) is not None


def is_dated(stem: str) -> bool:
    """Whether a name begins with a number or a day."""
    return number_of(stem) is not None or bool(day_of_file_name(stem))


def is_record_name(name: str) -> bool:
    """Whether a file is a record by its name alone: a number or a day, and no template."""
    stem = name.rpartition(".")[0]
    return is_dated(stem) and is_page(name) and not is_other_page(stem)


def is_other_text(path: str) -> bool:
    """Whether a file of an ending that is not read is numbered or dated like a record."""
    name = path.rpartition("/")[2]
    return name.casefold().endswith(OTHER_TEXTS) and is_dated(name.rpartition(".")[0])


def is_other_page(stem: str) -> bool:
    """Whether a page beside the records is a template, an index or the like."""
    if stem.isascii() and not any(word in stem.lower() for word in _PAGES):
        return False  # most names need no pattern, which takes time to compile
    numbered = numbered_name(stem)
    return _NO_RECORD.fullmatch(numbered.after.lstrip("-_ ") if numbered else stem) is not None


def iso_day_or_empty(year: str, month: str, of_month: str) -> str:
    """ISO 8601; empty where there is no such day."""
    try:
        return date(int(year), int(month), int(of_month)).isoformat()
    except ValueError:
        return ""


def highest(given: Iterable[int], filed: Iterable[int] = ()) -> int:
    """The highest number that counts; 0 without any.

    Args:
        given: those that the log has given out.
        filed: those that files bear; one far beyond all before it does not count.
    """
    found = max((number for number in given if number <= NUMBER_MAX), default=0)
    for number in sorted(filed):
        if number > found + FAR:
            break
        found = max(found, number)
    return found


_TRANSLATED = late_pattern(r"\.[a-z]{2}(?:-[A-Za-z]{2})?$")


class NumberClash(msgspec.Struct, frozen=True):
    """Several records of one folder that bear one number."""

    label: str
    """`ADR-0002`."""
    paths: tuple[str, ...]
    """Relative to the project's root, by name."""

    @property
    def text(self) -> str:
        """What is so; each path is a stranger's."""
        return f"{self.label} is the number of {len(self.paths)} records: {', '.join(self.paths)}"


class NumberedPath(msgspec.Struct, frozen=True):
    """A record whose name, or whose folder's name, bears a number."""

    folder: str
    """Of the sequence: where the file lies, or the folder of the record lies."""
    stem: str
    """Its name without the ending, and without the language of a translation."""
    name: NumberedName


def numbered_path(path: str) -> NumberedPath | None:
    """Where the number of a record counts; None where its name bears none, or it is no record."""
    folder, _, file = path.rpartition("/")
    above, _, own = folder.rpartition("/")
    called = name_of_record(path)
    if called == own != (file.rpartition(".")[0] or file):
        folder, file = above, own  # a record with a folder of its own
    name = None if is_other_page(called) else numbered_name(file)
    if name is None:
        return None
    return NumberedPath(folder or ".", _TRANSLATED.sub("", called), name)


def sequence_of_path(path: str) -> str:
    """The folder in which a record's number counts."""
    numbered = numbered_path(path)
    return numbered.folder if numbered else PurePosixPath(path).parent.as_posix()


Groups = Mapping[tuple[str, str, int], Mapping[str, Sequence[str]]]
"""By folder, series and number: the records, each by its stem with its file and translations."""


def numbered_groups(paths: Iterable[str]) -> Groups:
    """The records whose names bear numbers; a translation stands behind what it translates."""
    found: dict[tuple[str, str, int], dict[str, list[str]]] = {}
    for path in sorted(paths):
        if (one := numbered_path(path)) is not None:
            place = (one.folder, one.name.series, one.name.number)
            found.setdefault(place, {}).setdefault(one.stem, []).append(path)
    for records in found.values():
        for files in records.values():
            files.sort(key=len)
    return found


def number_clashes(paths: Iterable[str]) -> Iterator[NumberClash]:
    """The numbers that several records of one folder bear; translations of one count once."""
    for records in numbered_groups(paths).values():
        if len(records) > 1:
            firsts = tuple(files[0] for files in records.values())
            first = numbered_path(firsts[0])
            assert first is not None, "it is numbered"
            yield NumberClash(first.name.label, firsts)


def clash_beside(root: Path, path: str, number: int) -> NumberClash | None:
    """The clash of a record with what lies in its folder; only that folder is listed."""
    folder = PurePosixPath(path).parent
    try:
        names = os.listdir(root / folder)
    except OSError:
        return None
    alike = [name for name in names if str(number) in name and is_page(name)]
    if len(alike) < 2:
        return None  # most have a number of their own, and no pattern is compiled
    found = number_clashes((folder / name).as_posix() for name in alike)
    return next((one for one in found if path in one.paths), None)


def sequence_of(folder: str, paths: Iterable[str]) -> set[int]:
    """The numbers that count where a record of a folder gets a new one.

    Those of a folder above or below, or of another year, count too, unless the two have a number
    in common.
    """
    by_folder: dict[str, set[int]] = {folder: set()}
    for path in paths:
        if (one := numbered_path(path)) is not None:
            by_folder.setdefault(one.folder, set()).add(one.name.number)
    own, place = by_folder[folder], _without_year(folder)
    found = set(own)
    for other, numbers in by_folder.items():
        there = _without_year(other)
        is_near = f"{there}/".startswith(f"{place}/") or f"{place}/".startswith(f"{there}/")
        if is_near and not numbers & own:
            found |= numbers
    return found


def _without_year(folder: str) -> str:
    above, _, name = folder.rpartition("/")
    return above if is_year(name) else folder


RECORD_MAX: Final = 1_000_000  # bytes; a decision is a page

Status = Literal[
    "none",
    "unknown",
    "proposed",
    "accepted",
    "rejected",
    "deprecated",
    "partly_superseded",
    "superseded",
]
"""`none`: the record writes no status. `unknown`: it writes one that is not understood."""
HELD: Final = frozenset(("none", "accepted", "partly_superseded"))
"""A record without a status is in force, as MADR says."""
Tool = Literal["nygard", "madr2", "madr3", "madr4", "log4brains", "other"]


class Reference(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a record names another one; nothing in it was looked up."""

    text: str
    number: int | None = None
    path: str = ""
    """As it stands in the link, without its fragment."""


class TitleStatement(msgspec.Struct, frozen=True):
    """What a title states; every part is empty where it states nothing."""

    category: str = ""
    value: str = ""
    scope: str = ""


class RecordHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of records shows of one."""

    path: str
    """As it was asked for; in a list, relative to the project's root, with forward slashes."""
    tool: Tool
    number: int | None = None
    title: str
    """As the record says it, else the words of its file's name."""
    status: Status = "none"
    status_text: str = ""
    """As the record writes it, on one line and cut."""
    superseded_by: Reference | None = None
    supersedes: tuple[Reference, ...] = ()
    date: str = ""
    """ISO 8601; empty where the record names no day."""
    session: str = ""
    """Of Preflights, where the record says that it is ours; a claim."""
    applies_to: tuple[str, ...] = ()
    """Entries of a list of what it is about, such as paths, as it is written."""
    said: TitleStatement = TitleStatement()
    """By its title."""
    chosen: str = ""
    """What its text says was chosen, on one line."""


class ForeignRecord(RecordHeader, frozen=True, kw_only=True):
    """A record as its text says it, on one line each."""

    context: str = ""
    because: str = ""
    considered: tuple[str, ...] = ()
