"""What an agent imports: a person's acceptance in a file is the file's word, and only proposed."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.kernel import imports
from preflights_es.kernel.ids import short
from preflights_es.store import jsonl
from preflights_es.store.sql import SqlStore
from tests.cli.archives import many
from tests.cli.clones import SESSIONS, cloned, committed, pulled, session_file
from tests.cli.program import Project
from tests.fixed import Clock
from tests.store.given import Salt

AGENT = {"CLAUDECODE": "1"}
SAYS = "imported by claude-code; accepted by Ada"
FILE = "as the file says"
TOPIC = ("Use a database", "db_type=PostgreSQL")


@pytest.fixture
def clone(house: Project, decided: str, tmp_path: Path) -> Project:
    """A colleague's clone of it."""
    return cloned(house, tmp_path / "another-name")


@pytest.fixture
def forged(house: Project, tmp_path: Path) -> tuple[str, bytes]:
    """A session of another log, accepted by Ada as it says, and its lines."""
    elsewhere = ("--db", str(tmp_path / "elsewhere.db"))
    words = ("--answer", TOPIC[1], "--accept", "--by", "Ada", "--json", *elsewhere)
    session: str = house.call("start", TOPIC[0], *words).json["session_id"]
    lines = house.call("admin", "export", session, *elsewhere).out.encode()
    shutil.rmtree(house.folder / "docs")
    return session, lines


def imported(project: Project) -> list[str]:
    """The tags of all that imports recorded, in order."""
    with closing(SqlStore(str(project.log), Clock(), Salt())) as store:
        heads = store.heads_in(imports.NAME)
        return [one.type for head in heads for one in store.read(head.session_id)]


# 1. Proposed ---------------------------------------------------------------------------------


def test_what_an_agent_imports_is_a_proposal_everywhere(
    house: Project, forged: tuple[str, bytes]
) -> None:
    session, lines = forged
    done = house.call("admin", "import", "-", stdin=lines, env=AGENT)
    assert done.code == 0
    assert house.show(session)["status"] == "proposed"
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert row["standing"] == "proposed"
    assert row["imported_by"] == {"kind": "agent", "name": "claude-code"}
    assert SAYS in house.call("decisions").out
    assert FILE in house.call("decisions").out
    told = house.call("why", session).out
    assert f"{SAYS}, {FILE}" in told
    brief = house.call("prompt").out
    assert f"{SAYS}, {FILE}" in brief.partition("Proposed, not in force")[2]
    (waiting,) = house.call("inbox", "--json").json["waiting"]
    assert (waiting["session_id"], waiting["kind"]) == (session, "proposal")
    assert FILE in waiting["origin"]
    assert session not in house.call("recall", "which database?", "--json").out
    steps = [json.loads(one) for one in house.call("audit", "trail", "--json").out.splitlines()]
    of_it = [one["imported"]["by"] for one in steps if one["session_id"] == session]
    assert of_it == [{"kind": "agent", "name": "claude-code"}] * (len(lines.splitlines()) - 1)
    trail = house.call("audit", "trail", "--session", session).out
    assert f"(file) {short(session)}: {SAYS}, {FILE}" in trail
    listed = {
        one["session_id"]: one["status"]
        for one in house.call("sessions", "--json").json["sessions"]
    }
    assert listed[session] == "proposed"
    said = house.call("ask", "sessions by status", "--run", "--json").json["result"]["rows"]
    assert ["proposed", 1] in said
    assert "accepted" not in dict(said)
    assert house.call("audit", "verify", "--all").code == 0


def test_a_proposal_contradicts_no_decision_and_is_superseded_by_none(
    house: Project, forged: tuple[str, bytes]
) -> None:
    session, lines = forged
    house.call("admin", "import", "-", stdin=lines, env=AGENT)
    words = ("--answer", "db_type=MySQL", "--accept", "--by", "Bob")
    assert house.call("start", "Use a database", *words).code == 0
    done = house.call("start", "Use a database", *words, "--supersedes", session)
    assert done.code == 1
    assert f"'{session}' is a proposal" in done.err


def test_a_person_confirms_it_and_an_agent_does_not(
    house: Project, forged: tuple[str, bytes]
) -> None:
    session, lines = forged
    house.call("admin", "import", "-", stdin=lines, env=AGENT)
    for words in (("accept", session), ("accept", session, "--by", "Ada")):
        assert house.call(*words, env=AGENT).code == 1
        assert house.show(session)["status"] == "proposed"
    done = house.call("accept", session, "--by", "Bob", "--json")
    assert (done.code, done.json["status"]) == (0, "accepted")
    assert house.show(session)["status"] == "accepted"
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert (row["standing"], row["imported_by"]) == ("accepted", None)
    why = house.call("why", session).out
    assert "confirmed  by Bob" in why
    assert f"{SAYS}, {FILE}" in why
    assert house.call("admin", "export", session).out.encode() == lines, "byte for byte"
    assert not house.call("inbox", "--json").json["waiting"]


def test_a_session_without_an_acceptance_is_taken_as_it_is(house: Project, tmp_path: Path) -> None:
    elsewhere = ("--db", str(tmp_path / "elsewhere.db"))
    done = house.call("start", "Add OAuth login", "--json", *elsewhere)
    session = done.json["session_id"]
    lines = house.call("admin", "export", session, *elsewhere).out.encode()
    assert house.call("admin", "import", "-", stdin=lines, env=AGENT).code == 0
    assert house.show(session)["status"] == "needs_answers"
    assert imported(house) == [imports.SessionsTaken.tag, imports.StandingGiven.tag]
    assert house.call("answer", session, "OAuth").code in (0, 3)
    assert house.call("accept", session, "--by", "Ada").code == 0
    assert house.show(session)["status"] == "accepted", "a person accepted it here"


# 2. Refused ----------------------------------------------------------------------------------


def test_an_agent_extends_and_erases_nothing(house: Project, clone: Project, decided: str) -> None:
    clone.call("sync")
    clone.decided("Add SSO", "--supersedes", decided)
    committed(clone)
    more = clone.call("admin", "export", "--all").out.encode()
    for words in (("--extend",), ("--extend", "--erase"), ()):
        done = house.call("admin", "import", "-", *words, stdin=more, env=AGENT)
        assert done.code == 1
        assert f"an agent (claude-code) cannot extend session {short(decided)}" in done.err
        assert done.err.endswith("nothing was imported\n") or "a person can" in done.err
    assert house.show(decided)["status"] == "accepted"
    house.call("admin", "erase", decided, "--yes")
    gone = house.call("admin", "export", decided).out.encode()
    done = clone.call("admin", "import", "-", "--erase", stdin=gone, env=AGENT)
    assert done.code == 1
    assert "cannot erase" in done.err or "diverged" in done.err
    assert clone.show(decided)["status"] == "superseded"


def test_an_agents_sync_leaves_what_a_person_accepted(
    house: Project, clone: Project, decided: str
) -> None:
    clone.call("sync")
    new = clone.decided("Add SSO", "--supersedes", decided)["session_id"]
    committed(clone)
    pulled(house, clone)
    done = house.call("sync", "--yes", env=AGENT)
    assert done.code == 1
    assert f"cannot extend session {short(decided)}" in done.err
    assert house.show(decided)["status"] == "accepted"
    assert house.call("sync", "--yes").code == 0
    assert house.show(decided)["status"] == "superseded"
    assert house.show(new)["status"] in ("accepted", "proposed")


def test_no_file_can_bear_the_ids_of_imports(house: Project, forged: tuple[str, bytes]) -> None:
    session, lines = forged
    (first, *_) = jsonl.stored(lines.splitlines(), "x")
    taken = imports.confirmed_id(session)
    foreign = lines.replace((first.input_id or "").encode(), taken.encode())
    done = house.call("admin", "import", "-", stdin=foreign)
    assert done.code == 4


def test_an_agent_takes_over_no_stream_of_another_import(
    house: Project, forged: tuple[str, bytes], tmp_path: Path
) -> None:
    """Else it could bring the confirmation along."""
    session, lines = forged
    other = ("--db", str(tmp_path / "other.db"))
    house.call("admin", "import", "-", *other, stdin=lines, env=AGENT)
    house.call("accept", session, "--by", "Ada", *other)
    with closing(SqlStore(other[1], Clock(), Salt())) as store:
        own = [
            jsonl.line(e) for h in store.heads_in(imports.NAME) for e in store.read(h.session_id)
        ]
    forged_imports = lines + b"".join(own)
    done = house.call("admin", "import", "-", stdin=forged_imports, env=AGENT)
    assert done.code == 1
    assert "cannot take over who imported what" in done.err
    assert house.call("show", session).code == 1


# 3. Recorded ---------------------------------------------------------------------------------


def test_two_clones_that_import_one_file_say_the_same(
    house: Project, clone: Project, decided: str, tmp_path: Path
) -> None:
    other = cloned(house, tmp_path / "third")
    assert clone.call("sync", env=AGENT).code == 0
    assert other.call("sync").code == 0
    assert clone.show(decided)["status"] == "proposed"
    assert other.show(decided)["status"] == "accepted"
    for project in (clone, other):
        assert project.call("sync").out == f"The log and {SESSIONS} say the same.\n"
        assert session_file(project, decided).read_bytes() == (
            session_file(house, decided).read_bytes()
        )
    assert clone.call("accept", decided, "--by", "Bob").code == 0
    assert clone.call("sync").out == f"The log and {SESSIONS} say the same.\n"
    assert clone.git("status", "--short") == ""


def test_an_import_says_who_from_what_and_how_far(house: Project, tmp_path: Path) -> None:
    file = many(tmp_path / "many.jsonl", 3)
    assert house.call("admin", "import", str(tmp_path / "many.jsonl")).code == 0
    with closing(SqlStore(str(house.log), Clock(), Salt())) as store:
        (head,) = store.heads_in(imports.NAME)
        taken = json.loads(store.read(head.session_id)[0].data or b"")
    from hashlib import sha256

    assert taken["source"] == str(tmp_path / "many.jsonl")
    assert taken["digest"] == sha256(file).hexdigest()
    assert taken["evidence"] == {"variables": [], "terminal": False, "client": ""}
    lines = [json.loads(line) for line in file.splitlines()[1:]]
    tips = {line["session_id"]: line for line in lines}
    assert [
        (one["session_id"], one["before"], one["version"], one["hash"]) for one in taken["sessions"]
    ] == [(id_, 0, tip["version"], tip["hash"]) for id_, tip in tips.items()]
    assert house.call("admin", "import", str(tmp_path / "many.jsonl")).code == 0
    assert len(imported(house)) == 2, "an import that takes nothing records nothing"
    assert house.call("replay", head.session_id).code == 0


def test_a_proposal_holds_no_edit(house: Project, forged: tuple[str, bytes]) -> None:
    session, lines = forged
    house.call("admin", "import", "-", stdin=lines, env=AGENT)
    edit = {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(house.folder),
        "tool_name": "Write",
        "tool_input": {"file_path": str(house.folder / "a.py"), "content": "import pymongo\n"},
    }
    words = ("hook", "PreToolUse", "--agent", "claude")
    event = json.dumps(edit).encode()
    assert house.call(*words, stdin=event).out in ("", "{}", "{}\n")
    house.call("accept", session, "--by", "Ada")
    assert "PostgreSQL" in house.call(*words, stdin=event).out
