"""Runs one query of others in a process of its own, which ends at the limit whatever the query is.

SQLite asks nothing while one of its functions works on a value, so a limit inside of the process
cannot end every query. The child reads one line of JSON, opens the database by the guards of
`store.guarded_query`, and answers by one line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from decimal import Decimal
from math import isfinite
from threading import Thread, Timer
from typing import Any, BinaryIO, Final, Literal

import msgspec

from preflights_es.kernel.errors import LogDamaged, StoreUnavailable
from preflights_es.store.guarded_query import Limits, QueryFailed, Rows, rows_here, too_long
from preflights_es.store.urls import Address, SqliteFile, parsed

GRACE_S: Final = 0.2  # behind the limit, in which the engine ends the query by itself
PATIENCE_S: Final = 30.0  # beside the limit: to start, to open the database, to hand rows over
LATE: Final = 124  # how the child ends at the limit
NUMBER_MAX: Final = 2**53  # above it, JSON's readers round


class _Asked(msgspec.Struct, frozen=True):
    """What the child is told."""

    address: str
    """Its bytes, in hexadecimal: a path or a URL."""
    is_file: bool
    sql: str
    readable: tuple[str, ...]
    limits: Limits


class _Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What it says: rows, or why there are none."""

    rows: Rows | None = None
    kind: Literal["", "query", "damaged", "unavailable"] = ""
    message: str = ""
    code: str = ""
    version: int = 0


def rows(address: Address, sql: str, readable: Collection[str], limits: Limits) -> Rows:
    """What a query brings, each value as JSON has it.

    Args:
        readable: tables of the database that it may read; empty for all.

    Raises:
        QueryFailed: the database refuses it, or it takes too long.
        LogDamaged, StoreUnavailable: the database cannot be opened.
    """
    if isinstance(address, SqliteFile):
        named, is_file = address.name, True
    else:
        named, is_file = address.render_as_string(hide_password=False), False
    # A file's name may be none of UTF-8.
    asked = _Asked(os.fsencode(named).hex(), is_file, sql, tuple(readable), limits)
    with subprocess.Popen(  # noqa: S603  our own interpreter, and nothing of the query
        [sys.executable, "-P", "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None, "a pipe"
        assert child.stdout is not None, "a pipe"
        late = Timer(limits.seconds + PATIENCE_S, child.kill)
        late.start()
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(msgspec.json.encode(asked) + b"\n")
                child.stdin.flush()  # it stays open: its end tells the child that we are gone
            said = child.stdout.readline()
            ended = 0 if said else child.wait()
        finally:  # also where Ctrl-C ends the wait
            late.cancel()
            child.kill()
    if ended in (LATE, -signal.SIGKILL):
        raise too_long(limits)
    if ended:
        message = f"the process that runs the query ended with {ended}"
        raise RuntimeError(message)
    return _told(said)


def _told(said: bytes) -> Rows:
    answer = msgspec.json.decode(said, type=_Answer)
    match answer.kind:
        case "query":
            raise QueryFailed(answer.message, code=answer.code)
        case "damaged":
            raise LogDamaged("the database", answer.version, answer.message)
        case "unavailable":
            raise StoreUnavailable(answer.message)
        case _:
            assert answer.rows is not None, "it is no error"
            return answer.rows


# The child ------------------------------------------------------------------------------------


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer one question, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    asked = msgspec.json.decode(source.readline(), type=_Asked)
    Thread(target=_end_with, args=(source,), daemon=True).start()
    # No lock of the interpreter is held while an engine works, so this ends whatever it does.
    limit = Timer(asked.limits.seconds + GRACE_S, os._exit, (LATE,))
    limit.daemon = True
    named = os.fsdecode(bytes.fromhex(asked.address))
    address = SqliteFile(named) if asked.is_file else parsed(named)
    try:
        limit.start()
        found = rows_here(address, asked.sql, asked.readable, asked.limits)
        limit.cancel()
        plain = tuple(tuple(map(_plain, row)) for row in found.rows)
        answer = _Answer(Rows(found.columns, plain, found.more))
    except QueryFailed as error:
        answer = _Answer(kind="query", message=str(error), code=error.code)
    except LogDamaged as error:
        answer = _Answer(kind="damaged", message=error.found, version=error.version)
    except StoreUnavailable as error:
        answer = _Answer(kind="unavailable", message=str(error))
    sink.write(msgspec.json.encode(answer) + b"\n")
    sink.flush()
    os._exit(0)  # the thread that waits for the parent cannot be ended


def _end_with(source: BinaryIO) -> None:
    """End as soon as the parent does, also where that is killed."""
    os.read(source.fileno(), 1)
    os._exit(1)


def _plain(value: Any) -> Any:
    """As JSON has it; bytes in hexadecimal, anything else as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case bytes():
            return value.hex()
        case Decimal() if value.is_finite() and abs(value) < NUMBER_MAX:
            return int(value) if value == int(value) else float(value)
        case list() | dict():
            return msgspec.json.encode(value, enc_hook=str).decode()
        case _:
            return str(value)


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
