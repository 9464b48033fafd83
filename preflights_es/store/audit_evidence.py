"""What an audit compares the log with, beside its chains: the tables that no chain covers, and a
checkpoint that is kept elsewhere (docs/specs/log.md, section 13).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from io import BytesIO
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import LogDamaged, LogFromFuture
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.ports import ClaimRow, Numbered
from preflights_es.store.database import Look, Looking, Statements
from preflights_es.store.frozen import frozen
from preflights_es.store.jsonl import is_id
from preflights_es.store.log_rows import in_folder
from preflights_es.store.sql import SqlStore

PAGE: Final = 500  # rows that are read at once
NAMED_MAX: Final = 1_000  # stray rows of a table that are named; those behind are not


class SqlAuditing(Looking):
    """Reads the tables beside the chains."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("side_tables", store.database)
        self._dialect = store.database.dialect
        self._log = Statements("log", store.database)

    def guards(self) -> Iterator[str]:
        return trigger_trouble(self._dialect, self.database.looked)

    def untyped(self, project: str | None) -> Iterator[tuple[str, int]]:
        if self._dialect != "sqlite":
            return  # PostgreSQL keeps to the type of a column
        for session_id, version, of in self._rows("untyped", at_most=NAMED_MAX):
            if project in (None, of):
                yield str(session_id), version if isinstance(version, int) else 0

    def strays(self, project: str | None) -> Iterator[tuple[str, str, str]]:
        for table in ("marks", "outbox", "claims"):
            for session_id, version, of, head in self._rows(f"strays_{table}", at_most=NAMED_MAX):
                if of is None:
                    yield str(session_id), table, f"a row of {table!r} is of no session of this log"
                elif project in (None, of):
                    found = f"a row of {table!r} says {version!r}, and the session has {head!r}"
                    yield str(session_id), table, found
        for (name,) in self._rows("unknown_marks", at_most=NAMED_MAX):
            found = f"rows of 'marks' are of {str(name)!r}, which is no projection of this log"
            yield "", "", found

    def newer(self, versions: Mapping[str, int]) -> Iterator[tuple[str, Any]]:
        for name, version in self._rows("registered"):
            if not isinstance(version, int) or version > versions.get(name, 0):
                yield str(name), version

    def moved(self, project: str) -> tuple[str, ...]:
        """Sessions that rows name as a project's, and of which the head names another project."""
        return tuple(str(row[0]) for row in self._rows("moved", of_project=project))

    def claimed(self) -> Iterator[str]:
        return self._ids("claimed")

    def asking(self) -> Iterator[str]:
        return self._ids("asking")

    def claims(self, session_id: str) -> tuple[ClaimRow, ...]:
        """The rows of a session's open calls, as they lie there."""
        rows = self._rows("session_claims", of_session=session_id)
        return tuple(ClaimRow(*row) for row in rows)

    def imported(self, session_id: str) -> frozenset[str]:
        """Documents of a session that this log does not owe, by their calls."""
        return frozenset(str(row[0]) for row in self._rows("imported", of_session=session_id))

    def _ids(self, which: str) -> Iterator[str]:
        after = ""
        while rows := self._rows(which, after=after, at_most=PAGE):
            yield from (str(row[0]) for row in rows)
            after = rows[-1][0]

    def count_numbers(self, project: str | None) -> int:
        rows = self._rows("count_numbers")
        return sum(count for of, holders, count in rows if project in (None, of, holders))

    def numbers(self, project: str | None) -> Iterator[tuple[str, str, Numbered]]:
        place: dict[str, Any] = {"after_project": "", "after_folder": "", "after_number": -1}
        while rows := self._rows("held_numbers", at_most=PAGE, **place):
            for of, folder, number, session_id, holders in rows:
                if project in (None, of, holders):
                    yield str(session_id), str(of), Numbered(folder, number)
            place = dict(zip(place, rows[-1], strict=False))

    def holder(self, project: str, number: Numbered) -> str | None:
        """The session that was given a number, which no other one can take then."""
        rows = self._rows("given", of_project=project, **in_folder(number))
        return str(rows[0][0]) if rows else None

    def gone(self) -> Iterator[tuple[str, int, str]]:
        """Project, number and session of what was given to a session that is not there."""
        for project, number, session_id in self._rows("gone"):
            yield str(project), number, str(session_id)


# Triggers that guard events -----------------------------------------------------------------

# A user who may drop a trigger may do everything else. But a missing trigger no longer prevents
# mistakes, and a foreign one may write what no command asked for.

# By name: what each trigger says, white space aside; a test compares them with the migrations.
ON_SQLITE: Final = {
    "events_are_kept": "7340c8375c460156c6eaec5d7cf3bb19cf79c2eaf67da1a1004cc5508c0807cd",
    "events_are_immutable": "d3245b82e8507fc525776f4e3bb1e42393cdd3833b8f9a47e8d64fe9e5a92a03",
    "events_are_not_replaced": "ed3ef8d5525425ca986e31092e6727e8db9f705134f676e767d0171274d46d4a",
}
_KEPT: Final = "aae9b8a60cb92851b04f37f87439c74f54e6dce8980582e1dfbb38befb41b6a7"
_GUARD: Final = "f8582d72cc503af2dc6e1c81fe55da598d6f15d503566a66c70103d843b1da93"
ON_POSTGRESQL: Final = {
    "events_are_not_emptied": f"events 34 - {_KEPT}",
    "events_are_kept": f"events 11 - {_KEPT}",
    "events_are_immutable": f"events 19 - {_GUARD}",
}
"""Table, when it fires (`pg_trigger.tgtype`), a condition, and its function's body."""

_SQLITE: Final = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
_POSTGRESQL: Final = """
SELECT t.tgname, k.relname, t.tgtype, coalesce(t.tgqual::text, t.tgattr::text), p.prosrc,
  t.tgenabled
FROM pg_catalog.pg_trigger AS t
JOIN pg_catalog.pg_class AS k ON k.oid = t.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = k.relnamespace
JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
WHERE NOT t.tgisinternal AND n.nspname = current_schema() AND k.relname = ANY(%s)
ORDER BY t.tgname
"""
_RULES: Final = """
SELECT rulename FROM pg_catalog.pg_rules
WHERE schemaname = current_schema() AND tablename = ANY(%s) ORDER BY rulename
"""

_DROP: Final = "find out who made it, then drop it"
_AGAIN: Final = (
    "find out who did that, then restore the log from a copy, or export it and import it into a "
    "new one"
)


def trigger_trouble(dialect: str, look: Look) -> Iterator[str]:
    """What is wrong with the triggers of a log, and what to do."""
    if dialect == "sqlite":
        there = {name: _digest_trigger_text(sql) for name, sql in _looked_up(look, _SQLITE)}
        yield from _compare_triggers(there, ON_SQLITE)
        return
    ours = sorted(frozen().tables)
    rows = _looked_up(look, _POSTGRESQL, ours)
    there = {}
    for name, table, fires, condition, body, _ in rows:
        there[name] = f"{table} {fires} {condition or '-'} {_digest_trigger_text(body)}"
    yield from _compare_triggers(there, ON_POSTGRESQL)
    for name, *_, enabled in rows:
        if name in ON_POSTGRESQL and enabled not in ("O", b"O", "A", b"A"):
            yield f"the trigger {name!r} is disabled: `ALTER TABLE events ENABLE TRIGGER {name}`"
    for (name,) in _looked_up(look, _RULES, ours):
        yield f"the rule {name!r} is not of preflights: {_DROP}"


def _compare_triggers(there: dict[str, str], expected: dict[str, str]) -> Iterator[str]:
    for name, said in expected.items():
        if name not in there:
            yield f"the trigger {name!r}, which guards events, is missing: {_AGAIN}"
        elif there[name] != said:
            yield f"the trigger {name!r}, which guards events, was changed: {_AGAIN}"
    for name in there:
        if name not in expected:
            yield f"the trigger {name!r} is not of preflights: {_DROP}"


def _looked_up(look: Look, statement: str, *values: Any) -> list[Any]:
    rows: list[Any] = look(lambda cursor: cursor.execute(statement, values).fetchall())
    return rows


def _digest_trigger_text(said: str | None) -> str:
    return sha256(" ".join((said or "").split()).encode()).hexdigest()


VERSION: Final = 1
FILE_MAX: Final = 160 * 1024 * 1024  # bytes: a million sessions

_VERSION_MAX: Final = 2**63 - 1
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
T = TypeVar("T")


class Scope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: which sessions it speaks of."""

    checkpoint: int
    """Version of this form."""
    project: str | None
    """All of whose sessions follow; null for all of the log."""
    log: str
    """What the log calls itself."""


class Tip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A session as far as it had come."""

    session_id: str
    version: Annotated[int, msgspec.Meta(ge=1, le=_VERSION_MAX)]
    hash: str
    """The hash of the event with that version, in hexadecimal."""


class Root(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line."""

    sessions: int
    root: str
    """SHA-256 of all lines before, in hexadecimal."""


class Checkpoint(msgspec.Struct, frozen=True):
    """What a whole file says."""

    project: str | None
    tips: tuple[Tip, ...]
    """By session id."""
    root: str
    log: str
    """What the log called itself."""

    @property
    def scope(self) -> Scope:
        """Its first line."""
        return Scope(VERSION, self.project, self.log)


def checkpoint(project: str | None, tips: Iterable[Tip], log: str) -> Checkpoint:
    """What remembers sessions as they stand."""
    ordered = tuple(sorted(tips, key=lambda tip: tip.session_id))
    made = Checkpoint(project, ordered, "", log)
    root = sha256()
    for line in _body(made):
        root.update(line)
    return replace(made, root=root.hexdigest())


def encode_checkpoint(made: Checkpoint) -> bytes:
    """The file."""
    root = _encode_checkpoint_line(Root(len(made.tips), made.root))
    return b"".join((*_body(made), root))


def _body(made: Checkpoint) -> Iterator[bytes]:
    yield _encode_checkpoint_line(made.scope)
    yield from map(_encode_checkpoint_line, made.tips)


def _encode_checkpoint_line(value: msgspec.Struct) -> bytes:
    return canonical_json(value) + b"\n"


def parse_checkpoint(raw: bytes, where: str) -> Checkpoint:
    """What a file says, once its root holds.

    Args:
        where: the file's name, for messages.

    Raises:
        LogDamaged: it is no checkpoint, or not the one that was written.
        LogFromFuture: a newer version wrote it.
    """
    lines = enumerate(BytesIO(raw), 1)  # one by one: there may be millions of empty ones
    _, first = next(lines, (1, b""))
    found = _decode_checkpoint_line(_Version, first, 1, where).checkpoint
    if found > VERSION:
        ours = f"this version knows {VERSION}"
        raise LogFromFuture(f"{where}: checkpoint version {found}, {ours}: upgrade preflights")
    scope = _decode_checkpoint_line(Scope, first, 1, where)
    tips: list[Tip] = []
    root = None
    for number, line in lines:
        if root is not None:
            raise LogDamaged(f"{where}, line {number}", 0, "it follows the last line, the root")
        if line.startswith(b'{"sessions":'):
            root = _decode_checkpoint_line(Root, line, number, where)
        else:
            tips.append(_tip(line, number, where))
    if root is None:
        raise LogDamaged(where, 0, "its last line, the root, is missing: the file was cut")
    made = checkpoint(scope.project, tips, scope.log)
    is_ours = (root, scope) == (Root(len(tips), made.root), made.scope)
    if not is_ours or tuple(tips) != made.tips:
        raise LogDamaged(where, 0, "its lines do not give its root: the file was changed")
    if len({tip.session_id for tip in tips}) != len(tips):
        raise LogDamaged(where, 0, "it names a session twice")
    return made


def _tip(line: bytes, number: int, where: str) -> Tip:
    tip = _decode_checkpoint_line(Tip, line, number, where)
    if not is_id(tip.session_id) or not _SHA256.fullmatch(tip.hash):
        expected = "expected a session id and a hash of 64 digits"
        raise LogDamaged(f"{where}, line {number}", 0, expected)
    return tip


class _Version(msgspec.Struct):
    checkpoint: int


def _decode_checkpoint_line(cls: type[T], line: bytes, number: int, where: str) -> T:
    try:
        return msgspec.json.decode(line, type=cls)
    except (ValueError, RecursionError) as error:
        found = "this is no checkpoint" if number == 1 else "this is no line of a checkpoint"
        raise LogDamaged(f"{where}, line {number}", 0, found) from error
