"""The roles of docs/operations.md, made by the SQL that stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace
from sqlalchemy.engine import make_url

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import core_tables, frozen
from preflights_es.store.sql import SqlStore
from preflights_es.use.use_cases import NewSession
from tests.cli.program import Project
from tests.each import each
from tests.markdown import ROOT
from tests.postgres import Server, connected
from tests.store import decider
from tests.store.given import at, batch, erased, heard, opened, said, session_id, sql

KINDS = ("writer", "reader", "eraser")
BLOCK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REFUSED = psycopg.errors.InsufficientPrivilege


def documented(first: str) -> str:
    """The SQL of the page that begins so."""
    blocks = BLOCK.findall((ROOT / "docs" / "operations.md").read_text("utf-8"))
    (found,) = [block for block in blocks if block.startswith(first)]
    return str(found)


class Roles:
    """People of each role in one log, and its owner; another user made the roles.

    Roles belong to a whole server, which may have others: these bear the database's name.
    """

    def __init__(self, server: Server, database: str) -> None:
        self._server = server
        self._database = database
        self.owner = self.url("owner")
        server.said(f"CREATE ROLE {database}_owner LOGIN PASSWORD 'tUlip'")
        server.said(f"CREATE ROLE {database}_admin LOGIN CREATEROLE PASSWORD 'tUlip'")
        server.said(f"ALTER DATABASE {database} OWNER TO {database}_owner")

    def url(self, kind: str) -> str:
        """The address, for a member of a role."""
        return self._server.url(self._database, f"{self._database}_{kind}", "tUlip")

    def make(self) -> None:
        """Each role, and a person who is a member of it."""
        with closing(connected(self.url("admin"))) as admin:
            admin.execute(self._ours(documented("CREATE ROLE")))
            for kind in KINDS:
                person = f"{self._database}_{kind}"
                admin.execute(f"CREATE ROLE {person} LOGIN PASSWORD 'tUlip'".encode())
                admin.execute(f"GRANT {self._database}_as_{kind} TO {person}".encode())

    def grant(self, schema: str = "public") -> None:
        """What the page lets them do, as the owner."""
        said = re.sub(r"\bpublic\b", schema, documented("SET search_path"))
        with closing(connected(self.owner)) as owner:
            owner.execute(self._ours(said))

    def _ours(self, statements: str) -> bytes:
        return statements.replace("preflights_", f"{self._database}_as_").encode()

    def drop(self) -> None:
        """The log first: a role that owns something, or may do something, stays."""
        self._server.drop(self._database)
        of_server = ("as_eraser", "as_writer", "as_reader", "owner", "admin")
        for name in (*KINDS, *of_server):
            self._server.said(f"DROP ROLE IF EXISTS {self._database}_{name}")


@pytest.fixture(scope="module")
def roles(server: Server) -> Iterator[Roles]:
    made = Roles(server, server.database())
    try:
        with closing(SqlStore(made.owner, int, bytes)):
            pass
        made.make()
        made.grant()
        made.grant()
        yield made
    finally:
        made.drop()


@pytest.fixture(scope="module", autouse=True)
def _recorded(roles: Roles) -> None:
    with closing(at(roles.owner)) as store:
        opened(store, 1)
        store.append([batch(2, said("secret", "secret"), heard("secret"), erased())])


def test_the_page_gives_every_table_to_a_role() -> None:
    lines = re.findall(r"ON ([\w,\s]+?)\s+TO", documented("SET search_path"))
    granted = {word for line in lines for word in re.split(r",\s+", line)}
    assert granted >= core_tables.metadata.tables.keys() - {"log"}  # all read it, no role writes it


def test_a_writer_leads_a_session_from_start_to_document(roles: Roles, tmp_path: Path) -> None:
    with closing(decider.app(tmp_path, roles.url("writer"))) as program:
        setup, heuristics = program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
        step = clarifications_of(program).open(NewSession("Add a login"), setup, heuristics)
        step = program.sessions.answer(step.handle, [("auth_strategy", ["OAuth"])])
        step = clarifications_of(program).accept(step.handle.session_id)
        program.process.documents.finish(step.handle)
        head = program.process.store.head(step.handle.session_id)
        assert head is not None
        stored = program.process.store.read(head.session_id)
        assert Replayer(WORKFLOWS).replay(stored, head.hash).status == "identical"
        program.process.store.check()
        assert program.process.store.open_calls(decider.PROJECT) == ()


CHANGES = {
    "UPDATE events SET data = NULL, salt = NULL": "events",
    "UPDATE events SET recorded_at = 0": "events",
    "DELETE FROM events": "events",
    "TRUNCATE events": "events",
    "TRUNCATE events, heads, outbox CASCADE": "events",
    "DELETE FROM heads": "heads",
    "TRUNCATE heads": "heads",
    "UPDATE heads SET session_id = 'x'": "heads",
    "UPDATE heads SET project = 'x'": "heads",
    "UPDATE numbers SET number = 9": "numbers",
    "DELETE FROM numbers": "numbers",
    "UPDATE alembic_version SET version_num = '0000'": "alembic_version",
    "DELETE FROM alembic_version": "alembic_version",
    "ALTER TABLE events DISABLE TRIGGER ALL": "events",
    "DROP TRIGGER events_are_kept ON events": "events",
    "DROP FUNCTION events_are_kept CASCADE": "events_are_kept",
    "CREATE OR REPLACE FUNCTION events_are_kept() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN NULL; END'": "schema public",
    "DROP TABLE events": "events",
    "CREATE TABLE mine (id int)": "schema public",
    "SET session_replication_role = replica": "session_replication_role",
}


@each("kind", ["writer", "reader"])
def test_neither_writer_nor_reader_changes_what_was_recorded(roles: Roles, kind: str) -> None:
    with closing(connected(roles.url(kind))) as connection:
        for statement, named in CHANGES.items():
            with pytest.raises(REFUSED, match=named):
                connection.execute(statement.encode())


def test_a_reader_writes_to_no_table(roles: Roles) -> None:
    with closing(connected(roles.url("reader"))) as connection:
        for table in core_tables.metadata.tables:
            for verb in ("INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}", "TRUNCATE {}"):
                with pytest.raises(REFUSED, match=table):
                    connection.execute(verb.format(table).encode())


def test_a_reader_reads_and_is_told_in_one_line_that_it_may_not_write(roles: Roles) -> None:
    with closing(at(roles.url("reader"))) as store:
        assert len(store.read(session_id(1))) == 2
        assert store.schema() == frozen.read_frozen_revision()
        store.check()
        with pytest.raises(StoreUnavailable, match="may not") as caught:
            opened(store, 3)
        assert "\n" not in str(caught.value)


def test_a_reader_looks_by_every_command_and_records_by_none(roles: Roles, tmp_path: Path) -> None:
    house = Project(tmp_path / "house", tmp_path)
    house.folder.mkdir()
    house.git("init", "--quiet", "--template=")
    started = house.named().call("start", "Add OAuth login", "--db", roles.url("writer"), "--json")
    session = str(started.json["session_id"])
    for words in ("show", "log", "replay", "admin export"):
        done = house.call(*words.split(), session, "--db", roles.url("reader"))
        assert done.code == 0, done.err
    for words in ("sessions", "decisions", "audit verify", "audit verify --all"):
        done = house.call(*words.split(), "--db", roles.url("reader"))
        assert (done.code, done.err) == (0, ""), words
    refused = house.call("answer", session, "auth_strategy=OAuth", "--db", roles.url("reader"))
    assert refused.code == 5
    assert "may not" in refused.err
    shown = house.call("show", session, "--db", roles.url("writer"), "--json").json
    assert shown["version"] == started.json["version"]


def test_an_eraser_drops_what_an_erasure_covers_and_nothing_else(roles: Roles) -> None:
    drop = "UPDATE events SET data = NULL, salt = NULL WHERE session_id = %s AND version = 1"
    with closing(connected(roles.url("eraser"))) as connection:
        assert connection.execute(drop, (session_id(2),)).rowcount == 1
        with pytest.raises(psycopg.IntegrityError, match="never changed"):
            connection.execute(drop, (session_id(1),))
        for statement in ("DELETE FROM events", "UPDATE events SET hash = '\\x00'"):
            with pytest.raises(REFUSED):
                connection.execute(statement.encode())


def test_a_writer_imports_a_session_erased_elsewhere(roles: Roles, tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as other:
        head = opened(other, 7)
        erasure = replace(erased(), input_id="erasure-7")
        other.erase(batch(7, erasure, heard("closed"), after=head))
        events = other.read(session_id(7))
    with closing(at(roles.url("writer"))) as store:
        store.insert(events)
        assert store.read(session_id(7)) == events


def test_grants_that_are_said_again_reach_what_an_upgrade_brought(roles: Roles) -> None:
    with closing(connected(roles.owner)) as owner:
        owner.execute("CREATE TABLE brought (id int)")
        try:
            with closing(connected(roles.url("reader"))) as reader:
                with pytest.raises(REFUSED, match="brought"):
                    reader.execute("SELECT * FROM brought")
                roles.grant()
                assert reader.execute("SELECT * FROM brought").fetchall() == []
        finally:
            owner.execute("DROP TABLE brought")


def test_roles_do_in_a_schema_of_its_own_what_they_do_in_public(roles: Roles) -> None:
    with closing(connected(roles.owner)) as owner:
        owner.execute("CREATE SCHEMA elsewhere")
    there = {
        kind: f"{roles.url(kind)}&options=-c%20search_path=elsewhere" for kind in ("owner", *KINDS)
    }
    with closing(at(there["owner"])):
        pass
    with pytest.raises(StoreUnavailable, match="no schema"):
        at(there["writer"])
    for _ in range(2):
        roles.grant("elsewhere")
    with closing(at(there["writer"])) as store:
        head = opened(store, 1)
    with closing(at(there["reader"])) as store:
        assert store.heads(None) == (head,)
        with pytest.raises(StoreUnavailable, match="may not"):
            opened(store, 2)
    with closing(connected(there["eraser"])) as eraser, pytest.raises(REFUSED):
        eraser.execute("DELETE FROM events")


def test_a_role_that_may_not_migrate_is_told_so(server: Server, roles: Roles) -> None:
    name = server.database()
    user = make_url(roles.url("writer")).username or ""
    try:
        with closing(connected(server.url(name))) as owner:
            owner.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        with pytest.raises(StoreUnavailable, match="may not"):
            SqlStore(server.url(name, user), int, bytes)
    finally:
        server.drop(name)
