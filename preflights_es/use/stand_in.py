"""The log of a repository while its git folder is read-only, as in the sandboxes of some agents.

It begins as a copy of the log in git's folder, goes on in the user's state directory, and takes
over what other processes record in git's folder meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

from preflights_es.history.imports import Importer
from preflights_es.history.transfer import Transfer, TransferredSession
from preflights_es.kernel.errors import NoLog, Notice, PreflightsError, ReadOnlyLog
from preflights_es.kernel.ports import Access
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.settings.load import Settings
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import copied
from preflights_es.system import clock_ids
from preflights_es.system import files as atomic_file
from preflights_es.use.archives import Agreement, Lines, imported_each
from preflights_es.use.process import Process, projected

SEEN: Final = "seen"
"""A file beside the log: its time is that of the last change that was seen in git's log."""


def database_of(settings: Settings, tell: Callable[[Notice], None], access: Access) -> str:
    """The database that a command uses: the log in git's folder, or what stands in for it.

    Args:
        access: who does not wait takes git's while nothing stands in for it.

    Raises:
        StoreUnavailable: the log cannot be copied.
    """
    place = settings.stand_in
    if place is None:
        return settings.database
    if not settings.is_read_only:
        text = f"{place} holds what was recorded while git's folder was read-only"
        tell(Notice("stand_in_waits", text, {"path": str(place)}))
        return settings.database
    if not (access.waits or place.exists()):
        return settings.database
    if place.exists():
        _follow(settings.database, place, tell)
    else:
        _begin_stand_in(settings.database, place)
    text = f"git's folder is read-only: the log is {place}"
    tell(Notice("log_stands_in", text, {"path": str(place)}))
    return str(place)


def refuse_erasing(settings: Settings) -> None:
    """The text would stay in git's log, whatever became of a copy of it.

    Raises:
        ReadOnlyLog: the log is one that stands in.
    """
    if settings.is_read_only:
        found = f"nothing was erased: git's folder is read-only, and the log is {settings.database}"
        raise ReadOnlyLog(f"{found}: run this where it can be written")


def _begin_stand_in(database: str, place: Path) -> None:
    """Copy the log in git's folder, where there is one; another process may be first."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    changed = _log_changed_at(database)
    with (
        suppress(NoLog, FileExistsError),
        atomic_file.open_folder_below(place.parent) as folder,
        folder.new_path(place.name) as new,
    ):
        copied(database, new)
    _remember(place, changed)


def _follow(database: str, place: Path, tell: Callable[[Notice], None]) -> None:
    """Take over what the log in git's folder recorded since the last look at it."""
    changed = _log_changed_at(database)
    with suppress(OSError):
        if place.with_name(SEEN).stat().st_mtime_ns == changed:
            return
    try:
        with (
            closing(_open_existing_log(database)) as log,
            closing(_open_existing_log(place)) as here,
        ):
            transfer = Transfer(_runner(here), here, projected())
            coming = _find_lacking_sessions(log, here)
            for _ in imported_each(
                transfer, coming, database, agrees=lambda _: True, refused={}, importer=None
            ):
                pass
    except NoLog:
        pass
    except PreflightsError as error:
        text = f"what {database} recorded meanwhile is not seen: {error}"
        tell(Notice("stand_in_behind", text, {"path": database}))
        return
    _remember(place, changed)


def _log_changed_at(database: str) -> int:
    """When a log was last written to, in nanoseconds since 1970."""
    found = [0]
    for path in (database, f"{database}-wal"):
        with suppress(OSError):
            found.append(os.stat(path).st_mtime_ns)
    return max(found)


def _remember(place: Path, changed: int) -> None:
    seen = place.with_name(SEEN)
    with suppress(OSError):
        seen.touch()
        os.utime(seen, ns=(changed, changed))


def take_over_stand_in(
    process: Process,
    agrees: Agreement,
    tell: Callable[[TransferredSession], None],
    importer: Importer,
) -> Iterator[TransferredSession]:
    """Import what was recorded while git's folder was read-only, then set that log aside.

    A session that went another way in git's folder stays in the log that is set aside.

    Raises:
        Refused, StoreUnavailable: as for `Transfer.imported`; the log stays where it is.
    """
    place = process.settings.stand_in
    if place is None or process.settings.is_read_only:
        return
    if importer.is_agent:
        text = f"an agent leaves {place} as it is"
        process.tell(Notice("stand_in_left", text, {"path": str(place)}))
        return
    refused: dict[str, str] = {}
    with closing(_open_existing_log(place)) as log:
        coming, into = _find_lacking_sessions(log, process.store), process.transfer
        for one in imported_each(
            into, coming, str(place), agrees=agrees, refused=refused, importer=importer
        ):
            tell(one)
            yield one
    if agrees.given:
        aside = f"apart-{clock_ids.new_id()}.db" if refused else "taken-over.db"
        os.replace(place, place.with_name(aside))
        for why in refused.values():
            text = f"{why}; the other ones lie in {place.with_name(aside)}"
            process.tell(Notice("stand_in_apart", text, {"path": str(place)}))


def _find_lacking_sessions(log: SqlStore, into: SqlStore) -> Lines:
    """The lines of the sessions of one log that another one holds otherwise."""
    heads = {head.session_id: head for head in log.heads(None)}
    known = into.heads_of([*heads])
    out = Transfer(_runner(log), log)

    def lines(session_id: str) -> list[bytes]:
        return out.exported(session_id).splitlines(keepends=True)

    lacking = [id_ for id_ in sorted(heads) if known.get(id_) != heads[id_]]
    return {session_id: partial(lines, session_id) for session_id in lacking}


def _open_existing_log(place: Path | str) -> SqlStore:
    return SqlStore(str(place), clock_ids.now, clock_ids.salt, Access.WRITE)


def _runner(store: SqlStore) -> Runner:
    return Runner(store, WORKFLOWS, clock_ids.now, clock_ids.new_id)
