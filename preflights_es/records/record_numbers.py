"""Numbers of records: one sequence in each folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from preflights_es.kernel.text import late_pattern
from preflights_es.records.record_names import (
    NumberedName,
    is_other_page,
    is_page,
    name_of_record,
    numbered_name,
)

_TRANSLATED = late_pattern(r"\.[a-z]{2}(?:-[A-Za-z]{2})?$")


class NumberClash(NamedTuple):
    """Several records of one folder that bear one number."""

    label: str
    """`ADR-0002`."""
    paths: tuple[str, ...]
    """Relative to the project's root, by name."""

    @property
    def text(self) -> str:
        """What is so; each path is a stranger's."""
        return f"{self.label} is the number of {len(self.paths)} records: {', '.join(self.paths)}"


class NumberedPath(NamedTuple):
    """A record whose name, or whose folder's name, bears a number."""

    folder: str
    """Of the sequence: where the file lies, or the folder of the record lies."""
    stem: str
    """Its name without the ending, and without the language of a translation."""
    name: NumberedName


def numbered_path(path: str) -> NumberedPath | None:
    """Where the number of a record counts; None where its name bears none, or it is no record."""
    at = PurePosixPath(path)
    called = name_of_record(path)
    if called == at.parent.name != at.stem:
        at = at.parent  # a record with a folder of its own
    name = None if is_other_page(called) else numbered_name(at.name)
    if name is None:
        return None
    return NumberedPath(at.parent.as_posix(), _TRANSLATED.sub("", called), name)


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

    Those of a folder above or below count too, unless the two have a number in common.
    """
    by_folder: dict[str, set[int]] = {folder: set()}
    for path in paths:
        if (one := numbered_path(path)) is not None:
            by_folder.setdefault(one.folder, set()).add(one.name.number)
    own = by_folder[folder]
    found = set(own)
    for other, numbers in by_folder.items():
        is_near = f"{other}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{other}/")
        if is_near and not numbers & own:
            found |= numbers
    return found
