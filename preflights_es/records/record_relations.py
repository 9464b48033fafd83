"""Which record replaced another, where the older one does not say so."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Final

from preflights_es.records.record_header import RecordHeader, Reference
from preflights_es.records.record_numbers import numbered_path

_DECIDED: Final = frozenset(("none", "accepted", "partly_superseded", "deprecated", "superseded"))
"""What a record with one of these replaced is replaced, also where it holds no more itself."""


def replaced_unsaid(records: Sequence[RecordHeader]) -> dict[str, RecordHeader]:
    """By the path of an older record, the newer one that alone says that it replaced it."""
    found: dict[str, RecordHeader] = {}
    of_path = {one.path: one for one in records}
    of_number: dict[tuple[str, int], list[RecordHeader]] = {}
    for one in records:
        if one.number is not None:
            of_number.setdefault((_sequence(one.path), one.number), []).append(one)
    for newer in records:
        for named in newer.supersedes if newer.status in _DECIDED else ():
            older = _find_named_record(named, newer.path, of_path, of_number)
            if older and older is not newer and older.status in ("none", "accepted"):
                found.setdefault(older.path, newer)
    return found


def _find_named_record(
    named: Reference,
    by: str,
    of_path: Mapping[str, RecordHeader],
    of_number: Mapping[tuple[str, int], Sequence[RecordHeader]],
) -> RecordHeader | None:
    """The record that another one names; None where that could be none or several.

    Args:
        by: the path of the one that names it.
    """
    path, folder = named.path, posixpath.dirname(by)
    if "%" in path:
        from urllib.parse import unquote  # few links have escapes

        path = unquote(path)
    for ending in ("", ".md"):
        if found := of_path.get(posixpath.normpath(posixpath.join(folder, path + ending))):
            return found
    if "/" in path.removeprefix("./") or named.number is None:
        return None
    having = of_number.get((_sequence(by), named.number), ())
    return having[0] if len(having) == 1 else None


def _sequence(path: str) -> str:
    """The folder in which a record's number counts."""
    numbered = numbered_path(path)
    return numbered.folder if numbered else posixpath.dirname(path)
