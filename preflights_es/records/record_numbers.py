"""Numbers of records: one sequence in each folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from preflights_es.kernel.text import late_pattern
from preflights_es.records.record_names import NumberedName, is_other_page, numbered_name

_TRANSLATED = late_pattern(r"\.[a-z]{2}(?:-[A-Za-z]{2})?$")
_PAGE_OF_FOLDER = ("readme", "index")


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
    if at.stem.lower() in _PAGE_OF_FOLDER:
        at = at.parent  # a record with a folder of its own
    elif is_other_page(at.stem):
        return None
    name = numbered_name(at.name)
    if name is None:
        return None
    return NumberedPath(at.parent.as_posix(), _TRANSLATED.sub("", at.stem), name)


def number_clashes(paths: Iterable[str]) -> Iterator[NumberClash]:
    """The numbers that several records of one folder bear; translations of one count once."""
    found: dict[tuple[str, str, int], dict[str, str]] = {}
    labels: dict[tuple[str, str, int], str] = {}
    for path in sorted(paths):
        if (one := numbered_path(path)) is not None:
            place = (one.folder, one.name.series, one.name.number)
            found.setdefault(place, {}).setdefault(one.stem, path)
            labels.setdefault(place, one.name.label)
    for place, records in found.items():
        if len(records) > 1:
            yield NumberClash(labels[place], tuple(records.values()))
