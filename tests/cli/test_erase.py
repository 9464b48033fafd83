"""`erase`: what a session held is gone everywhere, and that it went is shown everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli import tampering
from tests.cli.program import House, Project
from tests.cli.tampering import tampered
from tests.cli.terminal import terminal

QUESTION = r"for good\? \[y/N\]: "


def erased(house: Project, session_id: str, *args: str) -> Any:
    done = house.call("admin", "erase", session_id, "--yes", "--json", *args)
    assert done.code == 0, done
    return done.json


# 1. What goes --------------------------------------------------------------------------------


def test_what_was_said_is_gone_from_every_byte_of_the_log(house: Project) -> None:
    session_id = house.decided("Let Zacharias Quimby in by a login")["session_id"]
    assert b"Quimby" in house.recorded()
    shape = erased(house, session_id)
    assert b"Quimby" not in house.recorded()
    assert (shape["erased"], shape["scrubbed"], shape["unread"]) == (True, True, [])
    assert shape["sessions"][0]["title"] is None
    assert shape["sessions"][0]["documents"] == [
        "docs/decisions/0001-use-oauth-for-authentication.md"
    ]
    assert (
        house.call("audit", "verify").out == "1 session (1 erased), 13 events: every chain holds.\n"
    )


def _today(text: str) -> str:
    found = re.search(r"\d{4}-\d\d-\d\d", text)
    assert found
    return found[0]


def test_last_is_erased_only_for_what_looks_at_it_or_where_nothing_else_is(house: Project) -> None:
    note, other = (house.call("note", "Call Ada", "--json").json["session_id"] for _ in "ab")
    erased(house, other)
    assert house.call("note", "done", "last.1").code == 0
    assert house.show("last")["session_id"] == other
    erased(house, note)
    house.call("note", "done", "last.1").refused(1, "was erased")


def test_an_erased_session_is_shown_as_such_everywhere(house: Project) -> None:
    session_id = house.decided()["session_id"]
    erased(house, session_id, "--reason", "asked for by AKIAIOSFODNN7EXAMPLE")
    assert house.show(session_id)["status"] == "erased"
    said = house.call("show", session_id)
    assert said.out.startswith(
        f"Session {session_id[-8:]} was erased: asked for by [redacted:key]\n"
    )
    assert said.out.endswith(" UTC, by Ada (script)\n")
    (row,) = house.call("sessions", "--json", "--status", "erased").json["sessions"]
    assert (row["session_id"], row["intention"]) == (session_id, "")
    log = house.call("log", session_id)
    assert log.code == 0
    assert log.out.count("erased") == 11 + 2 + 1  # a line for each event, and the sentence above
    *gone, event, _ = house.events(session_id)
    assert [one["data"] for one in gone] == [None] * 11
    assert event["type"] == "session.erased.v1"
    assert event["data"]["reason"] == "asked for by [redacted:key]"


def test_nothing_more_is_done_with_an_erased_session(house: Project) -> None:
    session_id = house.decided()["session_id"]
    erased(house, session_id)
    before = house.call("admin", "export", session_id).out
    for command in (
        ("why", session_id),
        ("why", session_id, "Strategy"),
        ("audit", "trail", "--decision", session_id),
        ("answer", session_id, "OAuth"),
        ("answer", session_id, "OAuth", "--key", "build-42"),
        ("answer", session_id, "x=y"),
        ("revise", session_id, "x=y"),
        ("accept", session_id, "--by", "Ada"),
        ("abandon", session_id),
        ("resume", session_id),
    ):
        gone = f"preflights: session {session_id[-8:]} was erased: its payloads are gone\n"
        assert house.call(*command) == (1, "", gone), command
    for command in (
        ("resume", session_id, "--provider", "sim"),
        ("prompt", session_id),
        ("admin", "render", session_id),
        ("admin", "render", session_id, "--stdout"),
        ("replay", session_id, "--drift"),
        ("replay", session_id, "--simulate"),
        ("admin", "erase", session_id, "--yes"),
        ("start", "Add login", "--supersedes", session_id),
    ):
        done = house.call(*command)
        assert (done.code, done.out) == (1, ""), done
        said = [line for line in done.err.splitlines() if "it is not read" not in line]
        assert len(said) == 1, done
        assert house.call("admin", "export", session_id).out == before


def test_a_replay_of_what_was_erased_says_so_and_a_checkpoint_names_it(house: Project) -> None:
    gone, kept = house.decided()["session_id"], house.started_session()
    erased(house, gone)
    done = house.call("replay", gone, kept)
    assert done.code == 1
    assert done.out.splitlines()[0] == (
        f"{gone[-8:]} was erased: its payloads are gone and cannot be replayed"
    )
    assert done.out.splitlines()[1].startswith(f"{kept[-8:]} identical")
    assert house.call("replay", gone, "--json").json["sessions"][0]["status"] == "erased"
    session_id = house.decided()["session_id"]
    house.call("audit", "checkpoint", "-o", "checkpoint.jsonl")
    erased(house, session_id)
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert done.code == 0
    assert f"{session_id[-8:]} was erased since; its chain is what it was\n" in done.out


def test_a_note_is_erased_as_well_and_an_erased_number_stays_taken(house: Project) -> None:
    note = house.call("note", "Zacharias: call the dentist at 9", "--json").json
    session_id = note["session_id"]
    erased(house, session_id)
    assert b"Zacharias" not in house.recorded()
    assert house.call("show", session_id).code == 0
    assert house.call("note", "list", "--all", "--json").json["items"] == []
    house.started_session()
    session_id = house.decided("Add login")["session_id"]
    erased(house, session_id)
    assert house.show("last")["session_id"] == session_id
    (house.folder / "docs/decisions/0001-use-oauth-for-authentication.md").unlink()
    assert house.decided("Add SSO")["number"] == 2


def test_a_document_that_was_still_owed_is_not_written_any_more(house: Project) -> None:
    (house.folder / "docs").write_text("in the way")
    house.owing()
    session_id = house.show()["session_id"]
    erased(house, session_id)
    (house.folder / "docs").unlink()
    assert house.call("sessions").err == ""
    assert not (house.folder / "docs").exists()


def test_a_faulted_session_is_erased_and_a_damaged_one_is_not(house: Project) -> None:
    session_id = house.started_session()
    buggy = ("python", str(Path(__file__).parent / "buggy.py"))
    assert house.run("answer", "last", "crash", program=buggy).code == 70
    assert house.run("admin", "erase", session_id, "--yes", program=buggy).code == 0
    assert house.call("show", session_id, "--json").json["status"] == "erased"
    session_id = house.decided()["session_id"]
    tampered(house, session_id, tampering.flipped)
    house.call("admin", "erase", session_id, "--yes").refused(4, "event 2: its payload was changed")


def test_projections_forget_an_erased_session_and_no_copy_brings_it_back(house: Project) -> None:
    session_id = house.decided("Let Quimby in by a login")["session_id"]
    assert house.call("sessions").code == 0
    erased(house, session_id)
    house.call("sessions")
    assert b"Quimby" not in house.recorded()
    session_id = house.decided("Let Quimby in by a login")["session_id"]
    early = house.call("admin", "export", session_id).out.encode()
    house.call("admin", "import", "-", "--db", "copy.db", stdin=early)
    erased(house, session_id)
    assert (
        house.call("admin", "import", "-", "--json", stdin=early).json["sessions"][0]["new_events"]
        == 0
    ), "an old copy brings nothing back"
    assert house.show(session_id)["status"] == "erased"


# 2. What quotes it ---------------------------------------------------------------------------


@pytest.fixture
def quoted(house: House) -> tuple[str, str, str]:
    """A decision, the one that replaced it, and a session whose model was told of the second."""
    return house.made(three)


def three(house: Project) -> tuple[str, str, str]:
    old = house.decided()["session_id"]
    new = house.decided("Add SSO", "--supersedes", old)["session_id"]
    led = house.call("start", "Add a cache", "--provider", "sim", "--no-input", "--json").json
    return old, new, led["session_id"]


def test_what_quotes_a_session_is_listed_once_with_its_documents(
    house: Project, quoted: tuple[str, str, str]
) -> None:
    old, new, led = quoted
    shape = house.call("admin", "erase", new, "--dry-run", "--json").json
    assert sorted(shape["quotes"], key=lambda q: str(q["how"])) == [
        {"session_id": led, "quoted": new, "how": "known", "documents": [], "stays": True},
        {
            "session_id": old,
            "quoted": new,
            "how": "superseded_by",
            "documents": ["docs/decisions/0001-use-oauth-for-authentication.md"],
            "stays": True,
        },
    ]
    done = house.call("admin", "erase", old, "--dry-run")
    assert f"{new[-8:]}  quotes {old[-8:]}: it replaces it\n" in done.out
    assert done.out.endswith("Nothing was erased: this is a dry run.\n")
    assert house.show(old)["status"] == "superseded"
    shape = house.call("admin", "erase", new, "--dry-run", "--json").json
    named = {quote["session_id"]: quote["documents"] for quote in shape["quotes"]}
    assert named == {led: [], old: ["docs/decisions/0001-use-oauth-for-authentication.md"]}
    done = house.call("admin", "erase", new, "--quoting", "--yes")
    assert "Edit yourself" not in done.out
    (line,) = (one for one in done.out.splitlines() if one.startswith("Delete yourself"))
    assert line.count(".md") == 2


def test_documents_of_sessions_that_quote_are_named(
    house: Project, quoted: tuple[str, str, str]
) -> None:
    old, new, _ = quoted
    older, newer = (f"docs/decisions/000{n}-use-oauth-for-authentication.md" for n in (1, 2))
    assert "Use OAuth for authentication" in (house.folder / newer).read_text()
    dry = house.call("admin", "erase", old, "--dry-run")
    assert f"it replaces it\n  its document names it, and stays: {newer}\n" in dry.out
    done = house.call("admin", "erase", old, "--yes")
    assert f"Delete yourself: {older}; git keeps what was committed.\n" in done.out
    assert f"Edit yourself, since they name it: {newer}.\n" in done.out
    assert (house.folder / newer).exists()
    assert f"Not erased, though it quotes: {new[-8:]}.\n" in done.out
    assert f"Erase it with: preflights admin erase {new[-8:]}\n" in done.out
    assert (house.call("admin", "renumber").code, house.call("replay", new).code) == (0, 0)


def test_documents_of_an_erasure_that_was_killed_are_found_by_their_session(house: Project) -> None:
    house.decided("Let Quimby in by a login")
    house.decided("Add SSO")
    (quimby,) = (
        s for s in house.call("sessions", "--json").json["sessions"] if "Q" in s["intention"]
    )
    erased(house, quimby["session_id"])  # and its caller never read what it said
    assert house.call("admin", "erase", quimby["session_id"], "--yes").code == 1
    row = house.call("sessions", "--status", "erased").out.splitlines()[-1]
    search = ("grep", "-rl", "--include=*.md", row.split()[0], "docs")
    found = house.run(program=search).out.splitlines()
    assert found == ["docs/decisions/0001-use-oauth-for-authentication.md"]


def test_what_quotes_is_erased_too_where_that_is_said(
    house: Project, quoted: tuple[str, str, str]
) -> None:
    old, new, led = quoted
    shape = erased(house, new, "--quoting")
    assert [one["session_id"] for one in shape["sessions"]] == [new, led, old]
    assert {quote["stays"] for quote in shape["quotes"]} == {False}
    assert {house.show(one)["status"] for one in quoted} == {"erased"}
    assert house.call("audit", "verify").code == 0


# 3. Asking -----------------------------------------------------------------------------------


def test_nothing_is_erased_unless_it_is_said_and_what_stays_is_told(house: Project) -> None:
    session_id = house.decided()["session_id"]
    for args in ((), ("--json",)):
        done = house.call("admin", "erase", session_id, *args)
        assert (done.code, done.out) == (2, "")
        assert "without a terminal, erase needs --yes" in done.err
    assert house.show(session_id)["status"] == "accepted"
    with terminal(house, "admin", "erase", session_id) as t:
        t.expect(QUESTION)
        t.interrupt()
        assert t.code() == 130
    assert house.show(session_id)["status"] == "accepted"
    done = house.call("admin", "erase", session_id, "--yes")
    assert done.out == (
        f"{session_id[-8:]}  accepted, 11 events, {_today(done.out)}\n"
        "  its document stays: docs/decisions/0001-use-oauth-for-authentication.md\n"
        f"Erased {session_id[-8:]}.\n"
        "Delete yourself: docs/decisions/0001-use-oauth-for-authentication.md; "
        "git keeps what was committed.\n"
        "Exports, backups and what-if files are copies that erasing does not reach.\n"
    )
    assert (house.folder / "docs/decisions/0001-use-oauth-for-authentication.md").exists()


# 4. Copies -----------------------------------------------------------------------------------
