"""Taking over a file: in little memory, whatever its size."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from preflights_es.core.events import Actor
from preflights_es.runtime.runner import Runner
from preflights_es.runtime.transfer import Transfer
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
            file.write(jsonl.lines(runner.store.read(handle.session_id)))


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
