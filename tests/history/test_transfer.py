"""Taking over a file: in little memory, whatever its size."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, count
from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.history import imports as two_pass_reader
from preflights_es.history.transfer import TOGETHER, Transfer, TransferredSession
from preflights_es.kernel.errors import LogDamaged, Refused
from preflights_es.kernel.events import Actor
from preflights_es.runtime.runner import Runner
from preflights_es.store import jsonl
from preflights_es.store.memory import MemoryStore
from tests import toy
from tests.fixed import NOON, PROJECT, Clock, Ids, salt
from tests.store.given import sql

SESSIONS = 60
LETTERS = 300_000  # of every session's one text, which its log holds twice
WORKFLOWS = {toy.WORKFLOW.name: toy.WORKFLOW}


def write(path: Path) -> None:
    """A packed file of sessions that are long, each recorded and forgotten again."""
    ids, clock = Ids(), Clock()
    said = toy.Said(at=NOON, actor=Actor("script"), text="")
    with path.open("wb") as raw, jsonl.packed(raw) as file:
        for number in range(SESSIONS):
            runner = Runner(MemoryStore(clock, salt), WORKFLOWS, clock, ids)
            new = replace(said, text=f"{number:06d}" * (LETTERS // 6))
            handle = runner.open(toy.WORKFLOW, PROJECT, new, ids(), ids()).handle
            events = runner.store.read(handle.session_id)
            file.write(
                (b"" if number else jsonl.FIRST) + b"".join(map(jsonl.encode_event_line, events))
            )


@pytest.mark.slow("sizes")
def test_a_large_file_is_taken_over_and_written_again_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl.gz"
    write(path)
    with closing(sql(tmp_path)) as store, path.open("rb") as file:

        def lines() -> Iterator[bytes]:
            return jsonl.lines_in(file, path.name)

        transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
        tracemalloc.start()
        try:
            new = sum(one.new for one in transfer.imported(lines, path.name))
            length = sum(map(len, transfer.all(store.heads(PROJECT))))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert new == 2 * SESSIONS
        assert length == sum(map(len, lines())) > 2 * SESSIONS * LETTERS
        # A session is held a few times over: decoded, hashed, bound to a statement.
        assert peak < 20 * 2 * LETTERS < length / 2


# Many, and what changes meanwhile --------------------------------------------------------------


def small(many: int) -> bytes:
    """Lines of so many short sessions."""
    ids, clock = Ids(), Clock()
    store = MemoryStore(clock, salt)
    runner = Runner(store, WORKFLOWS, clock, ids)
    said = toy.Said(at=NOON, actor=Actor("script"), text="x" * 400)
    opened = (runner.open(toy.WORKFLOW, PROJECT, said, ids(), ids()) for _ in range(many))
    return jsonl.encode_event_file(
        event for step in opened for event in store.read(step.handle.session_id)
    )


def taking(folder: Path, contents: list[bytes]) -> Iterator[TransferredSession]:
    """What comes of a file whose passes find one content after the other."""
    folder.mkdir()
    with closing(sql(folder)) as store:
        each = iter(contents)
        transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
        yield from transfer.imported(lambda: next(each).splitlines(keepends=True), "file.jsonl")


def peak(folder: Path, content: bytes) -> int:
    """Bytes, beyond what the file itself takes."""
    tracemalloc.start()
    try:
        lines = content.splitlines()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        folder.mkdir()
        with closing(sql(folder)) as store:
            transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
            assert sum(one.new for one in transfer.imported(lambda: lines, "f")) == len(lines) - 1
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.slow("sizes")
def test_a_session_more_in_a_file_takes_next_to_no_memory(tmp_path: Path) -> None:
    few, many = small(1_400), small(3_000)
    assert len(few) > 2 * TOGETHER, "one transaction is held while the next is read"
    warm = peak(tmp_path / "warm", few)
    grown = peak(tmp_path / "many", many) - peak(tmp_path / "few", few)
    assert warm > 0
    assert grown < 1_600 * 450, "of 1,700 bytes that each of them has"


def test_an_event_that_comes_again_and_again_is_not_held_in_memory(tmp_path: Path) -> None:
    """A few megabytes, packed, may unpack to more than there is memory for."""
    form, first, _ = small(1).splitlines(keepends=True)
    read = count()
    bomb = chain([form], (first for _ in zip(range(1_000_000), read, strict=False)))
    with closing(sql(tmp_path)) as store:
        transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
        with pytest.raises(LogDamaged, match="event 2: missing: the next one is 1"):
            list(transfer.imported(lambda: bomb, "bomb.jsonl.gz"))
    assert next(read) < 10


def test_progress_is_told_with_every_session_of_both_passes(tmp_path: Path) -> None:
    told: list[None] = []
    then: list[int] = []

    def lines() -> Iterator[bytes]:
        for line in small(5).splitlines(keepends=True):
            then.append(len(told))
            yield line

    with closing(sql(tmp_path)) as store:
        transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
        list(transfer.imported(lines, "file", lambda: told.append(None)))
    assert then[:11] == [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4], "a session is whole when another begins"
    assert len(told) == 10


def test_a_session_that_fits_in_no_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_pass_reader, "SESSION_MAX", 1_000)
    with closing(sql(tmp_path)) as store:
        transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
        with pytest.raises(Refused, match="more than 1,000 bytes in file: it cannot"):
            list(transfer.imported(lambda: small(1).splitlines(keepends=True), "file"))


def test_a_file_of_more_sessions_than_are_counted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_pass_reader, "SESSIONS_MAX", 3)
    lines = {sessions: small(sessions).splitlines(keepends=True) for sessions in (3, 4)}
    with closing(sql(tmp_path)) as store:
        transfer = Transfer(Runner(store, WORKFLOWS, Clock(), Ids()), store)
        with pytest.raises(
            Refused, match=r"^file has more than 3 sessions: split it; nothing was imported$"
        ):
            list(transfer.imported(lambda: lines[4], "file"))
        assert store.heads(None) == ()
        assert len(list(transfer.imported(lambda: lines[3], "file"))) == 3


def test_a_million_sessions_of_a_file_are_counted() -> None:
    two_pass_reader._refuse_many(range(1_000_000), "file")
    with pytest.raises(Refused, match=r"^file has more than 1,000,000 sessions: split it$"):
        two_pass_reader._refuse_many(range(1_000_001), "file")


def test_a_file_that_changes_between_the_passes_is_refused(tmp_path: Path) -> None:
    whole = small(3)
    lines = whole.splitlines(keepends=True)
    grown = small(4)
    assert grown.startswith(whole)
    changed = {
        "flipped": whole.replace(b"xxx", b"xxy", 1),
        "cut": b"".join(lines[:5]),
        "garbage": b"".join([*lines[:5], b"garbage"]),
        "swapped": b"".join(lines[:1] + lines[3:] + lines[1:3]),
        "mixed": b"".join([*lines[:3], *lines[5:], *lines[3:5], *lines[1:3]]),
        "grown": grown,
        "newer": whole.replace(b'{"format":1', b'{"format":2'),
    }
    for name, second in changed.items():
        with pytest.raises(
            Refused, match=r"changed .* \(sessions taken over before: 0\)"
        ) as caught:
            list(taking(tmp_path / name, [whole, second]))
        assert str(caught.value).startswith("file.jsonl has changed while it was imported")
    assert len(list(taking(tmp_path / "same", [whole, whole]))) == 3


def test_a_file_that_changes_late_leaves_what_was_taken_before(tmp_path: Path) -> None:
    whole = small(4_000)
    taken: list[TransferredSession] = []
    with pytest.raises(Refused, match="changed") as caught:
        taken += taking(tmp_path / "late", [whole, whole[:-100]])
    with closing(sql(tmp_path / "late")) as store:
        count = store.counts()["sessions"]
    assert 0 < count < 4_000
    assert f"(sessions taken over before: {count:,})" in str(caught.value)
