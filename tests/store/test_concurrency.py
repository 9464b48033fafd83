"""Several processes at one log: each event once, each number once, no input lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Stored
from preflights_es.records.session_files import FOLDER, differs, name_session_file
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.stored_events import verified
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from tests.fixed import PROJECT
from tests.postgres import Server
from tests.store import decider
from tests.store.given import at
from tests.store.mortal import ROOT

pytestmark = pytest.mark.slow("crowds")

RIVALS = 4
ATTEMPTS = 4  # of each race


class Rivals:
    """Processes that are told something at the same moment."""

    def __init__(self, folder: Path, database: str) -> None:
        orders, reports = zip(*((os.pipe(), os.pipe()) for _ in range(RIVALS)), strict=True)
        theirs = [(read, write) for (read, _), (_, write) in zip(orders, reports, strict=True)]
        pairs = [f"{read}:{write}" for read, write in theirs]
        descriptors = [fd for pair in theirs for fd in pair]
        self._script = subprocess.Popen(
            [sys.executable, "-m", "tests.store.rival", str(folder), database, *pairs],
            pass_fds=descriptors,
            cwd=ROOT,
        )
        for descriptor in descriptors:
            os.close(descriptor)
        self._orders = [os.fdopen(write, "w") for _, write in orders]
        self._reports = [os.fdopen(read) for read, _ in reports]

    def told(self, *orders: str) -> list[list[str]]:
        """What came of each order; as many rivals as there are orders."""
        for rival, order in zip(self._orders, orders, strict=False):
            print(order, file=rival, flush=True)
        return [report.readline().split() for report, _ in zip(self._reports, orders, strict=False)]

    def close(self) -> None:
        """Send them home."""
        for file in (*self._orders, *self._reports):
            file.close()
        assert self._script.wait() == 0


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """A folder, and the log that is used there."""
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    folder = factory.mktemp("rivals")
    with ExitStack() as stack:
        database = "log.db"
        if request.param == "postgres":
            server: Server = request.getfixturevalue("server")
            database = stack.enter_context(server.log())
        with closing(decider.app(folder, database)) as program:
            assert program.process.store.heads(None) == ()
        yield folder, database


@pytest.fixture(scope="module")
def rivals(place: tuple[Path, str]) -> Iterator[Rivals]:
    made = Rivals(*place)
    yield made
    made.close()


@pytest.fixture
def program(place: tuple[Path, str]) -> Iterator[Request]:
    made = decider.app(*place)
    yield made
    made.close()


def begun(program: Request, intention: str = "Add a login") -> str:
    step = clarifications_of(program).open(
        NewSession(intention), program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
    )
    return step.handle.session_id


def answered(program: Request, intention: str = "Add a login") -> str:
    session_id = begun(program, intention)
    handle = program.process.runner.load(session_id)
    program.sessions.answer(handle, [("auth_strategy", ["OAuth"])])
    return session_id


def whole(program: Request, session_id: str) -> tuple[Stored, ...]:
    """The session's events, when nothing of it was lost."""
    head = program.process.store.head(session_id)
    assert head is not None
    stored = program.process.store.read(session_id)
    assert len(verified(stored, head.hash)) == head.version
    assert Replayer(WORKFLOWS).replay(stored, head.hash).status == "identical"
    return stored


def tags(stored: tuple[Stored, ...]) -> Counter[str]:
    return Counter(event.type.split(".")[1] for event in stored)


@pytest.mark.parametrize("count", [2, RIVALS])
def test_one_of_many_answers_is_accepted(rivals: Rivals, program: Request, count: int) -> None:
    for _ in range(ATTEMPTS):
        session_id = begun(program)
        values = ["OAuth", "Passkeys", "LDAP", "Kerberos"]
        orders = [f"answer {session_id} auth_strategy {value}" for value in values[:count]]
        found = Counter(tuple(decisions) for decisions in rivals.told(*orders))
        assert found == {
            ("ClarificationAnswerAccepted", "PatchProposed"): 1,
            ("ClarificationAnswerRefused",): count - 1,
        }
        met = tags(whole(program, session_id))
        assert met["answers_given"] == count
        assert (met["answer_accepted"], met["answer_refused"]) == (1, count - 1)


@pytest.mark.parametrize("count", [2, RIVALS])
def test_one_of_many_acknowledgements_counts(rivals: Rivals, program: Request, count: int) -> None:
    for _ in range(ATTEMPTS):
        session_id = answered(program)
        found = Counter(tuple(d) for d in rivals.told(*[f"accept {session_id}"] * count))
        assert found.pop(("DecisionRecorded", "ArtifactDue")) == 1
        assert set(found) <= {("ClarificationChangeRefused",), ("Refused",)}
        assert sum(found.values()) == count - 1
        assert tags(whole(program, session_id))["decision_recorded"] == 1
        program.process.finish_pending()
        _documents_are_whole(program, session_id)


def test_records_accepted_at_once_get_their_own_numbers(rivals: Rivals, program: Request) -> None:
    for _ in range(ATTEMPTS):
        before = {one.number for one in program.process.store.numbers(decider.PROJECT)}
        sessions = [answered(program, f"Add login number {n}") for n in range(RIVALS)]
        found = rivals.told(*(f"accept {session_id}" for session_id in sessions))
        assert found == [["DecisionRecorded", "ArtifactDue"]] * RIVALS
        numbers = [program.process.runner.load(s).session.state.filed.number for s in sessions]
        assert len(set(numbers)) == RIVALS
        given = program.process.store.numbers(decider.PROJECT)
        assert {one.number for one in given} == before | set(numbers)
        for session_id in sessions:
            whole(program, session_id)
            _documents_are_whole(program, session_id)


def test_documents_that_all_finish_are_written_whole(rivals: Rivals, program: Request) -> None:
    for _ in range(ATTEMPTS):
        sessions = [answered(program, f"Add a login for crowd {n}") for n in range(3)]
        for session_id in sessions:
            clarifications_of(program).accept(session_id)
        found = rivals.told(*["finish"] * RIVALS)
        assert "StoreUnavailable" not in {word for words in found for word in words}
        for session_id in sessions:
            met = tags(whole(program, session_id))
            assert (met["due"], met["artifact_filed"]) == (1, 1)
            assert met["written"] == 1 + met["response_ignored"]
            _documents_are_whole(program, session_id)


def _documents_are_whole(program: Request, session_id: str) -> None:
    due, text = program.process.documents.text(session_id)
    path = program.process.documents.root / due.path
    assert path.read_bytes() == text.encode()
    assert [*path.parent.glob("*.new")] == []
    assert [*path.parent.glob(".*")] == [path.parent / FOLDER]
    assert {*(path.parent / FOLDER).glob(".*")} == {path.parent / FOLDER / ".gitattributes"}
    lies = (path.parent / FOLDER / name_session_file(decision_uid(session_id))).read_bytes()
    assert b"decision_recorded" in lies
    assert not differs(lies, session_id, program.process.store.read(session_id))


def test_a_session_that_grows_as_it_is_read_is_whole(rivals: Rivals, program: Request) -> None:
    session_id = begun(program)
    orders = [f"look {session_id} 150"] * (RIVALS - 1)
    chosen = rivals.told(*orders, f"answer {session_id} auth_strategy OAuth")
    assert chosen[-1] == ["ClarificationAnswerAccepted", "PatchProposed"]
    for _ in range(3):
        handle = program.process.runner.load(session_id)
        found = rivals.told(*orders, f"answer {session_id} auth_strategy LDAP")
        assert found[-1] == ["ClarificationAnswerRefused"]
        assert {word for words in found[:-1] for word in words} <= {
            str(handle.version),
            str(handle.version + 2),
        }
    whole(program, session_id)


def test_nothing_is_lost_where_all_write_to_one_session(rivals: Rivals, program: Request) -> None:
    session_id = begun(program)
    for n in range(10):
        orders = [f"answer {session_id} auth_strategy value-{n}-{m}" for m in range(RIVALS)]
        assert len(rivals.told(*orders)) == RIVALS
    stored = whole(program, session_id)
    given = [event.data for event in stored if event.type.endswith("answers_given.v1")]
    assert len(given) == 10 * RIVALS
    assert all(
        sum(b'"value-%d-%d"' % (n, m) in (data or b"") for data in given) == 1
        for n in range(10)
        for m in range(RIVALS)
    )


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
@pytest.mark.parametrize("sessions", [1, 12])
def test_a_crowd_that_appends_loses_nothing_and_records_nothing_twice(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str, sessions: int
) -> None:
    place = request.getfixturevalue("postgres") if engine == "postgres" else str(tmp_path)
    times = 20
    with closing(at(place)) as store:
        assert store.heads(None) == ()
    crowd = [sys.executable, "-m", "tests.store.crowd", place, *map(str, (RIVALS, sessions, times))]
    done = subprocess.run(crowd, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    conflicts = [int(line) for line in done.stdout.split()]
    assert len(conflicts) == RIVALS
    assert sum(conflicts) > 0 or sessions > 1
    with closing(at(place)) as store:
        inputs: list[str] = []
        for head in store.heads(None):
            stored = verified(store.read(head.session_id), head.hash)
            assert [event.version for event in stored] == list(range(1, head.version + 1))
            inputs += [event.input_id for event in stored if event.input_id is not None]
        assert len(inputs) == len(set(inputs))
        of_steps = [i for i in inputs if "number" not in i]
        expected = sum(min(sessions, 1 + n % 3) for n in range(times)) * RIVALS
        assert len(of_steps) == expected
        holders = store.numbers(PROJECT)
        assert set(holders.values()) <= {head.session_id for head in store.heads(None)}
