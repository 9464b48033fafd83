"""Answers that a run of `regress` paid for, beside the log until there is a verdict: so that a run
goes on where it was interrupted, and a person judges the answers that were compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.features.calls.domain.dialects import ordered_json
from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.settings.load import cached
from preflights_es.store.urls import SqliteFile
from preflights_es.system.kept_lines import (
    KeptLines,
    list_kept_files,
    read_kept_lines,
    remove_kept_lines,
)
from preflights_es.use.process import Process

ENDING: Final = "-answers"
"""Of the folder, behind the name of the log."""


class KeptAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, as a line of the file."""

    session: str
    call: int
    is_changed: bool
    """Whether the change was asked, not the unchanged side."""
    key: str
    """`digest_of_request`: what was asked, and where."""
    content_type: str
    answer: str
    margin: float
    """Of the run: what is judged later is held against it."""
    resuming: str = ""
    """The command that goes on with the run: another one of the same change has other sessions."""


def digest_of_request(host: str, body: object) -> str:
    """SHA-256 of a body and of the server that is asked."""
    return sha256(f"{host}\n{ordered_json(body)}".encode()).hexdigest()


def keep_answers_of_run(process: Process, run: str, now_s: float) -> KeptLines[KeptAnswer]:
    """What a run keeps.

    Args:
        run: the change, and all else that another run may do otherwise.
        now_s: seconds since 1970 UTC.
    """
    return KeptLines(folder_of_answers(process), run, KeptAnswer, now_s)


def folder_of_answers(process: Process) -> Path | None:
    """Beside the log; without one, or on a server, in the cache of this machine, if it has one."""
    url = process.store.url
    if isinstance(url, SqliteFile) and process.store.lasts:
        return Path(f"{url.name}{ENDING}")
    cache = cached("regress")
    return cache and cache / ENDING.removeprefix("-")


def list_answer_files(process: Process) -> list[Path]:
    """One of each run that has no verdict yet."""
    return list_kept_files(folder_of_answers(process))


def read_last_run(process: Process) -> list[KeptAnswer]:
    """The answers of the run that asked last; none where it has its verdict."""
    files = list_answer_files(process)
    if not files:
        return []
    last = max(files, key=lambda file: file.stat().st_mtime_ns)
    kept = read_kept_lines(last, KeptAnswer)
    return [*newest_by_key(one for one in kept if one.resuming == kept[-1].resuming).values()]


def newest_by_key(answers: Iterable[KeptAnswer]) -> dict[str, KeptAnswer]:
    """By their keys; of two answers to one request the newer."""
    return {one.key: one for one in answers}


def erase_kept_answers(process: Process, session_id: str) -> None:
    """Take the answers to a session's calls out of the files of all runs.

    Raises:
        StoreUnavailable: a file cannot be read or written.
    """
    for file in list_answer_files(process):
        try:
            remove_kept_lines(file, KeptAnswer, lambda one: one.session == session_id)
        except OSError as error:
            raise StoreUnavailable(
                f"{file} cannot be erased: {error.strerror}: delete it"
            ) from error
