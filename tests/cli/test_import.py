"""`import` among others: interrupted, twice at once, between engines, of a file that is no good."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Draft
from preflights_es.store import jsonl
from preflights_es.store.memory import MemoryStore
from preflights_es.store.sql import SqlStore
from preflights_es.words import imports
from tests.cli.archives import many
from tests.cli.program import TIMEOUT_S, Project
from tests.each import each
from tests.fixed import Clock
from tests.postgres import SECOND_ENGINE, opened_log
from tests.store.given import Salt, batch, resealed

SESSIONS = 600  # of a file that takes more than one transaction


@pytest.fixture
def file(house: Project) -> bytes:
    return many(house.folder / "many.jsonl", SESSIONS)


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def log(request: pytest.FixtureRequest, house: Project) -> str:
    """The address of an empty log, on either engine."""
    if request.param == "postgres":
        house.named()
        return str(request.getfixturevalue("postgres"))
    made = house.folder / "copy.db"
    assert house.call("admin", "db", "upgrade", "--db", str(made)).code == 0
    return str(made)


def exported(house: Project, log: str) -> bytes:
    return house.call("admin", "export", "--any-project", "--db", log).out.encode()


def rows(log: str) -> dict[str, int]:
    """How many sessions and events there are, besides the streams of imports."""
    with closing(SqlStore(log, Clock(), Salt())) as store:
        counts, own = store.counts(), store.heads_in(imports.NAME)
    counts["sessions"] -= len(own)
    counts["events"] -= sum(head.version for head in own)
    return counts


def ids(file: bytes) -> list[str]:
    return list(dict.fromkeys(json.loads(line)["session_id"] for line in file.splitlines()[1:]))


def awaited(look: Callable[[], Any]) -> None:
    until = time.monotonic() + TIMEOUT_S
    while not look():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.01)


# 1. Interrupted ------------------------------------------------------------------------------


@contextmanager
def held(log: str, session_id: str) -> Iterator[Callable[[], int]]:
    """An import gets stuck in its transaction; says how many are.

    In a file only until they are killed, and for good once there is anything.
    """
    if "://" in log:
        with opened_log(log) as other, opened_log(log) as watcher:
            other.execute("BEGIN")
            other.execute(
                "INSERT INTO heads VALUES (%s, 'house', 'toy', 1, %s)", (session_id, bytes(32))
            )
            yield lambda: waiting(watcher)
            other.execute("ROLLBACK")
        return
    endless = ", ".join(f"events AS e{n}" for n in range(9))
    with closing(sqlite3.connect(log, isolation_level=None)) as other:
        other.execute(
            f"CREATE TRIGGER stuck BEFORE INSERT ON heads WHEN NEW.session_id = '{session_id}' "
            f"BEGIN SELECT count(*) FROM {endless} WHERE e0.version > random(); END"
        )
        yield lambda: int(other.execute("SELECT count(*) > 1 FROM heads").fetchone()[0])
        other.execute("DROP TRIGGER stuck")


def waiting(watcher: psycopg.Connection[tuple[object, ...]]) -> int:
    """How many wait for another connection's lock."""
    return len(watcher.execute("SELECT pid FROM pg_locks WHERE NOT granted").fetchall())


@pytest.mark.slow("kills")
def test_an_import_that_was_killed_is_completed_when_it_is_run_again(
    house: Project, file: bytes, log: str
) -> None:
    with held(log, ids(file)[-1]) as stuck:
        process = house.started("admin", "import", "many.jsonl", "--db", log)
        awaited(lambda: stuck() == 1)
        process.kill()
        assert process.wait(TIMEOUT_S) != 0
        process.communicate()
    taken = rows(log)
    assert 0 < taken["sessions"] < SESSIONS, "it was killed in the middle"
    assert taken["events"] == 2 * taken["sessions"], "each is there as a whole"
    again = house.call("admin", "import", "many.jsonl", "--db", log, "--json").json["sessions"]
    assert [one["new_events"] for one in again] == [
        0 if n < taken["sessions"] else 2 for n in range(SESSIONS)
    ]
    assert exported(house, log) == file


# 2. With others ------------------------------------------------------------------------------


@pytest.mark.slow("crowds")
def test_two_imports_of_one_file_at_the_same_time_take_it_once(
    house: Project, file: bytes, log: str
) -> None:
    # On a server, they begin at the same moment; in a file, the one lock hides who waits.
    gate = held(log, ids(file)[0]) if "://" in log else nullcontext(lambda: 2)
    with gate as stuck:
        both = [
            house.started("admin", "import", "many.jsonl", "--db", log, "--json") for _ in range(2)
        ]
        awaited(lambda: stuck() == 2)
    told = [process.communicate(timeout=TIMEOUT_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    new = [[one["new_events"] for one in json.loads(out)["sessions"]] for out, _ in told]
    assert [sum(pair) for pair in zip(*new, strict=True)] == [2] * SESSIONS
    assert exported(house, log) == file
    assert house.call("audit", "verify", "--all", "--db", log).code == 0


@pytest.mark.slow("crowds")
def test_two_imports_of_one_tail_at_the_same_time_take_it_once(
    house: Project, postgres: str
) -> None:
    """Both have seen what is lacking before one of them takes it."""
    session_id = house.started_session()
    house.named()
    log = ("--db", postgres)
    assert house.call("admin", "import", "-", *log, stdin=exported(house, str(house.log))).code == 0
    house.call("answer", "last", "OAuth")
    whole = exported(house, str(house.log))
    (house.folder / "whole.jsonl").write_bytes(whole)
    with opened_log(postgres) as other, opened_log(postgres) as watcher:
        other.execute("BEGIN")
        other.execute("SELECT 1 FROM heads WHERE session_id = %s FOR UPDATE", (session_id,))
        words = ("admin", "import", "whole.jsonl", "--yes", *log, "--json")
        both = [house.started(*words) for _ in range(2)]
        awaited(lambda: waiting(watcher) == 2)
        other.execute("ROLLBACK")
    told = [process.communicate(timeout=TIMEOUT_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    new = [json.loads(out)["sessions"][0]["new_events"] for out, _ in told]
    assert sorted(new) == [0, 3]
    assert exported(house, postgres) == whole


# 3. No good ----------------------------------------------------------------------------------


def cut(line: bytes) -> bytes:
    return line[:-20]


def flipped(line: bytes) -> bytes:
    return line.replace(b"Add a cache", b"Add a cactus")


@each(
    ("damage", "message"),
    [
        (cut, "many.jsonl, line {line}: not an event: "),
        (flipped, "damaged log: session {session}, event 1: its payload was changed"),
    ],
)
def test_a_file_that_is_no_good_far_behind_is_refused_before_anything_is_taken(
    house: Project, file: bytes, damage: Callable[[bytes], bytes], message: str
) -> None:
    lines = file.splitlines()
    session = ids(file)[-10]
    line = next(n for n, text in enumerate(lines) if session.encode() in text)
    lines[line] = damage(lines[line])
    (house.folder / "many.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = house.call("admin", "import", "many.jsonl", "--db", "copy.db")
    assert (done.code, done.out) == (4, "")
    assert message.format(line=line + 1, session=session) in done.err
    assert done.err.endswith("; nothing was imported\n")
    assert done.err.count("\n") == 1
    assert rows(str(house.folder / "copy.db"))["events"] == 0


def test_a_session_that_cannot_go_on_hides_no_later_one_that_was_taken(
    house: Project, log: str
) -> None:
    """New sessions are taken together, before others go on."""
    extended = house.started_session()
    assert house.call("admin", "import", "-", "--db", log, stdin=text_of(house, extended)).code == 0
    assert house.call("answer", extended, "OAuth").code in (0, 3)
    new = house.started_session("Add a cache")
    more = text_of(house, extended)
    said = next(json.loads(line)["input_id"] for line in more.splitlines()[4:])
    assert house.call("admin", "import", "-", "--db", log, stdin=one_with(house, said)).code == 0
    done = house.call(
        "admin", "import", "-", "--yes", "--db", log, stdin=more + text_of(house, new)
    )
    assert done.code == 1
    assert f"an Input of session {extended} stands in another session" in done.err
    assert done.err.endswith("(sessions taken over before: 1)\n")
    assert done.out.startswith(f"{short_session(new)} (house): "), "the one that was taken"
    assert house.call("show", new, "--db", log).code in (0, 3)


def text_of(house: Project, session: str) -> bytes:
    return house.call("admin", "export", session).out.encode()


def test_a_session_that_cannot_be_taken_says_how_many_were_before_it(
    house: Project, file: bytes, log: str
) -> None:
    """An Input of the last session stands in another one here."""
    lines = file.splitlines()
    last, before = (json.loads(lines[-2 * n])["input_id"] for n in (1, 2))
    assert last != before
    (house.folder / "own.jsonl").write_bytes(one_with(house, last))
    assert house.call("admin", "import", "own.jsonl", "--db", log).code == 0
    done = house.call("admin", "import", "many.jsonl", "--db", log)
    assert done.code == 1
    assert f"an Input of session {ids(file)[-1]} stands in another session" in done.err
    assert done.err.endswith(f"(sessions taken over before: {SESSIONS - 1})\n")
    assert rows(log)["sessions"] == SESSIONS


def one_with(house: Project, input_id: str) -> bytes:
    """A session of another log whose Input bears an id."""
    first, second = jsonl.stored(many(house.folder / "one.jsonl", 1).splitlines(), "one.jsonl")
    drafts = (
        Draft(first.type, first.data or b"", first.decider, input_id, first.actor_kind),
        Draft(second.type, second.data or b"", second.decider),
    )
    store = MemoryStore(Clock(), Salt())
    (head,) = store.append([replace(batch(99, *drafts), workflow=first.workflow)])
    return jsonl.encode_event_file(store.read(head.session_id))


def test_a_forged_decision_verifies_and_its_replay_finds_it(house: Project) -> None:
    """A chain shows that nothing was changed since it was hashed; not that it ever followed."""
    house.decided()
    lines = house.call("admin", "export", "last").out.encode().splitlines()
    events = [
        one
        if one.input_id or one.data is None
        else replace(one, data=one.data.replace(b'"value":"OAuth"', b'"value":"SAML"'))
        for one in jsonl.stored(lines, "here")
    ]
    forged = jsonl.encode_event_file(resealed(events))
    assert b"SAML" in forged
    (house.folder / "forged.jsonl").write_bytes(forged)
    assert house.call("replay", "forged.jsonl").code == 1
    assert house.call("admin", "import", "forged.jsonl", "--db", "copy.db").code == 0
    assert house.call("audit", "verify", "--db", "copy.db").code == 0
    assert house.call("replay", "last", "--db", "copy.db").code == 1
