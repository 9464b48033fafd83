"""A log may claim to have written any file: a document of ours is a text that it gives itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.features.clarification.renumbering import resolve_number_collisions
from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.events import ArtifactWritten
from preflights_es.records.documents import Documents
from preflights_es.records.files import hash_of
from preflights_es.runtime.performer import PROGRAM
from preflights_es.runtime.runner import Handle
from tests.each import each
from tests.fixed import PROJECT
from tests.runtime.test_documents import LOGIN, House

README = "docs/decisions/README.md"
THEIRS = "A person wrote this.\n"


@pytest.fixture
def house(tmp_path: Path) -> House:
    root = tmp_path / "project"
    (root / "docs/decisions").mkdir(parents=True)
    return House(root)


def claimed(house: House, path: str = LOGIN, *, beside: bool = False) -> Handle:
    """A session whose log claims to have written what a person wrote."""
    handle = house.by().accept(house.answered()).handle
    (house.root / path).write_text(THEIRS)
    return claiming(house, handle, path, beside=beside)


def claiming(house: House, handle: Handle, path: str, *, beside: bool = False) -> Handle:
    (call,) = handle.session.calls
    claim = ArtifactWritten(
        at=1, actor=PROGRAM, call=call.call, path=path, sha256=hash_of(THEIRS), beside=beside
    )
    return house.runner.submit(handle, claim, house.new_id()).handle


def test_a_claim_on_the_place_of_a_document_overwrites_nothing(house: House) -> None:
    handle = claimed(house)
    rebuilt = house.documents.rebuilt(handle, write=True)
    assert (rebuilt.path, rebuilt.outcome) == (f"{LOGIN}.new", "beside")
    text = house.documents.text(handle.session_id)[1]
    assert house.files() == {LOGIN: THEIRS, f"{LOGIN}.new": text}


def test_a_claim_on_a_text_beside_overwrites_nothing(house: House) -> None:
    handle = claimed(house, f"{LOGIN}.new", beside=True)
    (house.root / LOGIN).write_text("edited")
    assert house.documents.rebuilt(handle, write=True).path == f"{LOGIN}.new2"
    assert house.files()[f"{LOGIN}.new"] == THEIRS
    assert house.files()[LOGIN] == "edited"


def test_a_claim_survives_no_next_version_of_a_document(house: House) -> None:
    first = claimed(house)
    house.by().accept(house.answered("Add a better login", supersedes=first.session_id))
    house.documents.finish_pending(PROJECT)
    assert house.files()[LOGIN] == THEIRS
    assert 'status: "superseded' in house.files()[f"{LOGIN}.new"]


@pytest.mark.parametrize("path", [LOGIN, README])
def test_a_claim_on_a_former_place_removes_nothing(house: House, path: str) -> None:
    handle = claimed(house, path)
    house.documents.finish(house.by().renumber(handle, 12).handle)
    assert [*house.files()] == sorted([path, "docs/decisions/0012-use-oauth-for-authentication.md"])
    assert house.files()[path] == THEIRS


def test_a_text_of_the_log_at_a_place_that_it_never_asked_for_stays(house: House) -> None:
    handle = house.by().accept(house.answered()).handle
    text = house.documents.text(handle.session_id)[1]
    (house.root / README).write_text(text)
    (call,) = handle.session.calls
    claim = ArtifactWritten(at=1, actor=PROGRAM, call=call.call, path=README, sha256=hash_of(text))
    handle = house.runner.submit(handle, claim, house.new_id()).handle
    house.documents.finish(house.by().renumber(handle, 12).handle)
    assert house.files()[README] == text


def test_renumbering_moves_a_claimed_file_as_a_persons(house: House) -> None:
    sessions = house.by()
    handle = claimed(house)
    theirs = f'---\nuid: "{handle.session.state.opened.uid}"\ndate: 9999-01-01\n---\n{THEIRS}'
    (house.root / LOGIN).write_text(theirs)
    (house.root / "docs/decisions/0001-older.md").write_text("---\ndate: 2000-01-01\n---\n")
    (move,) = resolve_number_collisions(
        house.runner, sessions, house.documents, "docs/decisions", write=True
    )
    assert house.files()[move.to] == theirs


def test_every_text_that_the_log_gave_is_known_as_ours(house: House) -> None:
    session_id = house.answered()
    house.documents.finish(house.by("script").accept(session_id).handle)
    proposed = house.files()[LOGIN]
    handle = house.documents.finish(house.by().accept(session_id).handle)
    accepted = house.files()[LOGIN]
    assert proposed != accepted
    assert house.documents.hashes(session_id) == {hash_of(proposed), hash_of(accepted)}
    (house.root / LOGIN).write_text(proposed)
    assert house.documents.rebuilt(handle, write=True).outcome == "written"
    assert house.files() == {LOGIN: accepted}


def test_a_template_of_a_newer_version_gives_no_text_of_ours(house: House) -> None:
    session_id = house.wanted("docs/tasks/x.md", "task.v99")
    assert house.documents.hashes(session_id) == set()
    assert house.documents.paths(session_id) == {"docs/tasks/x.md"}


def test_a_file_in_the_projects_own_folder_is_not_overwritten(house: House) -> None:
    (house.root / "README.md").write_text(THEIRS)
    whole = Documents(house.runner, house.root, (".",))
    handle = house.runner.load(house.wanted("README.md"))
    handle = claiming(house, handle, "README.md")
    with pytest.raises(ArtifactOutside, match="expected a name such as"):
        whole.rebuilt(handle, write=True)
    assert house.files()["README.md"] == THEIRS


@each("name", ["CLAUDE.md", "AGENTS.md", ".envrc", "0001-login.md.new"])
def test_a_document_bears_no_name_that_other_programs_read(house: House, name: str) -> None:
    with pytest.raises(ArtifactOutside, match="expected a name such as"):
        house.documents.target(f"docs/decisions/{name}")
