"""Who imports what is recorded; an agent imports nothing."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.store.sql import SqlStore
from preflights_es.words import imports
from tests.cli.archives import many
from tests.cli.clones import cloned, committed, pulled, session_file
from tests.cli.program import Project
from tests.fixed import Clock
from tests.store.given import Salt

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
