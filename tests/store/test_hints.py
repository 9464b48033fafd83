"""Hints of appends: soon where all is well, and never in an append's way."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.core.errors import StoreUnavailable
from preflights_es.core.ports import Head
from preflights_es.store.chain import verified
from preflights_es.store.hints import PAUSE_S
from preflights_es.store.listening import AGAIN_S, Listener
from preflights_es.store.sql import SqlStore
from tests.postgres import SAFE, OwnServer, connected, opened_log
from tests.store.given import at, batch, conversation, erased, heard, opened, said, session_id, sql
from tests.store.proxy import Proxy

WAIT_S = 60  # seconds for what comes in a moment


@pytest.fixture
def proxy(postgres: str) -> Iterator[Proxy]:
    made = Proxy(postgres)
    yield made
    made.close()


def more(store: SqlStore, head: Head, *names: str) -> Head:
    """The session after so many more appends."""
    for name in names:
        (head,) = store.append([batch(1, said("more", name), heard("more"), after=head)])
    return head


def inputs(store: SqlStore) -> list[str]:
    """Ids of the Inputs of the one session, from which nothing is missing."""
    head = store.head(session_id(1))
    assert head is not None
    events = verified(store.read(session_id(1)), head.hash)
    return [event.input_id for event in events if event.input_id is not None]


class Listening:
    """Somebody else who listens, as any program can."""

    def __init__(self, url: str) -> None:
        self._connection = connected(url)
        self._connection.execute("LISTEN preflights")

    def before(self, url: str) -> int:
        """How many hints came before this moment, since the last one that was asked for."""
        with opened_log(url) as other:
            other.execute("NOTIFY preflights, 'now'")
        for hints, found in enumerate(self._connection.notifies(timeout=WAIT_S)):
            if found.payload == "now":
                return hints
        raise AssertionError("the server is silent")

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def listening(postgres: str) -> Iterator[Listening]:
    made = Listening(postgres)
    yield made
    made.close()


# 1. Telling ----------------------------------------------------------------------------------


def test_an_append_is_told_at_once(postgres: str) -> None:
    with closing(at(postgres)) as store, closing(at(postgres)) as other:
        ear = other.database.ear()
        assert ear is not None
        with closing(ear):
            opened(store, 1)
            assert select.select([ear], [], [], WAIT_S)[0]
            assert ear.heard()


def test_whoever_appends_once_and_ends_has_told_it(postgres: str, listening: Listening) -> None:
    for number in range(1, 4):
        with closing(at(postgres)) as store:
            opened(store, number)
        assert listening.before(postgres) == 1


def test_of_many_appends_the_first_is_told_and_the_rest_at_the_end(
    postgres: str, listening: Listening
) -> None:
    began = time.monotonic()
    with closing(at(postgres)) as store:
        more(store, opened(store, 1), *(f"more-{n}" for n in range(100)))
    told = listening.before(postgres)
    # One in each pause at most, and one at the end; on a fast machine that is two of 101.
    assert 2 <= told <= 2 + (time.monotonic() - began) / PAUSE_S
    assert told < 100


def test_what_came_within_the_pause_is_told_by_the_next_append(
    postgres: str, listening: Listening
) -> None:
    with closing(at(postgres)) as store:
        head = more(store, opened(store, 1), "within")
        time.sleep(2 * PAUSE_S)
        listening.before(postgres)
        head = more(store, head, "behind")
        assert store.head(session_id(1)) == head  # which reads the answer
        assert listening.before(postgres) == 1
    assert listening.before(postgres) == 0


def test_a_session_that_comes_from_elsewhere_is_told_and_so_is_an_erasure(
    postgres: str, listening: Listening
) -> None:
    with closing(at(postgres)) as store:
        store.insert(conversation())
    assert listening.before(postgres) == 1
    with closing(at(postgres)) as store:
        store.erase(batch(1, erased(), after=store.head(session_id(1))))
    assert listening.before(postgres) == 1


def test_what_leaves_nothing_to_fold_is_told_to_nobody(postgres: str, listening: Listening) -> None:
    with closing(at(postgres)) as store:
        store.append([batch(1, said("hi", "a"), opens=("call",))])
    assert listening.before(postgres) == 1
    with closing(at(postgres)) as store:
        assert store.claim(session_id(1), "call", "ada", 1, 2) == "taken"
        store.give_back(session_id(1), "call", "ada")
        assert len(store.read(session_id(1))) == 1
    assert listening.before(postgres) == 0


# 2. Trouble with a hint ----------------------------------------------------------------------


def test_appends_succeed_where_the_server_knows_no_notify_and_it_is_asked_once(
    proxy: Proxy, postgres: str, listening: Listening
) -> None:
    proxy.swapped = (b"NOTIFY", b"NUTIFY")
    with closing(at(proxy.url)) as store:
        head = opened(store, 1)
        for n in range(3):
            time.sleep(PAUSE_S)
            head = more(store, head, f"more-{n}")
        assert inputs(store) == ["input-1", "more-0", "more-1", "more-2"]
    assert proxy.swaps == 1
    assert listening.before(postgres) == 0


@pytest.mark.parametrize("heard_by_server", [False, True])
def test_an_append_whose_line_is_cut_at_its_hint_is_acknowledged(
    proxy: Proxy, postgres: str, listening: Listening, heard_by_server: bool
) -> None:
    with closing(at(proxy.url)) as store:
        proxy.word, proxy.heard = b"NOTIFY", heard_by_server
        head = opened(store, 1)
        head = more(store, head, "more")
        assert proxy.word is None, "it was cut"
        assert inputs(store) == ["input-1", "more"]
    with closing(at(proxy.url)) as store:
        proxy.word = b"NOTIFY"
        more(store, head, "last")
    assert proxy.word is None, "it was cut"
    with closing(at(postgres)) as store:
        assert inputs(store) == ["input-1", "more", "last"]


@pytest.fixture(scope="module")
def slow() -> Iterator[OwnServer]:
    """A server that waits for a copy of itself before it acknowledges, where it is told to."""
    made = OwnServer(SAFE)
    yield made
    made.close()


def test_a_hint_that_has_to_wait_holds_up_nobody_and_is_sent_again(slow: OwnServer) -> None:
    url = slow.url(slow.database())
    with closing(at(f"{url}&options=-c%20synchronous_commit=local")) as store:
        head = opened(store, 1)
        with closing(connected(url)) as ours:
            ours.execute("CREATE TABLE others (n int)")
        slow.said("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        slow.said("SELECT pg_reload_conf()")
        enough = threading.Event()
        stuck = threading.Thread(target=_notified_slowly, args=(url, enough))
        stuck.start()
        _until(slow, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        try:
            for n in range(3):
                time.sleep(PAUSE_S)
                head = more(store, head, f"more-{n}")
            assert inputs(store) == ["input-1", "more-0", "more-1", "more-2"]
            assert stuck.is_alive(), "it still holds what a NOTIFY needs"
        finally:
            enough.set()
            slow.said("ALTER SYSTEM RESET synchronous_standby_names")
            slow.said("SELECT pg_reload_conf()")
            stuck.join()
        with closing(Listening(url)) as listening:
            time.sleep(PAUSE_S)
            more(store, head, "free")
            store.head(session_id(1))
            assert listening.before(url) == 1


def _notified_slowly(url: str, enough: threading.Event) -> None:
    """Notify until a commit has to wait: the server reads its settings in its own time."""
    with closing(connected(url)) as other:
        other.execute("SET synchronous_commit = on")
        while not enough.is_set():
            with other.transaction():
                other.execute("INSERT INTO others VALUES (1)")
                other.execute("NOTIFY anything")


def _until(server: OwnServer, question: str) -> None:
    until = time.monotonic() + WAIT_S
    while server.admin().execute(question.encode()).fetchone() != (True,):
        assert time.monotonic() < until, question
        time.sleep(0.01)


def test_a_new_connection_in_place_of_a_broken_one_tells_as_well(
    postgres: str, listening: Listening
) -> None:
    with closing(at(postgres)) as store:
        head = opened(store, 1)
        listening.before(postgres)
        with opened_log(postgres) as other:
            rows = other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE '%NOTIFY%' "
                "AND pid <> pg_backend_pid()"
            ).fetchall()
        assert rows == [(True,)]
        time.sleep(PAUSE_S)
        more(store, head, "more")
        assert inputs(store) == ["input-1", "more"]
        assert listening.before(postgres) == 1


# 3. Hearing ----------------------------------------------------------------------------------


def test_a_file_has_no_ear(tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as store:
        assert store.database.ear() is None


def test_behind_a_pooler_nobody_listens(proxy: Proxy, postgres: str) -> None:
    with closing(at(proxy.url)) as store:
        ear = store.database.ear()
        assert ear is not None
        ear.close()
    proxy.renames = True
    with closing(at(proxy.url)) as store:
        assert store.database.ear() is None
        opened(store, 1)
        assert inputs(store) == ["input-1"]


def test_where_listen_is_not_known_nobody_listens_and_nobody_tries_again(proxy: Proxy) -> None:
    proxy.swapped = (b"LISTEN", b"LASTEN")
    with closing(at(proxy.url)) as store, closing(Listener(store.database)) as listener:
        assert store.database.ear() is None
        assert not listener.listen()
        assert not listener.wait(2 * AGAIN_S)
        assert not listener.hears
    assert proxy.swaps == 2


def test_an_ear_that_is_lost_is_told_from_one_that_hears(postgres: str) -> None:
    with closing(at(postgres)) as store:
        ear = store.database.ear()
        assert ear is not None
        with closing(ear):
            assert not ear.heard()
            assert not ear.is_broken
            _ended(postgres)
            while not ear.is_broken:  # first the server says why, then it hangs up
                assert select.select([ear], [], [], WAIT_S)[0]
                assert not ear.heard()


def _ended(url: str) -> None:
    """By an administrator: everybody who listens."""
    with opened_log(url) as other:
        rows = other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' "
            "AND datname = current_database()"
        ).fetchall()
    assert rows


def test_who_waits_hears_an_append_and_listens_again_where_the_line_broke(postgres: str) -> None:
    with closing(at(postgres)) as store, closing(Listener(store.database)) as listener:
        assert listener.listen()
        assert not listener.listen()
        head = opened(store, 1)
        assert listener.wait(WAIT_S)
        _ended(postgres)
        assert listener.wait(WAIT_S), "what came while it was deaf was told to nobody"
        assert listener.hears
        with closing(at(postgres)) as other:
            more(other, head, "more")
        assert listener.wait(WAIT_S)


def test_a_server_that_is_gone_leaves_who_waits_without_an_ear_and_is_no_error(
    slow: OwnServer,
) -> None:
    url = slow.url(slow.database())
    with closing(at(f"{url}&connect_timeout=1")) as store:
        listener = Listener(store.database)
        with closing(listener):
            assert listener.listen()
            slow.stopped()
            assert not listener.wait(1.5 * AGAIN_S)
            assert not listener.hears
            with pytest.raises(StoreUnavailable):
                store.database.ear()
            slow.started_again()
            assert listener.wait(WAIT_S)
            assert listener.hears


@pytest.mark.parametrize("before", [False, True])
def test_who_is_told_to_stop_waits_no_more(tmp_path: Path, before: bool) -> None:
    with closing(sql(tmp_path)) as store, closing(Listener(store.database)) as listener:
        if before:
            listener.stop()
            listener.stop()
        else:
            threading.Timer(0.05, listener.stop).start()
        assert not listener.wait(10 * WAIT_S)
        assert listener.is_stopped
