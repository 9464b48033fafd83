"""`erase` and documents: those that lie on this disk are listed, wherever a person has put them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import House, Project

DECISIONS, TASKS = "docs/decisions", "docs/tasks"
LOGIN = f"{DECISIONS}/0001-use-oauth-for-authentication.md"


@pytest.fixture
def login(house: House) -> str:
    """A session with a record."""
    return house.made(a_login)


def a_login(house: Project) -> str:
    return str(house.decided("A login")["session_id"])


def listed(house: Project, session_id: str) -> Any:
    """The documents that an erasure would name."""
    (found,) = house.call("admin", "erase", session_id, "--dry-run", "--json").json["sessions"]
    return found["documents"]


def moved(house: Project, to: str) -> Path:
    target = house.folder / to
    target.parent.mkdir(parents=True, exist_ok=True)
    return (house.folder / LOGIN).rename(target)


def test_what_lies_beside_an_edited_record_is_listed(house: Project, login: str) -> None:
    record = house.folder / LOGIN
    record.write_text("A person's own words.\n")
    assert house.call("admin", "render", login).code == 0
    assert listed(house, login) == [LOGIN, f"{LOGIN}.new"]
    beside = house.folder / f"{LOGIN}.new"
    beside.write_text("A login, in a person's own words.\n")
    assert house.call("admin", "render", login).code == 0
    assert listed(house, login) == [LOGIN, f"{LOGIN}.new", f"{LOGIN}.new2"]
    record.unlink()
    beside.unlink()
    assert listed(house, login) == [f"{LOGIN}.new2"]


@pytest.mark.parametrize(
    "to",
    [
        f"{DECISIONS}/0001-auth.md",
        f"{DECISIONS}/0007-use-oauth-for-authentication.md",
        f"{DECISIONS}/archive/2026/auth.markdown",
        f"{TASKS}/a-login.md",
        f"{DECISIONS}/\x1b[2J.md",
    ],
)
def test_a_record_that_was_moved_or_renamed_by_hand_is_listed(
    house: Project, login: str, to: str
) -> None:
    other = house.decided("Add SSO")["session_id"]
    moved(house, to)
    assert listed(house, login) == [to]
    assert listed(house, other) == [f"{DECISIONS}/0002-use-oauth-for-authentication.md"]
    done = house.call("admin", "erase", login, "--yes")
    assert done.is_safe()
    shown = to.replace("\x1b", "\\x1b")
    assert f"  its document stays: {shown}\n" in done.out
    assert f"Delete yourself: {shown}; git keeps what was committed.\n" in done.out


def test_a_copy_is_listed_with_what_it_is_a_copy_of(house: Project, login: str) -> None:
    text = (house.folder / LOGIN).read_bytes()
    edited = b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")
    (house.folder / DECISIONS / "copy.md").write_bytes(edited)
    (house.folder / DECISIONS / ".0001-use-oauth-for-authentication.md.77.tmp").write_bytes(
        text[:300]
    )
    assert listed(house, login) == [
        LOGIN,
        f"{DECISIONS}/.0001-use-oauth-for-authentication.md.77.tmp",
        f"{DECISIONS}/copy.md",
    ]


def test_a_name_with_dashes_in_the_front_matter_hides_no_record(house: Project) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada --- Lovelace", "--json")
    session_id = house.call("start", "A login", *words).json["session_id"]
    moved(house, f"{DECISIONS}/auth.md")
    assert listed(house, session_id) == [f"{DECISIONS}/auth.md"]


def test_documents_are_looked_for_in_the_configured_folders_and_nowhere_else(
    house: Project, login: str, tmp_path: Path
) -> None:
    text = (house.folder / LOGIN).read_text("utf-8")
    outside = tmp_path / "outside"
    outside.mkdir()
    for folder in (house.folder, house.folder / "docs", outside):
        (folder / "copy.md").write_text(text)
    (house.folder / DECISIONS / ".hidden").mkdir()
    (house.folder / DECISIONS / ".hidden" / "copy.md").write_text(text)
    (house.folder / DECISIONS / "link.md").symlink_to(outside / "copy.md")
    (house.folder / DECISIONS / "linked").symlink_to(outside)
    (house.folder / DECISIONS / "plain.md").write_text(f"session: {login}\n")
    os.mkfifo(house.folder / DECISIONS / "pipe.md")
    assert listed(house, login) == [LOGIN]
    (house.folder / "preflights.toml").write_text('tasks = "docs"\n')
    assert listed(house, login) == [LOGIN, "docs/copy.md"]


def test_a_folder_that_leads_outside_holds_no_erasure_up(
    house: Project, login: str, tmp_path: Path
) -> None:
    (tmp_path / "tasks").mkdir()
    (house.folder / TASKS).symlink_to(tmp_path / "tasks")
    moved(house, f"{DECISIONS}/auth.md")
    assert listed(house, login) == [f"{DECISIONS}/auth.md"]
    assert house.call("admin", "erase", login, "--yes").code == 0


def test_a_moved_document_of_a_session_that_quotes_is_listed_in_any_name(
    house: Project, login: str
) -> None:
    house.decided("Add SSO", "--supersedes", login)
    (house.folder / DECISIONS / "0002-use-oauth-for-authentication.md").rename(
        house.folder / DECISIONS / "sso.md"
    )
    (quote,) = house.call("admin", "erase", login, "--dry-run", "--json").json["quotes"]
    assert quote["documents"] == [f"{DECISIONS}/sso.md"]
    folder = os.fsencode(house.folder / DECISIONS)
    os.rename(house.folder / LOGIN, folder + b"/caf\xe9.md")
    assert listed(house, login) == [f"{DECISIONS}/caf\\xe9.md"]
    assert f"{DECISIONS}/caf\\xe9.md\n" in house.call("admin", "erase", login, "--dry-run").out
