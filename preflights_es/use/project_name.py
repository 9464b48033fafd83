"""What a project is called in a log that other repositories share, and what a person is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

from preflights_es.kernel.errors import Notice
from preflights_es.kernel.text import NAME_MAX, line_trouble
from preflights_es.records.session_files import SessionFolders
from preflights_es.settings.load import Settings
from preflights_es.store.sql import Named, Projects, SqlStore
from preflights_es.store.urls import file_of
from preflights_es.system import files as atomic_file
from preflights_es.use.reading import projects_said


def named(
    settings: Settings, log: SqlStore, tell: Callable[[Notice], None], *, claims: bool
) -> Named:
    """The project's name in a log: in the repository's own, and where a person said it, as it is.

    Args:
        claims: whether the command may take a name, with the sessions that the log has of it.

    Raises:
        Refused: other repositories have every name that this one could have.
        StoreUnavailable: the log cannot be read.
    """
    repository, file = settings.repository, file_of(log.url)
    if repository is None or (file is not None and repository.owns(file)):
        return Named(settings.project)
    found = Projects(log).named(settings.project, repository.identity(), claims=claims)
    for one in _notices(settings.project, found):
        tell(one)
    return found


def adopted(settings: Settings, folders: SessionFolders, *, keeps: bool) -> str:
    """The name that session files say most often, in a clone whose own log has no session yet.

    A clone may lie in a folder of another name, and its sessions belong to the same project.

    Args:
        keeps: whether the name is remembered: files of another branch may say none.
    """
    file = settings.project_file
    if file is None:
        return settings.project
    said = Counter(name for folder in folders for name in projects_said(folder)).most_common(1)
    name = said[0][0] if said else settings.project
    if name == settings.project or line_trouble(name, NAME_MAX):
        return settings.project
    if keeps:
        with (
            suppress(OSError),
            atomic_file.opened(file.parent.parent, (file.parent.name,), makes=True) as place,
            place.new(file.name) as new,
        ):
            new.write(f"{name}\n".encode())
    return name


def _notices(plain: str, found: Named) -> Iterator[Notice]:
    name = found.name
    if found.is_new and name != plain:
        text = (
            f"another repository has the project name {plain!r} in this log: this one is {name!r} "
            "from now on. For another name, set PREFLIGHTS_PROJECT"
        )
        yield Notice("project_renamed", text, {"name": name})
    if found.sessions:
        count = f"{found.sessions:,} session{'s' if found.sessions > 1 else ''}"
        text = (
            f"this repository has the project name {name!r} in this log from now on, with {count} "
            "recorded before. If another repository recorded them, set PREFLIGHTS_PROJECT here "
            "to another name, and there to this one"
        )
        yield Notice("sessions_claimed", text, {"name": name, "sessions": found.sessions})
    if found.is_unclaimed:
        text = (
            f"the log does not say which repository recorded the sessions of {plain!r}: they are "
            "shown, and no document of theirs is written"
        )
        yield Notice("sessions_unclaimed", text, {"name": plain})
