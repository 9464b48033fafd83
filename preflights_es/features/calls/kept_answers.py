"""Answers that a run of `regress` paid for, beside the log until there is a verdict: so that a run
goes on where it was interrupted, and a person judges the answers that were compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.features.calls.domain.asking import ordered_json
from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.settings.load import cached
from preflights_es.store.urls import SqliteFile
from preflights_es.use.process import Process

ANSWERS_KEPT_S: Final = 30 * 86_400  # seconds; a run that is not taken up until then is given up
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


def digest_of_request(host: str, body: object) -> str:
    """SHA-256 of a body and of the server that is asked."""
    return sha256(f"{host}\n{ordered_json(body)}".encode()).hexdigest()


class KeptAnswers:
    """The file of one run; what cannot be written is not kept."""

    def __init__(self, process: Process, run: str, now_s: float) -> None:
        """Args:
        run: the change, and all else that another run may do otherwise.
        now_s: seconds since 1970 UTC.
        """
        folder = folder_of_answers(process)
        key = sha256(run.encode()).hexdigest()
        self._file = None if folder is None else folder / f"{key}.jsonl"
        with suppress(OSError):
            for file in _files_of_answers(process):
                if file.stat().st_mtime < now_s - ANSWERS_KEPT_S:
                    file.unlink()

    def read(self) -> dict[str, KeptAnswer]:
        """By their keys; of two answers to one request the newer."""
        return _newest_by_key(self._file) if self._file else {}

    def keep(self, answer: KeptAnswer) -> None:
        """Write an answer behind the others."""
        if self._file is None:
            return
        line = b"\n%b\n" % msgspec.json.encode(answer)  # the line before may have been cut off
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(file, "ab") as out:
                out.write(line)

    def forget(self) -> None:
        """The run has its verdict."""
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink()
                self._file.parent.rmdir()  # unless another run has answers there


def folder_of_answers(process: Process) -> Path | None:
    """Beside the log; without one, or on a server, in the cache of this machine, if it has one."""
    url = process.store.url
    if isinstance(url, SqliteFile) and process.store.lasts:
        return Path(f"{url.name}{ENDING}")
    cache = cached("regress")
    return cache and cache / ENDING.removeprefix("-")


def read_last_run(process: Process) -> list[KeptAnswer]:
    """The answers of the run that asked last; none where it has its verdict."""
    files = _files_of_answers(process)
    if not files:
        return []
    return [*_newest_by_key(max(files, key=lambda file: file.stat().st_mtime_ns)).values()]


def erase_kept_answers(process: Process, session_id: str) -> None:
    """Take the answers to a session's calls out of the files of all runs.

    Raises:
        StoreUnavailable: a file cannot be read or written.
    """
    for file in _files_of_answers(process):
        try:
            lines = list(_kept_lines(file))
            left = [one for one in lines if one.session != session_id]
            if not left:
                file.unlink()
            elif len(left) < len(lines):
                file.write_bytes(b"".join(b"%b\n" % msgspec.json.encode(one) for one in left))
        except OSError as error:
            raise StoreUnavailable(
                f"{file} cannot be erased: {error.strerror}: delete it"
            ) from error


def _files_of_answers(process: Process) -> list[Path]:
    folder = folder_of_answers(process)
    return [] if folder is None else sorted(folder.glob("*.jsonl"))


def _newest_by_key(file: Path) -> dict[str, KeptAnswer]:
    return {one.key: one for one in _kept_lines(file)}


def _kept_lines(file: Path) -> Iterator[KeptAnswer]:
    lines: list[bytes] = []
    with suppress(FileNotFoundError):
        lines = file.read_bytes().splitlines()
    for line in lines:
        with suppress(msgspec.MsgspecError, ValueError):  # it was cut off, or is empty
            yield msgspec.json.decode(line, type=KeptAnswer)
