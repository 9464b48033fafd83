"""The log of a repository while its git folder is read-only, as in the sandboxes of some agents.

It begins as a copy of the log in git's folder and goes on in the user's state directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from preflights_es.archive.transfer import Taken, Transfer
from preflights_es.core.errors import NoLog
from preflights_es.core.notices import Notice
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.services.archives import Agreement
from preflights_es.services.process import Process
from preflights_es.settings.load import Settings
from preflights_es.store.backup import copied
from preflights_es.store.sql import SqlStore
from preflights_es.system import atomic_file, clock_ids


def database_of(settings: Settings, tell: Callable[[Notice], None], *, reads: bool) -> str:
    """The database that a command uses: the log in git's folder, or what stands in for it.

    Args:
        reads: whether the command only looks: then it takes git's while nothing stands in for it.

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
    if reads and not place.exists():
        return settings.database
    if not place.exists():
        _begun(settings.database, place)
    text = f"git's folder is read-only: the log is {place}"
    tell(Notice("log_stands_in", text, {"path": str(place)}))
    return str(place)


def _begun(database: str, place: Path) -> None:
    """Copy the log in git's folder, where there is one; another process may be first."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (
        suppress(NoLog, FileExistsError),
        atomic_file.opened(place.parent) as folder,
        folder.new_path(place.name) as new,
    ):
        copied(database, new)


def taken_over(
    process: Process, agrees: Agreement, tell: Callable[[Taken], None]
) -> Iterator[Taken]:
    """Import what was recorded while git's folder was read-only, then set that log aside.

    Raises:
        Refused, StoreUnavailable: as for `Transfer.imported`; the log stays where it is.
    """
    place = process.settings.stand_in
    if place is None or process.settings.is_read_only:
        return
    with closing(SqlStore(str(place), clock_ids.now, clock_ids.salt, creates=False)) as store:
        runner = Runner(store, WORKFLOWS, clock_ids.now, clock_ids.new_id)

        def lines() -> Iterator[bytes]:
            for content in Transfer(runner, store).all(store.heads(None)):
                yield from content.splitlines(keepends=True)

        if store.heads(None, 1):
            for one in process.transfer.imported(lines, str(place), agrees=agrees):
                tell(one)
                yield one
    if agrees.given:
        os.replace(place, place.with_name("taken-over.db"))
