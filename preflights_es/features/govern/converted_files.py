"""Files of which git may keep other bytes than those that a check reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from preflights_es.features.govern.changes import ENCODING, ChangeSet, converted, files_at
from preflights_es.features.govern.domain.imports import is_read
from preflights_es.features.govern.required_signatures import SIGNERS
from preflights_es.records.record_folder import ADR_DIR, LOG4BRAINS, folder_of
from preflights_es.records.record_names import is_page
from preflights_es.settings.signing import REPOSITORY
from preflights_es.system.files import Unreadable
from preflights_es.use.request import Request

ATTRIBUTES = ".gitattributes"


class ConvertedFile(NamedTuple):
    """A file, and the attribute of git by which what lies here is not what git keeps."""

    path: str
    attribute: str


def converted_files(request: Request, change: ChangeSet) -> Iterator[ConvertedFile]:
    """Files of settings, signers and sessions that an attribute of git converts.

    All are looked at where attributes change, else those that the change touches. Of records,
    another encoding counts: here it may say what git does not have.
    """
    process = request.process
    root, places = process.settings.root, [*process.session_folders]
    folders = tuple(f"{one.path}/" for one in places)
    paths = [one.path for one in change.files if one.path.startswith(folders)]
    if any(one.name == ATTRIBUTES for one in change.files):
        for place in places:
            with suppress(Unreadable):  # it is a finding of its own
                paths += [f"{place.path}/{name}" for name in place.names()]
    source = process.settings.source
    paths += [SIGNERS, REPOSITORY, ADR_DIR, LOG4BRAINS]
    paths += [os.path.relpath(source, root).replace(os.sep, "/")] if source else []
    there = [path for path in dict.fromkeys(paths) if os.path.lexists(root / path)]
    for path, attribute in converted(root, there).items():
        yield ConvertedFile(path, attribute)
    folders_of_records = process.record_places.folders
    pages = (
        path
        for path in _named(root, change)
        if is_page(path) and folder_of(path, folders_of_records)
    )
    for path, attribute in converted(root, [*pages], (ENCODING,)).items():
        if path not in there:
            yield ConvertedFile(path, attribute)


def converted_sources(root: Path, change: ChangeSet) -> list[str]:
    """Files of an encoding of their own that can import; all where attributes change."""
    paths = [*filter(is_read, _named(root, change))] if change.base else []
    return [*converted(root, paths, (ENCODING,))]


def _named(root: Path, change: ChangeSet) -> Iterable[str]:
    if any(one.name == ATTRIBUTES for one in change.files):
        return {**files_at(root, "HEAD"), **files_at(root, change.tip)}
    return (one.path for one in change.files)
