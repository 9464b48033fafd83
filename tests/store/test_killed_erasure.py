"""An erasing process is killed at any moment: a session is erased as a whole, or not at all."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from preflights_es.history.verification import walked
from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ports import Head
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.store.stored_events import verified
from preflights_es.use.request import Request
from tests.fixed import PROJECT
from tests.postgres import hung_up
from tests.projections.given import NAMES, asked, following, kept, recorded
from tests.projections.recording import goldens
from tests.store.eraser import app, left
from tests.store.mortal import Mortals

ROUNDS: Final = 2  # kills, of each engine
SOME: Final = goldens()[::3]
"""Sessions of every workflow, as many as no process erases before it is killed."""
WORD: Final = b"OAuth"
"""What stands in many of the golden sessions, and in no name of an event."""

Rows = dict[str, dict[str, list[Any]]]
"""Of a projection, by session."""


@pytest.mark.slow("kills")
def test_a_killed_erasure_leaves_each_session_in_one_state(tmp_path: Path, database: str) -> None:
    acknowledged: set[str] = set()
    with Mortals("tests.store.eraser") as erasers:
        for n in range(ROUNDS):
            with closing(app(tmp_path, database)) as program:
                recorded(program.process.store, SOME, first=1 + n * 1_000)
                if n % 2:  # else its rows are still to be made
                    following(program.process.store).catch_up()
                before = rows(program)
            for words in erasers.acknowledged(str(tmp_path), database):
                acknowledged |= {*words}
            if "://" in database:
                hung_up(database)
            with closing(app(tmp_path, database)) as program:
                erased = _each_is_erased_or_whole(program, before)
                assert acknowledged - {"nothing-left"} <= erased
    assert len(acknowledged) >= ROUNDS
    with closing(app(tmp_path, database)) as program:
        _erasing_again_ends_it(program)
    if "://" not in database:
        assert WORD not in b"".join(path.read_bytes() for path in tmp_path.glob("log.db*"))


def rows(program: Request) -> Rows:
    """What is kept by projections, as it lies there."""
    found: Rows = {name: {} for name in NAMES}
    for name, some in kept(program.process.store).items():
        for row in some:
            found[name].setdefault(row["session_id"], []).append(row)
    return found


def _each_is_erased_or_whole(program: Request, before: Rows) -> set[str]:
    """The sessions that are erased."""
    heads = program.process.store.heads(PROJECT)
    assert walked(program.process.store, heads).broken == ()
    now = rows(program)
    erased = {head.session_id for head in heads if _is_erased(program, head)}
    for name in NAMES:
        gone = before[name].keys() - now[name].keys()
        assert gone <= erased
        assert {s: now[name][s] for s in now[name].keys() - erased} == {
            s: some for s, some in before[name].items() if s not in erased
        }
    for head in heads:
        if head.session_id in erased:
            _nothing_of_it_is_left_beside_the_log(program, head, now)
    return erased


def _is_erased(program: Request, head: Head) -> bool:
    """Whether a session is; of its payloads and salts, all that it covers are gone, or none."""
    stored = verified(program.process.store.read(head.session_id), head.hash)
    covered = [event.data is None and event.salt is None for event in stored]
    types = [event.type for event in stored]
    if ERASED_TAG not in types:
        assert not any(covered)
        return False
    assert types.index(ERASED_TAG) == len(types) - 2
    assert covered == [True] * (len(types) - 2) + [False] * 2
    return True


def _nothing_of_it_is_left_beside_the_log(program: Request, head: Head, now: Rows) -> None:
    session_id = head.session_id
    assert session_id not in now["decisions"]
    assert session_id not in now["usage"]
    # A process that came after the erasure may have folded it: then that is all that its row says.
    assert [row["status"] for row in now["sessions"].get(session_id, [])] in ([], ["erased"])
    assert session_id not in dict(program.process.store.open_calls(PROJECT))
    waiting = asked(
        program.process.store, f"SELECT version FROM outbox WHERE session_id = '{session_id}'"
    )
    assert [row[0] for row in waiting] in ([], [head.version])


def _erasing_again_ends_it(program: Request) -> None:
    for session_id in left(program):
        program.erasure.erase(session_id)
    program.process.store.scrubbed()
    heads = program.process.store.heads(PROJECT)
    found = walked(program.process.store, heads)
    assert (found.broken, found.erased) == ((), ROUNDS * len(SOME))
    projections = following(program.process.store)
    projections.catch_up()
    followed = kept(program.process.store)
    assert {row["status"] for row in followed["sessions"]} == {"erased"}
    assert (followed["decisions"], followed["usage"]) == ([], [])
    assert SqlFollowing(program.process.store).counts()["waiting"] == 0
    projections.rebuild()
    assert kept(program.process.store) == followed
