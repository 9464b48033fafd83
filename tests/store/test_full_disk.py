"""A disk fills up: what was acknowledged is there, nothing is half done, and it goes on with room.

The disks are small ones in memory (`tests/store/small_disk.py`).
"""

from __future__ import annotations

import os
import pwd
import random
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import psycopg
import pytest

from preflights_es.kernel.errors import CommitUnknown, StoreError, StoreUnavailable
from preflights_es.kernel.ports import AppendBatch, Head
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.store.stored_events import verified
from tests.cli.program import Project, Result
from tests.fixed import PROJECT, Clock
from tests.postgres import SAFE, OwnServer
from tests.store.given import Salt, at, batch, heard, said, session_id, sql
from tests.store.small_disk import SmallDisk, on_a_disk

PAGE: Final = 4_096  # bytes: what a file in memory grows by
TO_LOOK: Final = 10 * PAGE  # bytes that let a log in a file be opened, and not be written

APPENDS_MAX: Final = 2_000  # several times what fills any of the disks


class Writer:
    """Appends to two sessions at once, so that half an append would be seen, and keeps count."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.inputs: list[str] = []
        self.maybe: list[str] = []
        """Of which the log said that the outcome is unknown."""
        self._steps = 0
        self._choice = random.Random(0)  # bytes that no database packs

    def append(self, length: int) -> None:
        """One more Input of so many bytes in each of the sessions; raises what the log does."""
        self._steps += 1
        names = [f"step-{self._steps}-{number}" for number in (1, 2)]
        batches = [
            self._batch(number, self.store.head(session_id(number)), name, length)
            for number, name in enumerate(names, 1)
        ]
        try:
            self.store.append(batches)
        except CommitUnknown:
            self.maybe += names
            raise
        self.inputs += names

    def _batch(self, number: int, head: Head | None, name: str, length: int) -> AppendBatch:
        version = head.version if head else 0
        return batch(
            number,
            said(self._choice.randbytes(length // 2).hex(), name),
            heard("x"),
            after=head,
            opens=(f"call-{version + 2}",),
            closes=(f"call-{version}",),
            holds=2 * version + number,
        )

    def until_full(self, length: int) -> StoreError:
        """Append until that is refused: why."""
        for _ in range(APPENDS_MAX):
            try:
                self.append(length)
            except StoreError as error:
                return error
        raise AssertionError("the disk does not fill up")

    def check(self) -> None:
        """What was acknowledged is there and nothing else, but for commits of unknown outcome."""
        heads = self.store.heads(None)
        found: list[str] = []
        for head in heads:
            events = verified(self.store.read(head.session_id), head.hash)
            assert [event.version for event in events] == list(range(1, head.version + 1))
            found += [event.input_id for event in events if event.input_id is not None]
        assert set(self.inputs) <= set(found) <= {*self.inputs, *self.maybe}
        assert len({head.version for head in heads}) <= 1, "both sessions moved, or none"
        calls = {(head.session_id, f"call-{head.version}") for head in heads}
        assert set(self.store.open_calls(PROJECT)) == calls
        assert len(self.store.numbers(PROJECT)) == len(found)


# 1. A log in a file --------------------------------------------------------------------------


@on_a_disk("2m")
def test_a_disk_that_fills_up_loses_nothing_and_the_same_log_goes_on(disk: SmallDisk) -> None:
    with closing(sql(disk.folder)) as store:
        writer = Writer(store)
        writer.append(100)
        disk.fill(but=600_000)
        for _ in range(2):
            error = writer.until_full(5_000)
            assert isinstance(error, StoreUnavailable)
            assert str(error).startswith("the log cannot be used: database or disk is full")
            assert "\n" not in str(error)
            writer.check()
        assert len(writer.inputs) > 6
        with closing(sql(disk.folder)) as other:
            assert other.heads(None) == store.heads(None)
        disk.make_room()
        writer.append(5_000)
        writer.check()
        store.check()
    with closing(sql(disk.folder)) as again:
        writer.store = again
        writer.check()


@on_a_disk("2m")
def test_with_any_room_an_append_is_there_or_refused(disk: SmallDisk) -> None:
    with closing(sql(disk.folder)) as store:
        writer = Writer(store)
        came = []
        for left in range(0, 40 * PAGE, PAGE):
            before = len(writer.inputs)
            disk.fill(but=left)
            with suppress(StoreUnavailable):
                writer.append(10_000)
            writer.check()
            came.append(len(writer.inputs) > before)
            disk.make_room()
            writer.append(100)
            writer.check()
            assert store.database.scrubbed(), "its journal is empty again"
        assert set(came) == {False, True}


@on_a_disk("2m")
def test_with_any_room_a_new_log_is_made_or_refused(disk: SmallDisk) -> None:
    came = []
    for n, left in enumerate(range(0, 160 * PAGE, 8 * PAGE)):
        path = disk.folder / f"{n}.db"
        disk.fill(but=left)
        try:
            SqlStore(str(path), Clock(), Salt()).close()
        except StoreUnavailable:
            came.append(False)
        else:
            came.append(True)
        disk.make_room()
        with closing(SqlStore(str(path), Clock(), Salt())) as store:
            assert store.heads(None) == ()
            store.check()
        for part in disk.folder.glob(f"{n}.db*"):
            part.unlink()
    assert set(came) == {False, True}


@on_a_disk("2m")
def test_what_a_process_left_in_the_journal_is_read_where_nothing_can_be_written(
    disk: SmallDisk, tmp_path: Path
) -> None:
    with closing(sql(tmp_path)) as store:
        Writer(store).append(100)
        expected = store.heads(None)
        for name in ("log.db", "log.db-wal"):  # and not what processes share, which a restart takes
            (disk.folder / name).write_bytes((tmp_path / name).read_bytes())
    disk.fill()
    for _ in range(2):
        with closing(sql(disk.folder)) as left:
            assert left.heads(None) == expected
            left.check()


# 2. The command line -------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path: Path) -> Project:
    """A project whose log may lie elsewhere."""
    made = Project(tmp_path / "house", tmp_path)
    made.folder.mkdir()
    return made


def elsewhere(folder: Path) -> dict[str, str]:
    """What tells the program where the log lies, and whose it is."""
    return {"PREFLIGHTS_DATABASE_URL": str(folder / "log.db"), "PREFLIGHTS_PROJECT": "house"}


def refused(done: Result, *words: str) -> None:
    """An environment failure is said in one line."""
    assert done.code == 5, done
    assert done.err.count("\n") == 1
    assert done.err.startswith("preflights: ")
    assert all(word in done.err for word in words), done.err
    assert "Traceback" not in done.err


DECIDE: Final = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--by", "Ada Lovelace")


@pytest.mark.slow("full disk")
@pytest.mark.parametrize("left", [0, TO_LOOK])
@on_a_disk("2m")
def test_a_full_disk_is_said_and_loses_nothing(disk: SmallDisk, house: Project, left: int) -> None:
    env = elsewhere(disk.folder)
    assert house.call("start", "Add a login", env=env).code == 3
    disk.fill(but=left)
    refused(
        house.run("start", "Add a logout", env=env),
        "the log cannot be used",
        "make room, then run this again",
    )
    refused(
        house.call("answer", "last", "OAuth", env=env),
        "the log cannot be used",
        "make room, then run this again",
    )
    disk.make_room()
    (session,) = house.call("sessions", "--json", env=env).json["sessions"]
    assert session["intention"] == "Add a login"
    assert house.call("replay", "last", env=env).code == 0
    assert house.call("answer", "last", "OAuth", env=env).code == 3, "it waits to be accepted"
    assert house.call("audit", "verify", env=env).code == 0


@on_a_disk("2m")
def test_a_log_that_cannot_be_made_is_so_once_it_can(disk: SmallDisk, house: Project) -> None:
    env = elsewhere(disk.folder)
    for left in (0, TO_LOOK, 40 * PAGE):
        disk.fill(but=left)
        refused(house.call("start", "Add a login", env=env), "the log cannot be used")
        disk.make_room()
    assert house.call("start", "Add a login", env=env).code == 3
    (session,) = house.call("sessions", "--json", env=env).json["sessions"]
    assert session["status"] == "needs_answers"


@on_a_disk("2m")
def test_an_unwritable_document_is_written_by_a_later_one(disk: SmallDisk, tmp_path: Path) -> None:
    house = Project(disk.folder / "house", tmp_path)
    house.folder.mkdir()
    env = elsewhere(tmp_path)
    disk.fill()
    done = house.run("start", "Add OAuth login", *DECIDE, env=env)
    recorded, _, why = done.err.partition("\n")
    assert recorded == "warning: it is recorded; the next command writes its document"
    refused(done._replace(err=why), "docs/decisions", "No space left")
    shown = house.call("show", "last", "--json", env=env)
    assert shown.json["status"] == "accepted", "the decision is recorded"
    assert [*disk.folder.glob("house/**/*.md*")] == []
    disk.make_room()
    assert house.call("sessions", env=env).code == 0
    (document,) = disk.folder.glob("house/docs/decisions/*.md")
    assert document.name == "0001-use-oauth-for-authentication.md"
    assert document.read_text().count("OAuth") > 1
    assert house.call("admin", "render", "last", "--check", env=env).code == 0
    assert house.call("replay", "last", env=env).code == 0


@on_a_disk("2m")
def test_who_looks_on_a_full_disk_gets_the_same_rows(disk: SmallDisk, house: Project) -> None:
    env = elsewhere(disk.folder)
    assert house.call("start", "Add OAuth login", *DECIDE, env=env).code == 0
    looks = [(word, "last", "--json") for word in ("show", "log", "replay")]
    rows = [("decisions", "--json"), ("usage", "--json")]
    for left in (0, TO_LOOK):
        led = ("--provider", "sim", "--seed", "1")
        assert house.call("start", "Add a cache", *led, env=env).code in (0, 3)
        before = [house.call(*look, env=env) for look in looks]
        disk.fill(but=left)
        assert [house.call(*look, env=env) for look in looks] == before
        found = [house.call(*look, env=env) for look in rows]
        assert {(done.code, done.err) for done in (*before, *found)} == {(0, "")}
        assert len(found[0].json["decisions"]) == 1
        with closing(SqlStore(env["PREFLIGHTS_DATABASE_URL"], Clock(), Salt())) as store:
            assert SqlFollowing(store).counts()["waiting"], "nothing could be kept"
        disk.make_room()
        assert [house.call(*look, env=env) for look in rows] == found
        with closing(SqlStore(env["PREFLIGHTS_DATABASE_URL"], Clock(), Salt())) as store:
            assert SqlFollowing(store).counts()["waiting"] == 0


# 3. A log on a server ------------------------------------------------------------------------


class SmallServer(OwnServer):
    """One whose data lie on a small disk."""

    def __init__(self, disk: SmallDisk) -> None:
        self._disk = disk
        super().__init__((*SAFE, "-c", "min_wal_size=2MB", "-c", "max_wal_size=4MB"))

    def _make(self) -> None:
        data = self._disk.folder / "data"
        data.mkdir(mode=0o700)
        if self._user:
            owner = pwd.getpwnam(self._user)
            os.chown(data, owner.pw_uid, owner.pw_gid)
        (self.folder / "data").symlink_to(data)
        self._run(
            *("initdb", "--pgdata", "data", "--no-sync", "--auth=trust", "--username=postgres"),
            *("--locale=C", "--encoding=UTF8", "--wal-segsize=1"),
        )

    def journal_moves_on(self) -> None:
        """Begin a new file of the journal, which may be its end."""
        with suppress(psycopg.Error):
            self.admin().execute("SELECT pg_switch_wal()")

    def answers_again(self) -> None:
        """After it ended itself, whether it started again or must be started."""
        try:
            self._answers()
        except AssertionError:
            self._gone("keep")
            self.started_again()


@pytest.mark.slow("full disk")
@on_a_disk("96m")
def test_a_server_whose_disk_fills_up_loses_nothing_and_goes_on(disk: SmallDisk) -> None:
    with closing(SmallServer(disk)) as server, closing(at(server.url(server.database()))) as store:
        writer = Writer(store)
        server.journal_moves_on()
        writer.append(100)
        disk.fill(but=100_000)  # bytes: less than the new file of the journal has left
        for _ in range(2):
            error = writer.until_full(8_000)
            assert isinstance(error, StoreUnavailable)
            assert "could not extend file" in str(error)
            assert "\n" not in str(error)
            writer.check()
        disk.make_room()
        writer.append(8_000)
        writer.check()
