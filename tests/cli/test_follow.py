"""`projections follow`: readers find nothing left to fold, whatever happens to the follower."""

from __future__ import annotations

import re
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

import pytest
from sqlalchemy.engine import make_url

from preflights_es.store.projection_feed import SqlFollowing
from preflights_es.store.sql import SqlStore
from tests.cli import tampering
from tests.cli.following import WAIT_S, Following, follower, until
from tests.cli.program import Project
from tests.cli.tampering import tampered
from tests.cli.terminal import terminal
from tests.cli.test_docs import check
from tests.fixed import Clock
from tests.markdown import ROOT
from tests.postgres import SAFE, OwnServer, Server, connected, opened_log
from tests.projections.given import changed, following, kept, recorded
from tests.projections.recording import goldens
from tests.store.given import Salt

SOON = ("--every", "0.1")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, house: Project) -> str:
    """The address of an empty log, in every engine."""
    if request.param == "sqlite":
        return str(house.log)
    url: str = request.getfixturevalue("postgres")
    return url


@contextmanager
def log(place: str) -> Iterator[SqlStore]:
    """A log, opened by another process."""
    with closing(SqlStore(place, Clock(), Salt())) as store:
        yield store


def waiting(store: SqlStore) -> int:
    """Appends that are not folded yet."""
    return SqlFollowing(store).counts()["waiting"]


def fits(store: SqlStore) -> None:
    """Rows and marks say the same, and with what still waits come to what a rebuild would."""
    rows = {row["session_id"]: row["version"] for row in kept(store)["sessions"]}
    for name in ("decisions", "sessions", "usage"):
        assert SqlFollowing(store).marks(name, "", "~") == rows
    following(store).catch_up()
    assert waiting(store) == 0
    caught_up = kept(store)
    following(store).rebuild()
    assert kept(store) == caught_up


# 1. Following --------------------------------------------------------------------------------


@pytest.mark.slow("crowds")
def test_it_folds_what_another_process_appends_and_says_how_much(
    house: Project, place: str
) -> None:
    with follower(house, "--db", place, *SOON) as it, log(place) as store:
        for intention in ("Add OAuth login", "Add SSO"):
            house.run("start", intention, "--db", place)
            assert it.next()["sessions"] >= 1
        until(lambda: waiting(store) == 0)
        assert len(kept(store)["sessions"]) == 2


@pytest.mark.slow("clocks")
def test_between_two_looks_it_sleeps(house: Project, place: str) -> None:
    with follower(house, "--db", place, "--every", "86400") as it, log(place) as store:
        recorded(store, goldens()[:1])
        before = waiting(store)
        time.sleep(0.5)
        assert waiting(store) == before > 0
        began = time.monotonic()
        assert it.ended(signal.SIGTERM)[0] == 0
        assert time.monotonic() - began < WAIT_S / 2, "a signal wakes it"


# 2. Trouble ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal() -> Iterator[OwnServer]:
    """A server that may be killed, and keeps what it acknowledged."""
    made = OwnServer(SAFE)
    yield made
    made.close()


@pytest.mark.slow("kills")
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_it_goes_on_after_the_server_was_started_again(
    house: Project, mortal: OwnServer, how: str
) -> None:
    url = mortal.url(mortal.database())
    with follower(house, "--db", url, *SOON) as it:
        getattr(mortal, how)()
        mortal.started_again()
        with log(url) as store:
            recorded(store, goldens()[:5])
            it.next()
            until(lambda: waiting(store) == 0)
        assert it.ended(signal.SIGTERM)[0] == 0


@pytest.mark.slow("kills")
def test_a_server_that_stays_away_is_told_once_and_looked_for(
    house: Project, mortal: OwnServer
) -> None:
    url = f"{mortal.url(mortal.database())}&connect_timeout=1"
    process = house.started("admin", "projections", "follow", "--db", url, "--json", *SOON)
    it = Following(process)
    try:
        it.next()
        mortal.stopped()
        assert process.stderr is not None
        warning = process.stderr.readline().decode()
        assert warning.startswith("warning: the log at")
        assert warning.endswith("it is tried again\n")
        mortal.started_again()
        assert it.next()["sessions"] == 0
        code, err = it.ended(signal.SIGTERM)
        assert code == 0
        # A server that is on its way is trouble of another kind, which may be told as well.
        assert all("starting up" in line or "not yet" in line for line in err.splitlines()), err
    finally:
        it.kill()


def test_it_goes_on_where_an_administrator_ends_its_connections(
    house: Project, postgres: str
) -> None:
    with follower(house, "--db", postgres, *SOON) as it, log(postgres) as store:
        for n in range(2):
            with opened_log(postgres) as other:
                rows = other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).fetchall()
            assert rows
            recorded(store, goldens()[:5], first=1 + n * 1_000)
            it.next()
            until(lambda: waiting(store) == 0)


def test_what_a_newer_program_keeps_ends_it_and_is_left_alone(house: Project, place: str) -> None:
    with follower(house, "--db", place, *SOON) as it, log(place) as store:
        changed(store, "UPDATE projections SET version = 99 WHERE name = 'decisions'")
        recorded(store, goldens()[:2])
        code, err = it.ended()
        assert (code, err.count("\n")) == (4, 2)  # in words, and as JSON
        assert "a newer version of preflights keeps the projection 'decisions'" in err
        assert waiting(store) > 0
    done = house.call("admin", "projections", "follow", "--db", place)
    assert (done.code, done.out) == (4, "")
    assert err.startswith(done.err)


def test_a_role_that_may_not_write_is_told_so(
    house: Project, server: Server, postgres: str
) -> None:
    role = f"watcher_{make_url(postgres).database}"
    server.said(f'CREATE ROLE "{role}" LOGIN')
    with log(postgres) as store:
        changed(store, f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{role}"')
        url = server.url(str(make_url(postgres).database), role)
        done = house.call("admin", "projections", "follow", "--db", url)
        changed(store, f'DROP OWNED BY "{role}"')
    server.said(f'DROP ROLE "{role}"')
    assert (done.code, done.out, done.err.count("\n")) == (5, "", 1)
    assert "this role may not do that" in done.err


def test_a_damaged_session_does_not_stop_it(house: Project) -> None:
    broken = house.decided()["session_id"]
    tampered(house, broken, tampering.flipped)
    with follower(house, *SOON) as it, log(str(house.log)) as store:
        recorded(store, goldens()[:3])
        it.next()
        until(lambda: waiting(store) == 0)
        assert it.ended(signal.SIGTERM) == (0, "")


# 3. The end ----------------------------------------------------------------------------------


@pytest.mark.slow("kills")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_the_middle_ends_it_between_two_transactions(
    house: Project, place: str, number: signal.Signals
) -> None:
    expected = (0, "") if number == signal.SIGTERM else (130, "\ninterrupted\n")
    with follower(house, "--db", place, *SOON) as it, log(place) as store:
        it.signalled(signal.SIGSTOP)
        for n in range(2):  # eight transactions
            recorded(store, goldens(), first=1 + n * 1_000)
        before = waiting(store)
        with _writing(place):
            it.signalled(signal.SIGCONT)
            if place.startswith("postgresql"):
                until(lambda: _is_waited_for(place))
            it.signalled(number)
        assert it.ended() == expected
        left = waiting(store)
        assert 0 < left <= before, "at most the transaction that was under way was done"
        if place.startswith("postgresql"):
            assert left < before, "and that one was not given up"
        fits(store)


@contextmanager
def _writing(place: str) -> Iterator[None]:
    """Another connection locks what every fold must write."""
    if place.startswith("postgresql"):
        with closing(connected(place)) as other, other.transaction():
            other.execute("SELECT * FROM projections FOR UPDATE")
            yield
        return
    with closing(sqlite3.connect(place, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield
        file.execute("ROLLBACK")


def _is_waited_for(place: str) -> bool:
    waits = (
        "SELECT count(*) > 0 FROM pg_stat_activity "
        "WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    with opened_log(place) as other:
        return other.execute(waits).fetchone() == (True,)


ROUNDS: Final = 6
"""Of all goldens: more sessions than a rebuild looks at together."""


@pytest.mark.slow("kills")
def test_a_rebuild_that_it_began_is_ended_between_two_transactions_too(
    house: Project, postgres: str
) -> None:
    with log(postgres) as store:
        for n in range(ROUNDS):
            recorded(store, goldens(), first=1 + n * 1_000)
        with closing(connected(postgres)) as other, other.transaction(force_rollback=True):
            (first, *_) = store.heads(None)[::-1]
            other.execute("INSERT INTO marks VALUES ('usage', %s, 0)", (first.session_id,))
            process = house.started("admin", "projections", "follow", "--db", postgres)
            until(lambda: _is_waited_for(postgres))
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
        folded = SqlFollowing(store).folded("sessions")
        assert 0 < folded < len(goldens()) * ROUNDS
        assert re.fullmatch(rb"\S+ \S+ UTC  \d+ sessions folded, looking every 1 s\.\n", out)
        assert not all(state.is_current for state in following(store).states())
        fits(store)


def test_at_a_terminal_one_line_says_how_it_stands(house: Project) -> None:
    with terminal(house, "admin", "projections", "follow", *SOON) as t:
        t.expect("0 sessions folded, looking every 0.1 s. Ctrl-C ends it.")
        house.started_session()
        t.expect("\r[-0-9]+ [:0-9]+ UTC  1 session folded, looking every 0.1 s")
        t.interrupt()
        assert t.expect("interrupted").endswith("^C\ninterrupted")
        assert t.code() == 130


# 4. Words ------------------------------------------------------------------------------------


def test_its_json_is_what_is_documented(house: Project) -> None:
    with follower(house, *SOON) as it:
        house.decided()
        check("projections-follow/1", it.next())


def test_what_the_page_shows_is_what_it_prints(house: Project) -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    (shown,) = re.findall(
        r"^    \$ preflights admin projections follow\n    (.*)$", page, re.MULTILINE
    )
    house.decided()
    process = house.started("admin", "projections", "follow")
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
    finally:
        process.kill()
        process.communicate()
    assert _timeless(line) == _timeless(shown) + "\n"


def _timeless(line: str) -> str:
    return re.sub(r"^\S+ \S+ UTC", "TIME", line)


def test_the_service_of_the_page_starts_what_there_is(house: Project) -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    (command,) = re.findall(r"^    ExecStart=\S*/preflights (.*)$", page, re.MULTILINE)
    assert house.call(*command.split(), "--help").code == 0
    with follower(house, *command.split()[3:]) as it:
        assert it.ended(signal.SIGTERM)[0] == 0
    (refused,) = re.findall(r"^    RestartPreventExitStatus=(.*)$", page, re.MULTILINE)
    assert refused == "2 4"
