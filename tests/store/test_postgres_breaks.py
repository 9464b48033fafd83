"""Connections that are cut, servers that restart or take too long: acknowledged or absent."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.errors import (
    CommitUnknown,
    Conflict,
    NumberTaken,
    StoreError,
    StoreUnavailable,
)
from preflights_es.kernel.ports import AppendBatch, Head, Numbered
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import verified
from preflights_es.use.use_cases import NewSession
from tests.fixed import PROJECT
from tests.postgres import UP_S, OwnServer, connected, hung_up
from tests.store import decider
from tests.store.given import at, batch, conversation, heard, opened, said, session_id
from tests.store.proxy import Proxy

ROUNDS: Final = 4  # in which a server goes and comes again
WRITERS: Final = 4  # that write meanwhile
EACH: Final = 5  # appends of each of them that are acknowledged before it goes


@pytest.fixture
def proxy(postgres: str) -> Iterator[Proxy]:
    made = Proxy(postgres)
    yield made
    made.close()


def whole(store: SqlStore, number: int = 1) -> list[str]:
    """Ids of the Inputs of a session, from which nothing is missing."""
    head = store.head(session_id(number))
    assert head is not None
    events = verified(store.read(session_id(number)), head.hash)
    assert [event.version for event in events] == list(range(1, head.version + 1))
    return [event.input_id for event in events if event.input_id is not None]


# 1. A line that is cut -----------------------------------------------------------------------


@pytest.mark.parametrize("heard_by_server", [False, True])
def test_an_append_whose_line_is_cut_anywhere_is_there_once_or_not_at_all(
    proxy: Proxy, postgres: str, heard_by_server: bool
) -> None:
    with closing(at(postgres)) as direct, closing(at(proxy.url)) as store:
        head = opened(store, 1)
        recorded = ["input-1"]
        proxy.heard = heard_by_server
        for moment in range(30):
            proxy.left = moment
            try:
                store.append([_more(head, f"more-{moment}")])
            except CommitUnknown:
                hung_up(postgres, but=2)
                if direct.session_of_input(f"more-{moment}") is not None:
                    recorded.append(f"more-{moment}")
            else:
                recorded.append(f"more-{moment}")
            assert whole(direct) == recorded
            found = direct.head(session_id(1))
            assert found is not None
            head = found
        assert proxy.left is not None, "it was cut at every one of its pieces"


@pytest.mark.parametrize("heard_by_server", [False, True])
def test_an_append_whose_line_is_cut_at_its_commit_says_that_it_does_not_know(
    proxy: Proxy, postgres: str, heard_by_server: bool
) -> None:
    with closing(at(proxy.url)) as store:
        head = opened(store, 1)
        proxy.word, proxy.heard = b"COMMIT\0", heard_by_server
        with pytest.raises(CommitUnknown):
            store.append([_more(head, "more")])
        assert proxy.said.startswith(b"Q")
        hung_up(postgres, but=1)
        assert (store.session_of_input("more") is not None) == heard_by_server
        again = _more(head, "more")
        if heard_by_server:
            with pytest.raises(Conflict):
                store.append([again])
        else:
            store.append([again])
        assert whole(store) == ["input-1", "more"]


def test_the_runner_finds_an_input_whose_commit_is_unknown(proxy: Proxy, tmp_path: Path) -> None:
    with closing(decider.app(tmp_path, proxy.url)) as program:
        setup, heuristics = program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
        assert program.process.store.heads(None) == ()
        proxy.word, proxy.heard = b"COMMIT\0", True
        step = clarifications_of(program).open(NewSession("Add a login"), setup, heuristics)
        assert proxy.said
        proxy.word = b"COMMIT\0"
        program.sessions.answer(step.handle, [("auth_strategy", ["OAuth"])])
        proxy.word, proxy.heard = b"COMMIT\0", False
        with pytest.raises(CommitUnknown):
            clarifications_of(program).open(NewSession("Add a logout"), setup, heuristics)
        clarifications_of(program).accept(step.handle.session_id)
        (head,) = program.process.store.heads(None)
        stored = program.process.store.read(head.session_id)
        assert Replayer(WORKFLOWS).replay(stored, head.hash).status == "identical"


def _more(head: Head, input_id: str, number: int = 1) -> AppendBatch:
    return batch(number, said("more", input_id), heard("more"), after=head, opens=(input_id,))


def test_a_commit_that_the_server_hears_late_is_waited_for(proxy: Proxy) -> None:
    with closing(at(proxy.url)) as store:
        head = opened(store, 1)
        proxy.word, proxy.heard, proxy.late_s = b"COMMIT\0", True, 0.2
        with pytest.raises(CommitUnknown):
            store.append([_more(head, "more")])
        assert store.session_of_input("more") == session_id(1)


def test_a_look_whose_line_is_cut_is_taken_again(proxy: Proxy) -> None:
    with closing(at(proxy.url)) as store:
        head = opened(store, 1)
        for _ in range(3):
            proxy.left = 0
            assert store.head(session_id(1)) == head
            assert proxy.left is None


def test_work_whose_connection_cannot_leave_its_pipeline_is_done_on_another(postgres: str) -> None:
    used = []

    def work(cursor: psycopg.Cursor[tuple[int]]) -> tuple[int] | None:
        used.append(cursor.connection)
        if len(used) == 1:  # as where a server says that it goes, and has not hung up yet
            cursor.connection.pgconn.enter_pipeline_mode()
            cursor.connection.pgconn.send_query_params(b"SELECT 1", None)
            cursor.connection.pgconn.exit_pipeline_mode()
        return cursor.execute("SELECT 1").fetchone()

    with closing(at(postgres)) as store:
        assert store.database.wrote(work) == (1,)
        first, second = used
        assert first.closed
        assert not second.closed


def test_a_claim_whose_line_is_cut_at_its_commit_says_so(proxy: Proxy, postgres: str) -> None:
    with closing(at(proxy.url)) as store:
        store.append([batch(1, said("hi", "a"), opens=("call",))])
        proxy.word, proxy.heard = b"COMMIT\0", True
        with pytest.raises(CommitUnknown):
            store.claim(session_id(1), "call", "ada", 1, 2)
        hung_up(postgres, but=1)
        assert store.claim(session_id(1), "call", "bob", 1, 2) == "held"


# 2. A server that goes -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal() -> Iterator[OwnServer]:
    """A server that may be killed, and keeps what it acknowledged.

    What a process has written outlives it. With `fsync`, which is for a machine that goes, a server
    that was killed would begin by flushing each of a thousand files; that an append is in its
    journal before it is acknowledged is the matter of `synchronous_commit`.
    """
    made = OwnServer(("-c", "fsync=off"))
    yield made
    made.close()


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_session_goes_on_after_the_server_was_started_again(mortal: OwnServer, how: str) -> None:
    name = mortal.database()
    with closing(at(mortal.url(name))) as store:
        head = opened(store, 1)
        (head,) = store.append([_more(head, "before")])
        getattr(mortal, how)()
        mortal.started_again()
        assert store.head(session_id(1)) == head
        store.append([_more(head, "after")])
        assert whole(store) == ["input-1", "before", "after"]


@pytest.mark.slow("kills")
def test_an_unknown_commit_stays_unknown_where_the_server_cannot_be_asked(
    mortal: OwnServer, tmp_path: Path
) -> None:
    proxy = Proxy(mortal.url(mortal.database()))
    with closing(decider.app(tmp_path, f"{proxy.url}?connect_timeout=1")) as program:
        setup, heuristics = program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
        assert program.process.store.heads(None) == ()
        proxy.word, proxy.heard, proxy.last = b"COMMIT\0", True, True
        with pytest.raises(CommitUnknown, match="and then"):
            clarifications_of(program).open(NewSession("Add a login"), setup, heuristics)
    proxy.close()


class Writer:
    """Appends to a session of its own until it is told to stop, whatever the server does."""

    def __init__(self, url: str, number: int) -> None:
        self._url = url
        self.number = number
        self.acknowledged: list[str] = []
        self.unknown: list[str] = []

    def write(self, stop: threading.Event) -> None:
        with closing(at(self._url)) as store:
            head = opened(store, self.number)
            self.acknowledged.append(f"input-{self.number}")
            while not stop.is_set():
                input_id = f"{self.number}-{len(self.acknowledged) + len(self.unknown)}"
                try:
                    (head,) = store.append([_more(head, input_id, self.number)])
                    self.acknowledged.append(input_id)
                except CommitUnknown:
                    self.unknown.append(input_id)
                    found = store.head(session_id(self.number))
                    assert found is not None
                    head = found


def killed_with_its_children(server: OwnServer) -> None:
    """All of it at once: a child that is left could write what it still has in memory."""
    with closing(connected(server.url("postgres"))) as connection:
        os.kill(server.pid, signal.SIGSTOP)  # so that it neither begets nor mourns any
        try:
            for (pid,) in connection.execute("SELECT pid FROM pg_stat_activity").fetchall():
                assert isinstance(pid, int)
                os.kill(pid, signal.SIGKILL)
        finally:
            server.killed()


@pytest.mark.slow("kills")
@pytest.mark.parametrize("goes", [killed_with_its_children, OwnServer.stopped])
def test_nothing_acknowledged_is_lost_where_the_server_goes_among_appends(
    mortal: OwnServer, goes: Callable[[OwnServer], None]
) -> None:
    # However long a start takes where the machine is busy, writers wait for it.
    url = f"{mortal.url(mortal.database())}&connect_timeout={UP_S}"
    writers = [Writer(url, number) for number in range(1, WRITERS + 1)]
    stop = threading.Event()
    fewest: list[int] = []
    with closing(at(url)) as store, ThreadPoolExecutor(WRITERS) as pool:
        works = [pool.submit(writer.write, stop) for writer in writers]
        try:
            for _ in range(ROUNDS):
                fewest.append(_acknowledged_anew(writers, works))
                goes(mortal)
                mortal.started_again()
            fewest.append(_acknowledged_anew(writers, works))
        finally:
            stop.set()
        wait(works)
        for writer in writers:
            inputs = whole(store, writer.number)
            assert set(writer.acknowledged) - set(inputs) == set()
            assert set(inputs) <= {*writer.acknowledged, *writer.unknown}
            assert len(set(inputs)) == len(inputs)
            assert len(writer.unknown) <= ROUNDS
        assert [work.result() for work in works] == [None] * WRITERS
    assert min(fewest) >= EACH, "the server went before so many were acknowledged"


def _acknowledged_anew(writers: Sequence[Writer], works: Sequence[Future[None]]) -> int:
    """Wait until so many appends of each are, or one fails; how many are, of whom has fewest."""
    before = [len(writer.acknowledged) for writer in writers]
    until = time.monotonic() + UP_S
    while True:
        after = [len(writer.acknowledged) for writer in writers]
        fewest = min(n - m for n, m in zip(after, before, strict=True))
        if fewest >= EACH or any(work.done() for work in works):
            return fewest
        assert time.monotonic() < until, "a writer has stopped"
        time.sleep(0.005)


def test_a_connection_that_an_administrator_ends_is_replaced(postgres: str) -> None:
    with closing(at(postgres)) as store, closing(connected(postgres)) as other:
        head = opened(store, 1)
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        store.append([_more(head, "after")])
        assert whole(store) == ["input-1", "after"]


# 3. A server that is slow, or refuses --------------------------------------------------------


def test_a_statement_that_takes_too_long_records_nothing(postgres: str) -> None:
    with closing(at(f"{postgres}&options=-c%20statement_timeout=300")) as store:
        head = opened(store, 1)
        with closing(connected(postgres)) as other, other.transaction():
            other.execute("SELECT * FROM heads FOR UPDATE")
            with pytest.raises(StoreUnavailable, match="took too long"):
                store.append([_more(head, "late")])
        assert whole(store) == ["input-1"]
        store.append([_more(head, "later")])
        assert whole(store) == ["input-1", "later"]


def test_a_database_that_cannot_be_written_is_unavailable(postgres: str) -> None:
    with closing(at(postgres)) as store:
        opened(store, 1)
    with closing(at(f"{postgres}&options=-c%20transaction_read_only=on")) as store:
        assert whole(store) == ["input-1"]
    read_only = f"{postgres}&options=-c%20default_transaction_read_only=on"
    with closing(at(read_only)) as store:
        with pytest.raises(StoreUnavailable, match="may not"):
            opened(store, 2)
        assert whole(store) == ["input-1"]


def test_a_transaction_that_a_deadlock_ends_is_made_again(postgres: str) -> None:
    # The other one holds what this one wants, and wants what this one holds. The first to look
    # for a circle is the one that is ended; on a very busy machine that may be the other one.
    ours, theirs = (f"{postgres}&options=-c%20deadlock_timeout={s}" for s in ("300ms", "5s"))
    with closing(at(ours)) as store, closing(connected(theirs)) as other:
        first, second = opened(store, 1), opened(store, 2)
        crossed = threading.Event()
        lock = "SELECT * FROM heads WHERE session_id = %s FOR UPDATE"

        def cross() -> None:
            with suppress(psycopg.errors.DeadlockDetected), other.transaction():
                other.execute(lock, (session_id(2),))
                crossed.set()
                _wait_for_a_lock(postgres)
                other.execute(lock, (session_id(1),))

        thread = threading.Thread(target=cross)
        thread.start()
        crossed.wait()
        store.append(
            [batch(1, said("a", "a"), after=first), batch(2, said("b", "b"), after=second)]
        )
        thread.join()
        assert (whole(store, 1), whole(store, 2)) == (["input-1", "a"], ["input-2", "b"])


def _wait_for_a_lock(postgres: str) -> None:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with closing(connected(postgres)) as third:
        until = time.monotonic() + 10
        while third.execute(waits).fetchone() == (0,):
            assert time.monotonic() < until, "no connection waits"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_stricter_isolation_is_a_conflict_all_the_same(postgres: str, level: str) -> None:
    strict = f"{postgres}&options=-c%20default_transaction_isolation={level.replace(' ', '%5C%20')}"
    with closing(at(strict)) as one, closing(at(strict)) as two:
        head = opened(one, 1)
        one.append([_more(head, "one")])
        with pytest.raises(Conflict):
            two.append([_more(head, "two")])
        assert whole(one) == ["input-1", "one"]


# 4. Several at once --------------------------------------------------------------------------


def together(work: Callable[..., object], each_with: Iterable[tuple[Any, ...]]) -> None:
    """Do the work once with each of these, in threads of their own."""
    threads = [threading.Thread(target=work, args=args) for args in each_with]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def four(postgres: str) -> Iterator[list[SqlStore]]:
    """Stores of one log, as four processes have them."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(at(postgres))) for _ in range(4)]


def test_threads_share_a_store(postgres: str) -> None:
    errors: list[Exception] = []
    with closing(at(postgres)) as store:

        def write(number: int) -> None:
            try:
                head = opened(store, number)
                for n in range(10):
                    (head,) = store.append(
                        [batch(number, said("x", f"{number}-{n}"), heard("x"), after=head)]
                    )
            except Exception as error:  # a thread has no caller to raise it to: asserted below
                errors.append(error)

        together(write, ((n,) for n in range(1, 9)))
        assert errors == []
        assert [len(whole(store, number)) for number in range(1, 9)] == [11] * 8


def test_of_many_that_want_one_number_or_one_session_one_gets_it(four: list[SqlStore]) -> None:
    done: list[type[StoreError] | None] = []
    gate = threading.Barrier(4)

    def take(number: int, stores: list[SqlStore]) -> None:
        gate.wait()
        for round_ in range(10):
            head = stores[number].head(session_id(100 + round_))
            try:
                stores[number].append(
                    [
                        batch(
                            1_000 * (number + 1) + round_,
                            said("x", f"{number}-{round_}"),
                            holds=round_,
                        ),
                        batch(100 + round_, said("y", f"y-{number}-{round_}"), after=head),
                    ]
                )
                done.append(None)
            except (Conflict, NumberTaken) as error:
                done.append(type(error))

    together(take, ((n, four) for n in range(4)))
    assert done.count(None) == 10
    assert len(done) == 40
    assert len(four[0].numbers(PROJECT)) == 10
    assert len(four[0].heads(None)) == 20


def test_of_many_that_take_over_one_session_one_does(four: list[SqlStore]) -> None:
    events = conversation()
    done: list[type[StoreError] | None] = []
    gate = threading.Barrier(4)

    def take(store: SqlStore) -> None:
        gate.wait()
        for part in (events[:2], events[2:]):
            try:
                store.insert(part, open_calls=("call",), number=Numbered("", 7))
                done.append(None)
            except Conflict as error:
                done.append(type(error))

    together(take, ((store,) for store in four))
    assert done.count(None) == 2
    assert done.count(Conflict) == 6
    assert four[0].read(events[0].session_id) == tuple(events)
    assert four[0].open_calls(PROJECT) == ((events[0].session_id, "call"),)


def test_of_many_that_claim_one_call_one_gets_it(four: list[SqlStore]) -> None:
    found: list[str] = []
    gate = threading.Barrier(4)

    def claim(store: SqlStore, owner: str) -> None:
        for n in range(10):
            gate.wait()
            found.append(store.claim(session_id(1), f"call-{n}", owner, 1, 2))

    calls = tuple(f"call-{n}" for n in range(10))
    four[0].append([batch(1, said("hi", "a"), opens=calls)])
    together(claim, ((store, f"owner-{n}") for n, store in enumerate(four)))
    assert (found.count("taken"), found.count("held")) == (10, 30)
