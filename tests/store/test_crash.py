"""A process is killed at any moment: what it acknowledged is there, and nothing is half done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.events import ArtifactDue
from preflights_es.kernel.ids import decision_uid
from preflights_es.records.session_files import FOLDER, differs, name_session_file
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import verified
from preflights_es.use.request import Request
from tests.fixed import PROJECT
from tests.postgres import hung_up
from tests.store import decider
from tests.store.given import at, batch, heard, said, session_id
from tests.store.mortal import Mortals
from tests.store.writer import SESSIONS

ROUNDS = {"sqlite": 15, "postgres": 6}
"""Kills, of each engine; the second is the slower one to look through."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty log lies."""
    if request.param == "sqlite":
        return str(tmp_path)
    url: str = request.getfixturevalue("postgres")
    return url


@contextmanager
def alone(place: str) -> Iterator[SqlStore]:
    """A log without other users; a server finishes what it was told by one that was killed."""
    if "://" in place:
        hung_up(place)
    with closing(at(place)) as store:
        yield store


@pytest.mark.slow("kills")
def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_none_stuck(place: str) -> None:
    acknowledged: list[list[str]] = []
    rounds = ROUNDS["postgres" if "://" in place else "sqlite"]
    with Mortals("tests.store.writer") as writers:
        for n in range(rounds):
            acknowledged += writers.acknowledged(place, f"round{n}")
            with alone(place) as store:
                _everything_fits(store)
                _everything_goes_on(store, f"after{n}")
    assert len(acknowledged) > rounds
    assert {len(ids) for ids in acknowledged} == {1, 2}
    with alone(place) as store:
        recorded = {
            event.input_id for head in store.heads(None) for event in store.read(head.session_id)
        }
        assert {input_id for ids in acknowledged for input_id in ids} <= recorded
        store.check()


def _everything_fits(store: SqlStore) -> None:
    """Head and chain, calls and numbers, and sessions that were moved together."""
    heads = store.heads(None)
    inputs: set[str] = set()
    for head in heads:
        events = verified(store.read(head.session_id), head.hash)
        assert len(events) == head.version
        assert [event.input_id is None for event in events] == [False, True] * (head.version // 2)
        inputs |= {event.input_id for event in events if event.input_id is not None}
    assert set(store.open_calls(PROJECT)) == {(h.session_id, f"call-{h.version}") for h in heads}
    assert set(store.numbers(PROJECT).values()) == {head.session_id for head in heads}
    steps = Counter(tuple(i.split("-")[:2]) for i in inputs if i.startswith("round"))
    assert {count for (_, step), count in steps.items() if int(step) % 3 == 0} <= {2}


def _everything_goes_on(store: SqlStore, prefix: str) -> None:
    for head in store.heads(None):
        number = int(head.session_id[-12:], 16)
        store.append(
            [
                batch(
                    number,
                    said("on", f"{prefix}-{number}"),
                    heard("on"),
                    after=head,
                    opens=(f"call-{head.version + 2}",),
                    closes=(f"call-{head.version}",),
                )
            ]
        )
    assert {h.session_id for h in store.heads(None)} <= {session_id(n + 1) for n in range(SESSIONS)}


@pytest.mark.slow("kills")
def test_a_log_being_made_when_its_process_was_killed_can_be_opened(tmp_path: Path) -> None:
    with Mortals("tests.store.opener") as openers:
        for n in range(ROUNDS["sqlite"] // 3):
            folder = tmp_path / str(n)
            folder.mkdir()
            whole = [f"{number}.db" for (number,) in openers.acknowledged(str(folder))]
            paths = [*folder.glob("*.db")]
            assert {*whole} <= {path.name for path in paths}
            for path in paths:
                with closing(SqlStore(str(path), int, bytes)) as store:
                    assert store.heads(None) == ()
                    store.check()


@pytest.mark.slow("kills")
def test_a_killed_program_leaves_what_the_next_one_finishes(tmp_path: Path, place: str) -> None:
    done: dict[str, set[str]] = {}
    rounds = ROUNDS["postgres" if "://" in place else "sqlite"]
    database = place if "://" in place else "log.db"
    with Mortals("tests.store.decider") as deciders:
        # On a busy machine a child may be killed before it finishes anything: then some more.
        for number in range(5 * rounds):
            if number >= rounds and "finished" in done:
                break
            for word, found in deciders.acknowledged(str(tmp_path), database):
                done.setdefault(word, set()).add(found)
            with alone(place), closing(decider.app(tmp_path, database)) as program:
                program.process.finish_pending()
                _every_document_is_whole(program, tmp_path)
    assert done["finished"]
    with closing(decider.app(tmp_path, database)) as program:
        known = {head.session_id for head in program.process.store.heads(decider.PROJECT)}
        assert set().union(*done.values()) <= known
        for session in done["accepted"]:
            handle = program.process.runner.load(session)
            assert handle.workflow.shown.view(handle.session.state).status == "accepted"


def _every_document_is_whole(program: Request, root: Path) -> None:
    assert program.process.store.open_calls(decider.PROJECT) == ()
    assert [path for path in root.rglob("*.tmp") if path.parent.name != FOLDER] == []
    written: set[Path] = set()
    numbers: list[int] = []
    heads = program.process.store.heads(decider.PROJECT)
    for head in heads:
        handle = program.process.runner.load(head.session_id)
        stored = program.process.store.read(head.session_id)
        assert Replayer(WORKFLOWS).replay(stored, head.hash).status == "identical"
        assert handle.session.calls == ()
        if any(event.type == ArtifactDue.tag for event in stored):
            due, text = program.process.documents.text(head.session_id)
            path = root / due.path
            assert path.read_bytes() == text.encode()
            written.add(path)
            if handle.session.state.filed.number is not None:
                numbers.append(handle.session.state.filed.number)
        else:
            # Where it was killed before: the session is as it was, and takes the next step.
            assert handle.workflow.shown.view(handle.session.state).status in (
                "needs_answers",
                "ready",
            )
    lying = {path for path in (root / "docs").rglob("*") if path.is_file()}
    assert {path for path in lying if path.parent.name != FOLDER} == written
    kept = {path.name: path for path in lying - written}
    assert kept.pop(".gitattributes", None) or not kept
    sessions = {name_session_file(decision_uid(head.session_id)): head.session_id for head in heads}
    assert kept.keys() <= sessions.keys()
    for name, path in kept.items():
        events = program.process.store.read(sessions[name])
        assert not differs(path.read_bytes(), name, events)
        program.process.session_files.keep(sessions[name])
    # A kill at the last of it leaves the file behind the log: keeping it again, as above, tidies.
    assert [*root.rglob("*.tmp")] == []
    assert len(set(numbers)) == len(numbers)
