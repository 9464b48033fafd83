"""A file of sessions that is read twice: verified by the first pass, and the same in the second.

Nothing of a file may be taken over before all of it was seen, and it may be larger than memory: so
it is read again. What the first pass has checked is held to by a hash of every session's lines,
whose key is this process's own unless PYTHONHASHSEED says it: the second checks nothing but that.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Final

from preflights_es.kernel.errors import AnotherVersion, LogDamaged, PreflightsError, Refused
from preflights_es.kernel.ports import Stored
from preflights_es.store import chain, jsonl

SESSIONS_MAX: Final = 1_000_000  # of a file: some hundred bytes are held of each
MIXED_MAX: Final = 128 * 1024 * 1024  # bytes of a session, or of a file of mixed ones

Source = Callable[[], Iterable[bytes]]
"""The lines of a file with their ends, from the first one, each time it is called."""
_Line = tuple[int, int]
"""Its hash and its length in the file, in bytes."""
_Pairs = list[tuple[_Line, Stored]]
"""The lines of a session and its events; the text itself is not held."""
Run = tuple[list[Stored], int]
"""A session and its length in the file, in bytes."""


class Mixed(Exception):
    """A session goes on after another one began."""


class Passes:
    """The sessions of a file, in the order in which they begin there, twice."""

    def __init__(self, source: Source, where: str) -> None:
        """Args:
        where: the file's name, for messages.
        """
        self._source = source
        self._where = where
        self._holds_all = False
        self._hashes = array("q")
        """Of every session, one after the other: a million of them have 8 MB."""

    def first(self) -> Iterator[Run]:
        """The sessions, each line of them an event; the caller verifies them.

        Raises:
            Mixed: a session goes on after another one began: see `is_mixed`.
            LogDamaged: a line is no event; names the line.
            AnotherVersion: another version wrote it.
            Refused: they are mixed, and too large to be put in order.
        """
        del self._hashes[:]
        for pairs in self._sessions(again=False):
            self._hashes.append(_hash(pairs))
            yield _run(pairs)

    def second(self) -> Iterator[Run]:
        """The same again, to the byte.

        Raises:
            Refused: they are not the same.
        """
        hashes = iter(self._hashes)
        try:
            for pairs in self._sessions(again=True):
                if _hash(pairs) != next(hashes, None):
                    raise self._changed()
                yield _run(pairs)
        except (LogDamaged, AnotherVersion, Mixed) as error:
            raise self._changed() from error
        if next(hashes, None) is not None:
            raise self._changed()

    def _changed(self) -> Refused:
        return Refused(f"{self._where} has changed while it was imported: import it again")

    def is_mixed(self) -> bool:
        """Whether sessions are mixed line by line; the passes put them in order from then on."""
        try:
            for _ in self._sessions(again=False):
                pass
        except Mixed:
            self._holds_all = True
        except PreflightsError:
            return False
        return self._holds_all

    def _sessions(self, *, again: bool) -> Iterator[_Pairs]:
        if not self._holds_all:
            pairs = jsonl.with_lines(self._source(), self._where, again=again)
            yield from _runs(pairs, self._where)
            return
        held: dict[str, _Pairs] = {}
        lines = _bounded(self._source(), self._where)
        for line, event in jsonl.with_lines(lines, self._where, again=again):
            held.setdefault(event.session_id, []).append((_line(line), event))
            _refuse_many(held, self._where)
        yield from held.values()


def _runs(pairs: Iterable[tuple[bytes, Stored]], where: str) -> Iterator[_Pairs]:
    """Sessions as they follow each other, none larger than what is held of a mixed file.

    Raises:
        Mixed: one of them goes on after another one began.
        LogDamaged: an event does not follow the one before.
        Refused: a session is too large.
    """
    seen: set[str] = set()
    run: _Pairs = []
    session_id = ""
    size = 0
    for line, event in pairs:
        if event.session_id != session_id:
            if run:
                yield run
            session_id, run, size = event.session_id, [], 0
            if session_id in seen:
                raise Mixed
            seen.add(session_id)
            _refuse_many(seen, where)
        run.append((_line(line), event))
        size += len(line)
        if event.version != len(run):
            chain.verified([event for _, event in run])  # it says so; all behind it would be held
        if size > MIXED_MAX:
            held = f"session {session_id} has more than {MIXED_MAX:,} bytes"
            raise Refused(f"{held} in {where}: it cannot be held in memory")
    if run:
        yield run


def _refuse_many(sessions: Sized, where: str) -> None:
    if len(sessions) > SESSIONS_MAX:
        raise Refused(f"{where} has more than {SESSIONS_MAX:,} sessions: split it")


def _line(line: bytes) -> _Line:
    return hash(line), len(line)


def _hash(pairs: _Pairs) -> int:
    return hash(tuple([line for line, _ in pairs]))


def _run(pairs: _Pairs) -> Run:
    return [event for _, event in pairs], sum([size for (_, size), _ in pairs])


def _bounded(lines: Iterable[bytes], where: str) -> Iterator[bytes]:
    """Lines that have to be held in memory, to be put in order."""
    size = 0
    for line in lines:
        size += len(line)
        if size > MIXED_MAX:
            raise Refused(
                f"the sessions of {where} are mixed line by line, and it has more than "
                f"{MIXED_MAX:,} bytes: sort it by session"
            )
        yield line
