"""Results of earlier runs, kept in the user's cache folder: verdicts and hashes, no texts.

A session has the same result as long as its bytes, our code and the change are the same. So the key
is a digest of these. A session that differs is judged again each time: its difference is text.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, Self

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.results import Case, LeftOut
from preflights_es.runtime.features import FEATURES

PACKAGE: Final = Path(__file__).parents[2]
"""Our code."""
FILE: Final = "regress.db"
TOGETHER: Final = 500  # digests that are looked up at once
KEPT_DAYS: Final = 30  # since the last run that used a key
WAIT_S: Final = 5.0  # for another run that writes

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS results (key BLOB, digest BLOB, found BLOB, PRIMARY KEY (key, digest))
  WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS used (key BLOB PRIMARY KEY, day INTEGER) WITHOUT ROWID;
"""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Case)

Judged = tuple[bytes, Case | LeftOut]
"""A session's digest, and what came of it; no digest where nothing of it is kept."""


class KeptResults:
    """Results under one key; a cache that fails is no cache."""

    def __init__(self, folder: Path | None, key: bytes, now: int) -> None:
        """Args:
        folder: None keeps nothing.
        now: microseconds since 1970 UTC.
        """
        self._key = key
        self._database = None if folder is None else _opened(folder, key, now)

    def known(self, digests: Sequence[bytes]) -> dict[bytes, Case]:
        """Results of sessions, by their digests; the caller says where each lies."""
        found: dict[bytes, Case] = {}
        if self._database is None:
            return found
        with suppress(sqlite3.Error, msgspec.MsgspecError, TypeError, ValueError):
            for at in range(0, len(digests), TOGETHER):
                some = digests[at : at + TOGETHER]
                marks = ",".join("?" * len(some))
                asked = f"SELECT digest, found FROM results WHERE key = ? AND digest IN ({marks})"  # noqa: S608  marks alone
                for digest, row in self._database.execute(asked, (self._key, *some)):
                    found[digest] = _decoder.decode(row)
        return found

    def keep(self, judged: Iterable[Judged]) -> None:
        """Keep those that hold no text of a session."""
        if self._database is None:
            return
        rows = [
            (self._key, digest, _encoder.encode(replace(case, source="", repeat="")))
            for digest, case in judged
            if digest and isinstance(case, Case) and case.outcome == "same"
            if not (case.differences or case.causes or case.message)
            if not FEATURES.is_foreign(case.workflow)  # the code of others is not in the key
        ]
        with suppress(sqlite3.Error), self._database:
            self._database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._database is not None:
            self._database.close()


def _opened(folder: Path, key: bytes, now: int) -> sqlite3.Connection | None:
    day = now // (86_400 * 1_000_000)
    with suppress(OSError, sqlite3.Error):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return _prepared(folder / FILE, key, day)
        except sqlite3.OperationalError:
            return None  # another run holds it, or the disk fails
        except sqlite3.DatabaseError:
            for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):  # damaged; they can be made again
                (folder / name).unlink(missing_ok=True)
            return _prepared(folder / FILE, key, day)
    return None


def _prepared(file: Path, key: bytes, day: int) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=WAIT_S)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=OFF")
        database.executescript(_TABLES)
        with database:
            old = "SELECT key FROM used WHERE day < ?"
            database.execute(f"DELETE FROM results WHERE key IN ({old})", (day - KEPT_DAYS,))  # noqa: S608  ours
            database.execute("DELETE FROM used WHERE day < ?", (day - KEPT_DAYS,))
            database.execute("INSERT OR REPLACE INTO used VALUES (?, ?)", (key, day))
    except BaseException:  # a file that is no cache of ours is closed before it goes
        database.close()
        raise
    return database


# Keys ----------------------------------------------------------------------------------------


def code_digest(package: Path = PACKAGE) -> bytes:
    """Of every file of a package that may change what is decided, by name and content."""
    found = sha256()
    for path in sorted(_files(package)):
        content = Path(path).read_bytes()
        name = os.fsencode(os.path.relpath(path, package))
        found.update(b"%d:%s%d:" % (len(name), name, len(content)))
        found.update(content)
    return found.digest()


def _files(folder: Path) -> Iterable[str]:
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.path.join(at, name) for name in files if not name.endswith(".pyc"))


def key_of(parts: Mapping[str, object]) -> bytes:
    """Of all that decides a result besides the session itself."""
    return sha256(msgspec.json.encode(parts, order="deterministic")).digest()
