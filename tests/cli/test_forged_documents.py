"""A session file may claim any file as its document: no command overwrites, moves or names it."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.kernel.events import ArtifactDue, ArtifactWritten
from preflights_es.kernel.json import canonical_json
from preflights_es.store import jsonl
from tests.cli.program import Project
from tests.each import each
from tests.store.given import resealed

LOGIN = "docs/decisions/0001-use-oauth-for-authentication.md"
THEIRS = b"A person wrote this.\n"
COMMANDS = (
    ("admin", "render", "last"),
    ("admin", "render", "last", "--check"),
    ("sessions",),
    ("admin", "renumber"),
    ("admin", "erase", "last", "--dry-run"),
    ("start", "SSO", "--supersedes", "last", "--answer", "auth_strategy=SSO", "--accept"),
)


def imported(house: Project, path: str, *, due: str = "", beside: bool = False) -> str:
    """The id of a session whose file claims that it wrote what a person wrote."""
    session_id = str(house.decided("A login")["session_id"])
    house.call("admin", "export", "last", "-o", "session.jsonl")
    (house.folder / LOGIN).unlink()
    file = house.folder / "session.jsonl"
    events = [*jsonl.stored(file.read_bytes().splitlines(keepends=True), "session.jsonl")]
    forged = []
    for event in events:
        data = json.loads(event.data or b"")
        if event.type == ArtifactDue.tag and due:
            data["path"] = due
        elif event.type == ArtifactWritten.tag:
            data |= {"path": path, "sha256": sha256(THEIRS).hexdigest(), "beside": beside}
        forged.append(replace(event, data=canonical_json(data)))
    file.write_bytes(jsonl.encode_event_file(resealed(forged)))
    (house.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (house.folder / path).write_bytes(THEIRS)
    house.log.unlink()
    assert house.call("admin", "import", "session.jsonl").code == 0
    return session_id


def is_kept(house: Project, path: str) -> bool:
    return (house.folder / path).read_bytes() == THEIRS


@each(
    ("path", "beside"),
    [
        (LOGIN, False),
        (f"{LOGIN}.new", True),
        (f"{LOGIN}.new", False),
        ("docs/decisions/README.md", False),
        ("docs/tasks/mine.md", False),
        ("README.md", False),
        (".git/config2", False),
    ],
)
def test_a_file_that_a_session_file_claims_stays(
    house: Project, path: str, *, beside: bool
) -> None:
    imported(house, path, beside=beside)
    for command in COMMANDS:
        done = house.call(*command)
        assert done.is_safe()
        assert done.code in (0, 1), command
        assert is_kept(house, path), command


@pytest.mark.parametrize("due", ["README.md", "docs/decisions/README.md"])
def test_a_session_file_that_asks_for_another_document_overwrites_none(
    house: Project, due: str
) -> None:
    (house.folder / "preflights.toml").write_text('decisions = "docs/decisions"\ntasks = "."\n')
    imported(house, due, due=due)
    for command in COMMANDS:
        assert house.call(*command).is_safe()
        assert is_kept(house, due)


def test_an_erasure_names_no_file_that_the_log_never_asked_for(house: Project) -> None:
    session_id = imported(house, "README.md")
    (house.folder / f"{LOGIN}.new").write_text("by hand")
    (house.folder / "README.md.new").write_text("by hand")
    (found,) = house.call("admin", "erase", session_id, "--dry-run", "--json").json["sessions"]
    assert found["documents"] == []


def test_a_document_of_ours_is_still_known_after_an_import(house: Project) -> None:
    session_id = str(house.decided("A login")["session_id"])
    house.call("admin", "export", "last", "-o", "session.jsonl")
    house.log.unlink()
    assert house.call("admin", "import", "session.jsonl").code == 0
    assert house.call("admin", "render", "last", "--check").code == 0
    house.decided("SSO", "--supersedes", session_id)
    text = Path(house.folder / LOGIN).read_text("utf-8")
    assert 'status: "superseded by ADR-0002"' in text
    assert not (house.folder / f"{LOGIN}.new").exists()
