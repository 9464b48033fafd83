"""Many sessions, answered by several processes at once: nothing lost, nothing twice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswersGiven,
    DecisionRecorded,
)
from preflights_es.features.clarification.domain.values import Mark
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Head, Stored
from preflights_es.records.session_files import name_session_file
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import verified
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from tests.projections.given import following, kept
from tests.store import decider
from tests.store.answerer import PROCESSES
from tests.store.mortal import ROOT

SESSIONS: Final = 24
INTENTIONS: Final[tuple[tuple[str, Mark], ...]] = (("Add a login", ""), ("Improve the ui", "task"))
"""In turn: one becomes a record with a number, the other a task without."""


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    """An empty log: a file in the folder of the test, or a server's."""
    url: str = request.getfixturevalue("postgres") if request.param == "postgres" else "log.db"
    return url


@pytest.fixture
def program(tmp_path: Path, database: str) -> Iterator[Request]:
    """The program, with so many sessions that each ask one question."""
    with closing(decider.app(tmp_path, database)) as made:
        for n in range(SESSIONS):
            intention, mark = INTENTIONS[n % len(INTENTIONS)]
            setup, heuristics = made.setup(WORKFLOW), made.process.settings.of(WORKFLOW)
            sessions = clarifications_of(made)
            sessions.open(NewSession(f"{intention} of shop {n}", mark=mark), setup, heuristics)
        yield made


class Said(NamedTuple):
    """What was acknowledged to one of the processes."""

    word: str
    session_id: str
    what: str
    came: list[str]


def said(program: Request, root: Path, database: str) -> list[Said]:
    """What the processes were acknowledged, while another process follows."""
    sessions = [head.session_id for head in program.process.store.heads(None)]
    assert len(sessions) == SESSIONS
    words = (sys.executable, "-m", "tests.store.answerer", str(root), database, *sessions)
    found: list[Said] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as answering:
        assert answering.stdout is not None
        for n, line in enumerate(answering.stdout):
            word, session_id, what, *came = line.split()
            found.append(Said(word, session_id, what, came))
            if n % 40 == 0:
                following(program.process.store).catch_up()
    assert answering.returncode == 0, "a process failed; its traceback stands on stderr"
    return found


@pytest.mark.slow("crowds")
def test_many_sessions_answered_by_four_processes_lose_nothing_and_double_nothing(
    program: Request, tmp_path: Path, database: str
) -> None:
    lines = said(program, tmp_path, database)
    answers = [line for line in lines if line.word == "answered"]
    accepts = [line for line in lines if line.word == "accepted"]
    assert len(answers) == len(accepts) == SESSIONS * PROCESSES
    stored = {head.session_id: _whole(program, head.session_id) for head in _heads(program)}
    assert len(stored) == SESSIONS
    _each_answer_is_there_once(answers, stored)
    _one_answer_of_each_session_counts(program, answers)
    _each_session_is_accepted_once(accepts, stored)
    _each_record_has_a_number_of_its_own(program, tmp_path)
    _the_projections_say_the_same(program.process.store)


def _heads(program: Request) -> list[Head]:
    return list(program.process.store.heads(decider.PROJECT))


def _whole(program: Request, session_id: str) -> tuple[Stored, ...]:
    """The session's events: in their places, chained, and decided today as they were then."""
    head = program.process.store.head(session_id)
    assert head is not None
    stored = program.process.store.read(session_id)
    assert [event.version for event in stored] == list(range(1, head.version + 1))
    verified(stored, head.hash)
    assert Replayer(WORKFLOWS).replay(stored, head.hash).status == "identical"
    inputs = [event.input_id for event in stored if event.input_id is not None]
    assert len(set(inputs)) == len(inputs)
    assert program.process.runner.load(session_id).session.calls == ()
    return stored


def _each_answer_is_there_once(answers: list[Said], stored: dict[str, tuple[Stored, ...]]) -> None:
    given = Counter(
        (session_id, event.data)
        for session_id, events in stored.items()
        for event in events
        if event.type == ClarificationAnswersGiven.tag
    )
    assert len(given) == given.total() == len(answers)
    for answer in answers:
        found = [s for s, data in given if f'"{answer.what}"'.encode() in (data or b"")]
        assert found == [answer.session_id]


def _one_answer_of_each_session_counts(program: Request, answers: list[Said]) -> None:
    counted = {a.session_id: a.what for a in answers if a.came[0] == "ClarificationAnswerAccepted"}
    assert len(counted) == SESSIONS
    assert Counter(a.came[0] for a in answers) == {
        "ClarificationAnswerAccepted": SESSIONS,
        "ClarificationAnswerRefused": SESSIONS * (PROCESSES - 1),
    }
    for session_id, value in counted.items():
        patch = program.process.runner.load(session_id).session.state.offer.patch
        assert value in [found for _, found in patch.fields]


def _each_session_is_accepted_once(
    accepts: list[Said], stored: dict[str, tuple[Stored, ...]]
) -> None:
    counted = [line.session_id for line in accepts if line.came == ["DecisionRecorded"]]
    assert sorted(counted) == sorted(stored)
    assert {word for line in accepts for word in line.came} <= {
        "DecisionRecorded",
        "ClarificationChangeRefused",
        "Refused",
    }
    for events in stored.values():
        assert [event.type for event in events].count(DecisionRecorded.tag) == 1


def _each_record_has_a_number_of_its_own(program: Request, root: Path) -> None:
    records = SESSIONS // len(INTENTIONS)
    given = program.process.store.numbers(decider.PROJECT)
    assert sorted(one.number for one in given) == list(range(1, records + 1))
    for one, session_id in given.items():
        assert program.process.runner.load(session_id).session.state.filed.number == one.number
    assert program.process.store.open_calls(decider.PROJECT) == ()
    lying = [path for path in (root / "docs").rglob("*") if path.is_file()]
    documents = [path for path in lying if path.suffix == ".md"]
    assert len(documents) == SESSIONS
    kept = {name_session_file(decision_uid(head.session_id)) for head in _heads(program)}
    assert {path.name for path in lying if path not in documents} == {*kept, ".gitattributes"}


def _the_projections_say_the_same(store: SqlStore) -> None:
    projections = following(store)
    projections.catch_up()
    followed = kept(store)
    assert [row["turns"] for row in followed["sessions"]] == [PROCESSES] * SESSIONS
    projections.rebuild()
    assert kept(store) == followed
