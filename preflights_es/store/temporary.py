"""A log for as long as one command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from preflights_es.store.sql import SqlStore


@contextmanager
def temporary_log(now: Callable[[], int], salt: Callable[[], bytes]) -> Iterator[SqlStore]:
    """A log that goes with all that it holds."""
    with TemporaryDirectory(prefix="preflights-") as folder:
        log = SqlStore(str(Path(folder, "log.db")), now, salt)
        try:
            yield log
        finally:
            log.close()


@contextmanager
def empty_log(now: Callable[[], int], salt: Callable[[], bytes]) -> Iterator[SqlStore]:
    """An empty log, so that every command says in its own words that there is nothing."""
    with temporary_log(now, salt) as empty:
        yield empty
        # What was recorded in a log that is thrown away would be lost without a word.
        assert not empty.heads(None, 1), "a command recorded something that may not make the log"
