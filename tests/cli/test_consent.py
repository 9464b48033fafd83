"""An import that changes what is held here says so, and takes nothing before a person agrees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    DecisionMarkedSuperseded,
    DecisionSuperseded,
)
from preflights_es.kernel.events import Actor, Input, SessionAbandoned, SessionClosed, SessionErased
from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import Codec
from preflights_es.words import imports
from preflights_es.words.decisions import Related
from tests.cli.archives import many
from tests.cli.clones import cloned, committed, pulled, session_file
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.fixed import Clock
from tests.store.given import Salt, resealed

MALLORY = Actor("user", "Mallory \x1b[31m")
CODEC = Codec(WORKFLOW.decider)
UNKNOWN = "01a0c450-6c00-7000-8000-0000deadbeef"


@pytest.fixture
def other(colleague: Project, house: Project) -> Project:
    """A colleague's clone of the project, with a log of its own."""
    return colleague


def exported(house: Project, *args: str) -> bytes:
    return house.call("admin", "export", *(args or ("last",))).out.encode()


def stored(content: bytes) -> list[Stored]:
    return list(jsonl.stored(content.splitlines(), "here"))


def extended(content: bytes, *events: Any) -> bytes:
    """A session with more events, chained as any holder of a copy can do it."""
    known: Sequence[Stored] = stored(content)
    last, tail = known[-1], []
    for n, event in enumerate(events):
        draft = CODEC.draft(event, f"forged-{n}" if isinstance(event, Input) else None)
        tail.append(
            replace(
                last,
                type=draft.type,
                data=draft.data,
                input_id=draft.input_id,
                actor_kind=draft.actor_kind,
            )
        )
    return jsonl.encode_event_file(resealed([*known, *tail]))


def superseded(content: bytes, by: str) -> bytes:
    related = Related(by[-12:], "Use what Mallory sells", 2, by)
    new = DecisionSuperseded(at=1, actor=MALLORY, by=related)
    return extended(content, new, DecisionMarkedSuperseded())


def erased(content: bytes) -> bytes:
    new = SessionErased(at=1, actor=MALLORY)
    return extended(content, new, SessionClosed(status="erased"))


# 1. What extends ------------------------------------------------------------------------------


def test_a_tail_is_listed_and_needs_yes_without_a_terminal(house: Project, other: Project) -> None:
    session_id = other.started_session("Add a login")
    assert house.call("admin", "import", "-", stdin=exported(other)).code == 0
    other.call("answer", "last", "OAuth")
    other.call("accept", "last", "--by", "Mallory")
    whole = exported(other)
    before = house.call("admin", "export", session_id).out
    done = house.call("admin", "import", "-", stdin=whole)
    assert done.code == 1
    assert done.err == (
        "preflights: the file changes 1 session that is held here: read the list, then run this "
        "again with --yes; nothing was imported\n"
    )
    assert done.out.splitlines()[0] == f"{session_id[-8:]} (house)  Add a login"
    assert "extends it by 8 events, it was needs answers, and becomes accepted: " in done.out
    assert "decision acknowledged by user Mallory" in done.out
    assert house.call("admin", "export", session_id).out == before
    assert house.call("admin", "import", "-", "--yes", stdin=whole).code == 0
    assert house.call("admin", "export", session_id).out.encode() == whole


def test_the_json_lists_what_a_file_changes(house: Project, other: Project) -> None:
    session_id = other.started_session("Add a login")
    house.call("admin", "import", "-", stdin=exported(other))
    other.call("abandon", "last")
    done = house.call("admin", "import", "-", "--json", stdin=exported(other))
    assert done.code == 1
    shape = json.loads(done.out)
    assert (shape["imported"], shape["sessions"]) == (False, [])
    (change,) = shape["changes"]
    (said,) = change["said"]
    assert [*said.values()] == ["session.abandoned.v1", "script", "Ada", 1]
    of = [change[name] for name in ("session_id", "project", "title", "version", "new_events")]
    assert of == [session_id, "house", "Add a login", 3, 2]
    to = [change[name] for name in ("status_before", "status_after", "closes", "superseded_by")]
    assert to == ["needs_answers", "abandoned", True, None]
    done = house.call("admin", "import", "-", "--yes", "--json", stdin=exported(other))
    assert (done.code, done.json["imported"], len(done.json["changes"])) == (0, True, 1)


def test_a_new_session_comes_along_only_with_the_answer(house: Project, other: Project) -> None:
    first = other.started_session("Add a login")
    house.call("admin", "import", "-", stdin=exported(other))
    other.call("answer", "last", "OAuth")
    second = other.started_session("Add a cache")
    whole = exported(other, "--all")
    assert house.call("admin", "import", "-", stdin=whole).code == 1
    assert house.call("show", second).code == 1
    (house.folder / "all.jsonl").write_bytes(whole)
    with terminal(house, "admin", "import", "all.jsonl") as t:
        t.expect(r"Let 1 session go on as listed\? \[y/N\]: ")
        t.type("")
        t.expect("you did not agree; nothing was imported")
        assert t.code() == 1
    assert house.show(first)["status"] == "needs_answers"
    with terminal(house, "admin", "import", "all.jsonl") as t:
        t.expect(r"\[y/N\]: ")
        t.type("y")
        assert t.code() == 0
    assert house.show(first)["status"] == "ready"
    assert house.call("show", second).code == 0


# 2. What erases -------------------------------------------------------------------------------


def test_a_session_that_a_file_erases_stays_here_and_is_named(
    house: Project, other: Project
) -> None:
    first = house.decided()["session_id"]
    second = other.started_session("Add a cache")
    content = erased(exported(house, first)) + exported(other)
    for words in ((), ("--yes",)):
        done = house.call("admin", "import", "-", *words, stdin=content)
        assert done.code == 0
        stays = f"the file erases session {first[-8:]}, which stays until it is erased here"
        assert stays in done.err
        assert house.show(first)["status"] == "accepted"
        assert house.show(second)["status"] == "needs_answers"
    assert house.call("admin", "erase", first, "--yes").code == 0
    assert house.call("audit", "verify").code == 0


def test_an_erasure_comes_in_erased_and_what_is_listed_moves_no_terminal(
    house: Project, other: Project
) -> None:
    session_id = other.decided()["session_id"]
    other.call("admin", "erase", session_id, "--yes")
    assert house.call("admin", "import", "-", stdin=exported(other, session_id)).code == 0
    assert house.show(session_id)["status"] == "erased"
    house.started_session("Add a login \u202e")
    new = SessionAbandoned(at=1, actor=MALLORY)
    done = house.call("admin", "import", "-", stdin=extended(exported(house), new))
    assert done.code == 1
    assert r"Add a login \u202e" in done.out
    assert r"abandoned by user Mallory \x1b[31m" in done.out
    assert done.is_safe()


# 3. What supersedes ---------------------------------------------------------------------------


def in_force(house: Project) -> list[str]:
    found = house.call("decisions", "--json").json["decisions"]
    return sorted(one["session_id"] for one in found)


def test_a_successor_that_is_none_or_does_not_exist_takes_nothing_out_of_force(
    house: Project,
) -> None:
    session_id = house.decided()["session_id"]
    content = superseded(exported(house), UNKNOWN)
    house.call("admin", "import", "-", "--yes", stdin=content).refused(
        1,
        f"the file says that deadbeef replaces {session_id[-8:]}, and deadbeef does",
        "not say so, neither here nor in the file",
        "; nothing was imported: export both together",
    )
    assert in_force(house) == [session_id]
    done = house.call("admin", "import", "-", "--yes", stdin=superseded(exported(house), ""))
    assert done.code == 1
    assert "does not name the other session" in done.err
    assert len(house.call("decisions", "--json").json["decisions"]) == 1


def test_a_successor_that_says_nothing_takes_no_decision_out_of_force(house: Project) -> None:
    first = house.decided()["session_id"]
    second = house.decided("Use a database", key="db_type=MySQL")["session_id"]
    open_ = json.loads(house.call("start", "Add SSO", "--supersedes", first, "--json").out)[
        "session_id"
    ]
    for by in (second, open_):
        content = superseded(exported(house, first), by)
        assert house.call("admin", "import", "-", "--yes", stdin=content).code == 1
    assert in_force(house) == sorted((first, second))


def test_a_new_decision_supersedes_nothing_here_by_itself(house: Project, other: Project) -> None:
    first = house.decided()["session_id"]
    other.call("admin", "import", "-", stdin=exported(house))
    second = other.decided("Add SSO", "--supersedes", first)["session_id"]
    done = house.call("admin", "import", "-", "--yes", stdin=exported(other, second))
    assert done.code == 1
    assert f"{second[-8:]} replaces {first[-8:]}, and {first[-8:]} does not say so" in done.err
    assert "export both together (`preflights admin export --all`)" in done.err
    assert house.call("show", second).code == 1
    both = exported(other, "--all")
    done = house.call("admin", "import", "-", stdin=both)
    assert done.code == 1
    assert f"it is replaced by {second[-8:]}: decision superseded by user Ada L" in done.out
    assert house.call("admin", "import", "-", "--yes", stdin=both).code == 0
    assert in_force(house) == [second]


def test_one_session_of_a_pair_is_taken_where_the_other_is_unknown(
    house: Project, other: Project
) -> None:
    first = house.decided()["session_id"]
    second = house.decided("Add SSO", "--supersedes", first)["session_id"]
    for one, partner in ((first, second), (second, first)):
        log = ("--db", f"{one[-4:]}.db")
        done = other.call("admin", "import", "-", *log, stdin=exported(house, one))
        assert done.code == 0
        assert f"{partner[-8:]} does not say so, neither here nor in the file" in done.err
        assert other.call("admin", "import", "-", *log, stdin=exported(house, one)).err == ""
    assert other.call("admin", "import", "-", stdin=exported(house, "--all")).err == ""


def test_a_pair_whose_successor_was_erased_can_be_taken(house: Project, other: Project) -> None:
    first = house.decided()["session_id"]
    other.call("admin", "import", "-", stdin=exported(house))
    second = house.decided("Add SSO", "--supersedes", first)["session_id"]
    house.call("admin", "erase", second, "--yes")
    assert other.call("admin", "import", "-", "--yes", stdin=exported(house, "--all")).code == 0


# 4. Who imports what is recorded; an agent imports nothing -----------------------------------


AGENT = {"CLAUDECODE": "1"}


@pytest.fixture
def clone(house: Project, decided: str, tmp_path: Path) -> Project:
    """A colleague's clone of it."""
    return cloned(house, tmp_path / "another-name")


def imported(project: Project) -> list[str]:
    """The tags of all that imports recorded, in order."""
    with closing(SqlStore(str(project.log), Clock(), Salt())) as store:
        heads = store.heads_in(imports.NAME)
        return [one.type for head in heads for one in store.read(head.session_id)]


def test_an_agent_imports_nothing_neither_by_a_file_nor_by_sync(
    house: Project, clone: Project, decided: str
) -> None:
    lines = house.call("admin", "export", decided).out.encode()
    for words in ((), ("--yes",), ("--json",)):
        clone.call("admin", "import", "-", *words, stdin=lines, env=AGENT).refused(
            1, "an agent (claude-code) imports nothing", "in a terminal of their own, a person can"
        )
    assert not clone.log.exists() or imported(clone) == []
    clone.call("sync")
    new = clone.decided("Add SSO", "--supersedes", decided)["session_id"]
    committed(clone)
    pulled(house, clone)
    own = house.decided("Use a database", key="db_type=MySQL")["session_id"]
    session_file(house, own).unlink()
    done = house.call("sync", "--yes", "--json", env=AGENT)
    assert (done.code, done.json["sessions"], done.json["written"]) == (0, [], [own])
    assert "a person takes them over, with `preflights sync`" in done.err
    assert session_file(house, own).exists()
    assert house.show(decided)["status"] == "accepted"
    assert house.call("sync", "--yes").code == 0
    assert house.show(decided)["status"] == "superseded"
    assert house.show(new)["status"] == "accepted"


def test_why_and_the_trail_say_who_imported_it(
    house: Project, clone: Project, decided: str
) -> None:
    assert clone.call("sync").code == 0
    said = "accepted by Ada Lovelace, as the file says"
    assert said in clone.call("why", decided).out
    assert said in clone.call("audit", "trail", "--session", decided).out
    assert clone.call("audit", "verify", "--all").code == 0


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
