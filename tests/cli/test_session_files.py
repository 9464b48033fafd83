"""Sessions as files beside the records: written, read in clones, hostile, killed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from preflights_es.store import jsonl
from tests.cli.clones import ERASED, FIRST, SESSIONS, WENT, cloned, committed, pulled, session_file
from tests.cli.program import Project, Result
from tests.each import each
from tests.store.given import resealed

LINES: Final = 11  # events of a session that is accepted at once, with its document written


@pytest.fixture
def clone(house: Project, decided: str, tmp_path: Path) -> Project:
    """A colleague's clone of it, in a folder of another name."""
    return cloned(house, tmp_path / "another-name")


# 1. Written ----------------------------------------------------------------------------------


def test_only_a_record_has_a_file_and_each_is_what_export_writes(house: Project) -> None:
    house.started_session()
    assert not (house.folder / "docs").exists()
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--by", "Ada", "--json")
    first = house.call("start", "Add OAuth login", *words)
    assert first.err == FIRST + WENT
    session_id = first.json["session_id"]
    lies = session_file(house, session_id).read_bytes()
    assert lies.decode() == house.call("admin", "export", session_id).out
    assert lies.count(b"\n") == 1 + LINES
    attributes = (house.folder / SESSIONS / ".gitattributes").read_text()
    assert attributes == "*.jsonl -text merge=binary\n"
    assert house.call("start", "Add SSO", *words).err == ""


def test_a_proposal_has_a_file_and_its_acceptance_rewrites_it(house: Project) -> None:
    house.call("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept", "--again")
    (session_id,) = [one["session_id"] for one in house.call("sessions", "--json").json["sessions"]]
    assert house.show(session_id)["status"] == "proposed"
    file = session_file(house, session_id)
    before = file.read_bytes()
    assert house.call("accept", "--again", session_id, "--by", "Ada").code == 0
    assert file.read_bytes().startswith(before)
    assert file.read_text() == house.call("admin", "export", session_id).out


def proposed_and_declined(house: Project, before: str) -> Result:
    """A script's proposal in a record that git knows or not, or that was edited; it is declined."""
    house.call("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept", "--again")
    (record,) = (house.folder / "docs/decisions").glob("*.md")
    if before == "known to git":
        committed(house)
    if before == "edited":
        record.write_text(record.read_text() + "\nA note.\n")
    return house.call("abandon", "last", "--reason", "too *big*")


@pytest.mark.parametrize("before", ["known to git", "edited", "new"])
def test_the_record_of_a_declined_proposal_is_rejected_or_goes(house: Project, before: str) -> None:
    committed(house)
    done = proposed_and_declined(house, before)
    folder = house.folder / "docs/decisions"
    (row,) = house.call("decisions", "--all", "--json").json["decisions"]
    assert (row["standing"], house.show()["status"]) == ("rejected", "abandoned")
    assert house.call("replay", "last").code == 0
    if before == "new":
        assert "Removed docs/decisions/0001-use-oauth-for-authentication.md: git" in done.err
        assert (row["artifact"], [*folder.glob("*.md"), *folder.glob("*/*.jsonl")]) == (None, [])
    else:
        text = (house.folder / row["artifact"]).read_text()
        assert done.out.endswith(f"rejected in {row['artifact']}\n")
        assert 'status: "rejected"' in text
        assert "Proposed by a script. Rejected by Ada: too \\*big\\*." in text
        assert text.endswith("A note.\n") == (before == "edited")
        file = session_file(house, house.show()["session_id"]).read_text()
        assert file == house.call("admin", "export", "last").out


READERS: Final = {
    ("decisions", "--json"): '"decisions":[]',
    ("decisions", "--all"): "rejected",
    ("check",): "nothing to say",
    ("inbox",): "Nothing waits",
    ("prompt",): "",
    ("audit", "verify"): "every chain holds",
    ("sync",): "say the same",
}
"""What each says where the one proposal was declined."""


@pytest.mark.parametrize("before", ["known to git", "new"])
def test_all_readers_agree_that_a_proposal_was_declined(
    house: Project, tmp_path: Path, before: str
) -> None:
    proposed_and_declined(house, before)
    committed(house)
    for project in (house, *([cloned(house, tmp_path / "clone")] if before != "new" else [])):
        for reader, says in READERS.items():
            if reader == ("sync",):
                project.call("sync")  # a clone takes it over first
            done = project.call(*reader)
            assert (done.code, done.err) == (0, ""), reader
            assert says in done.out, reader
            assert "proposed" not in done.out.lower(), reader


def test_superseding_rewrites_the_file_of_the_former_decision(house: Project) -> None:
    former = house.decided()["session_id"]
    house.decided("Add SSO", "--supersedes", former)
    assert session_file(house, former).read_text() == house.call("admin", "export", former).out


def test_a_record_that_git_cleaned_away_is_named_and_comes_back(house: Project) -> None:
    done = house.decided()
    house.git("clean", "-fdq")
    id_, (path,) = done["session_id"][-8:], done["artifacts"]
    assert len(house.call("decisions", "--json").json["decisions"]) == 1, "the log is the truth"
    told = f"{path} is not here, and ADR-0001 holds all the same"
    synced = house.call("sync")
    assert (told in synced.err, "say the same" in synced.out) == (True, False)
    assert f"`preflights admin render {id_}` and `preflights sync` write it" in synced.err
    assert told in house.call("doctor").out
    assert house.call("admin", "render", id_).code == 0
    assert house.call("sync").out == "Wrote 1 session file.\n"
    assert "say the same" in house.call("sync").out


def test_a_setting_turns_the_files_off(house: Project) -> None:
    (house.folder / "preflights.toml").write_text("[records]\nsessions = false\n")
    house.decided()
    assert os.listdir(house.folder / "docs" / "decisions") == [
        "0001-use-oauth-for-authentication.md"
    ]
    assert house.call("sync").out == "The log and docs/decisions/.sessions say the same.\n"
    (house.folder / "preflights.toml").unlink()
    assert "Wrote 1 session file." in house.call("sync").out


@pytest.mark.parametrize("place", [SESSIONS, Path("file")])
def test_no_session_is_written_through_a_link(house: Project, tmp_path: Path, place: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    session_id = house.started_session()
    link = house.folder / SESSIONS if place == SESSIONS else session_file(house, session_id)
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if place == SESSIONS else outside / "file")
    house.call("answer", session_id, "OAuth")
    done = house.call("accept", "--again", session_id, "--by", "Ada")
    assert not any(outside.iterdir())
    assert ".sessions" in done.err
    link.unlink()
    house.call("show", session_id)
    assert house.call("sync").code == 0
    assert (
        session_file(house, session_id).read_text() == house.call("admin", "export", session_id).out
    )


# 2. Read in a clone --------------------------------------------------------------------------


def test_a_fresh_clone_knows_the_decision_and_changes_nothing_of_it(
    house: Project, clone: Project, decided: str
) -> None:
    told = f"warning: only {SESSIONS}/{decided[-12:]}.jsonl has this session: "
    for command in (("show",), ("replay",), ("log",), ("prompt",), ("audit", "trail", "--session")):
        here, there = clone.call(*command, decided), house.call(*command, decided)
        assert (here.code, here.out) == (0, there.out), command
        assert here.err.startswith(told)
    for record in ("ADR-0001", decided[-12:], "last"):
        assert clone.call("show", record, "--json").json["session_id"] == decided
    assert not clone.log.exists()
    assert clone.git("status", "--short") == ""
    for change in (
        ("accept", decided, "--by", "Ada"),
        ("accept", "last", "--by", "Ada"),
        ("abandon", decided),
        ("start", "Add SSO", "--supersedes", decided),
    ):
        done = clone.call(*change)
        assert done.code == 1
        named = "last" if "last" in change else decided
        assert f"only a session file has {named}: `preflights sync` takes it over" in done.err
    (row,) = clone.call("decisions", "--json").json["decisions"]
    path = f"{SESSIONS}/{decided[-12:]}.jsonl"
    assert row == {**house.call("decisions", "--json").json["decisions"][0], "file": path}
    assert clone.call("decisions").out.count("ADR-0001") == 1
    assert "(file)" in clone.call("decisions").out
    for words in (("why", "Strategy"), ("why", decided), ("audit", "trail")):
        assert clone.call(*words).out == house.call(*words).out
    clone.decided("Use a database", key="db_type=MySQL")
    rows = clone.call("decisions", "--json").json["decisions"]
    assert [row["file"] for row in rows] == [path, None]
    trail = clone.call("audit", "trail", "--json").out.splitlines()
    assert json.loads(trail[0])["session_id"] == decided
    assert len({json.loads(line)["session_id"] for line in trail}) == 2


def test_a_fresh_clone_says_first_what_its_files_say_is_in_force(
    house: Project, clone: Project
) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    house.decided("Keep the orders in a database", key="db_type=PostgreSQL")
    committed(house)
    pulled(clone, house)
    mysql = ("start", "Use MySQL for the orders")
    known = "1. contradicts: ADR-0002 Use PostgreSQL for the orders"
    assert known in clone.call(*mysql, "--no-input").out
    assert known in clone.call(*mysql, "--as", "agent:helper").out
    assert "1. ADR-0002 Use" in clone.call("start", "Which database for the orders?").out
    uid = house.show()["uid"]
    for replacing in (("accept", "last", "--by", "Ada"), mysql):
        done = clone.call(*replacing, "--supersedes", uid)
        assert (done.code, done.out) == (1, "")
        assert f"only a session file has {uid}: `preflights sync` takes it over" in done.err
    assert clone.call("start", "Use SQLite for the orders", "--keep-known", "ADR-0002").code == 0


def test_both_standings_are_told_until_sync(house: Project, clone: Project, decided: str) -> None:
    clone.call("sync")
    later = clone.decided("Add SSO", "--supersedes", decided)["session_id"]
    committed(clone)
    pulled(house, clone)
    assert (house.call("show", later).code, house.call("replay", later).code) == (0, 0)
    done = house.call("decisions", "--json")
    assert [row["file"] is None for row in done.json["decisions"]] == [True, False]
    assert f"there session {decided[-8:]} is superseded" in done.err
    assert "superseded" in house.call("decisions", "--all").err
    house.call("sync", "--yes")
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert (row["file"], row["title"]) == (None, "Use OAuth for authentication")


def test_a_clone_has_the_project_s_name_whatever_its_folder_is_called(
    house: Project, clone: Project, decided: str
) -> None:
    assert clone.decided("Use a database", key="db_type=MySQL")["number"] == 2
    committed(clone)
    pulled(house, clone)
    assert house.call("sync").code == 0
    assert len(house.call("decisions", "--json").json["decisions"]) == 2
    clone.git("checkout", "--quiet", "--orphan", "bare")
    clone.git("rm", "-rfq", "docs")
    assert clone.call("decisions", "--json").json["project"] == "house"


# 3. Brought together -------------------------------------------------------------------------


def test_sync_takes_over_what_only_files_have_and_goes_on(
    house: Project, clone: Project, decided: str
) -> None:
    done = clone.call("sync")
    assert (done.code, done.out) == (0, f"{decided[-8:]} (house): 11 new events, version 11\n")
    assert clone.call("sync").out == "The log and docs/decisions/.sessions say the same.\n"
    assert clone.git("status", "--short") == ""
    new = clone.decided("Add SSO", "--supersedes", decided)
    committed(clone)
    pulled(house, clone)
    told = house.call("show", decided).err
    assert "goes on beyond the log, to event" in told
    assert told in house.call("recall", "login").err
    assert "is superseded; `preflights sync` takes it over" in told
    assert house.show(decided)["status"] == "accepted"

    refused = house.call("sync")
    assert refused.code == 1
    assert "extends it by" in refused.out
    assert "run this again with --yes; nothing was imported" in refused.err
    taken = house.call("sync", "--yes", "--json").json
    assert {one["session_id"] for one in taken["sessions"]} == {decided, new["session_id"]}
    assert house.show(decided)["status"] == "superseded"
    assert house.git("status", "--short") == ""


def test_sync_writes_files_that_are_missing_and_none_that_was_tampered_with(
    house: Project, decided: str
) -> None:
    other = house.decided("Add SSO")["session_id"]
    whole = session_file(house, other).read_bytes()
    session_file(house, decided).unlink()
    session_file(house, other).write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))
    assert house.call("show", other).err == ""  # another branch has older files
    assert house.call("sync").out == "Wrote 2 session files.\n"
    assert house.git("status", "--short", "docs/decisions/.sessions").count("M") == 0
    assert session_file(house, other).read_bytes() == whole
    file = session_file(house, decided)
    _tampered(file)
    spoiled = file.read_bytes()
    assert house.call("show", decided).code == 0  # the log is the truth
    assert house.call("sync").code == 1
    assert file.read_bytes() == spoiled


def test_a_session_that_grew_in_two_clones_is_named_and_both_stay(
    house: Project, clone: Project, decided: str
) -> None:
    clone.call("sync")
    for project, intention in ((clone, "Add SSO"), (house, "Add passkeys for auth")):
        project.decided(intention, "--supersedes", decided)
    content = session_file(clone, decided).read_bytes()
    session_file(house, decided).write_bytes(content)
    told = "hold different events of session"
    assert f"{told} {decided[-8:]} from version 12 on: both stay" in house.call("show", decided).err
    done = house.call("sync")
    assert done.code == 1
    assert told in done.err
    assert session_file(house, decided).read_bytes() == content
    session_file(house, decided).unlink()
    assert house.call("sync").code == 0


@pytest.mark.slow("fuzzing")
def test_two_clones_that_accept_at_once_merge_and_renumber(house: Project, tmp_path: Path) -> None:
    committed(house, "Begin")
    clone = cloned(house, tmp_path / "house-of-bob")
    (clone.folder / ".git" / "preflights").mkdir()
    (clone.folder / ".git" / "preflights" / "project").write_text("house\n")
    first = house.decided()["session_id"]
    second = clone.decided("Use a database", key="db_type=PostgreSQL")["session_id"]
    committed(house)
    committed(clone)
    pulled(house, clone)
    assert session_file(house, first).exists()
    assert session_file(house, second).exists()
    assert house.call("show", "ADR-0001").code == 1  # two records have this number
    done = house.call("sync")
    assert "is the number of" in done.err
    assert house.call("admin", "renumber").code == 0
    numbers = {house.show(one)["number"] for one in (first, second)}
    assert numbers == {1, 2}
    for one in (first, second):
        assert session_file(house, one).read_text() == house.call("admin", "export", one).out
    committed(house)
    pulled(clone, house)
    assert clone.call("sync", "--yes").code == 0
    assert {clone.show(one)["number"] for one in (first, second)} == {1, 2}


# 4. Hostile files ----------------------------------------------------------------------------


def _tampered(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"OAuth", b"0Auth"))


def _large(file: Path) -> None:
    os.truncate(file, 100 * 1024**2)


def _link(file: Path) -> None:
    file.rename(file.parent / "elsewhere")
    file.symlink_to("elsewhere")


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def _fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _doubled(file: Path) -> None:
    file.write_bytes(file.read_bytes() * 2)


@each(
    ("spoil", "why"),
    [
        (_tampered, "its payload was changed"),
        (_large, "it has more than 16,777,216 bytes"),
        (_link, "it is no regular file"),
        (_cut, "not an event"),
        (_fifo, "it is no regular file"),
        (_empty, "it holds no events"),
        (_doubled, "missing: the next one is 1"),
    ],
)
def test_a_file_that_does_not_verify_is_named_and_left_out(
    clone: Project, decided: str, spoil: Callable[[Path], None], why: str
) -> None:
    file = session_file(clone, decided)
    whole = file.read_bytes()
    spoil(file)
    done = clone.call("show", decided)
    assert done.code == 1
    assert done.is_safe()
    synced = clone.call("sync")
    assert synced.code == 1
    assert synced.err.count("\n") == 1
    assert f"{decided[-12:]}.jsonl is left out: " in synced.err
    assert why in synced.err
    assert clone.call("sessions", "--json").json["sessions"] == []
    file.unlink()
    file.write_bytes(whole)


@pytest.mark.parametrize(
    ("says", "instead", "why"),
    [
        (b'"uid":"', b'"uid":"another-', "it says the uid 'another-"),
        (b'"adr.v1"', b'"adr.v9"', "the template 'adr.v9' is not known to this version"),
    ],
)
def test_a_file_whose_payload_no_reader_can_show_is_left_out_by_all(
    clone: Project, decided: str, says: bytes, instead: bytes, why: str
) -> None:
    file = session_file(clone, decided)
    lines = file.read_bytes().splitlines(keepends=True)
    events = [
        replace(one, data=(one.data or b"").replace(says, instead))
        for one in jsonl.stored(lines, "it")
    ]
    file.write_bytes(jsonl.encode_event_file(resealed(events)))
    alone = clone.call("audit", "verify")
    assert (alone.code, alone.out.count(why)) == (4 if "uid" in why else 0, 1), alone
    for command in ("show", "prompt"):
        done = clone.call(command, decided)
        assert f"{decided[-12:]}.jsonl is left out: {why}" in done.err, command
        assert done.code == 1, done
    clone.decided("Use a database", key="db_type=MySQL")
    for words in (("decisions",), ("check",), ("view", "--export", "site", "--yes"), ("sync",)):
        done = clone.call(*words)
        assert f"{decided[-12:]}.jsonl is left out: {why}" in done.out + done.err, words
        assert done.code == {"check": 4, "sync": 1}.get(words[0], 0), done


def test_a_file_under_another_name_or_of_another_project_is_left_out(
    house: Project, clone: Project, decided: str, tmp_path: Path
) -> None:
    file = session_file(clone, decided)
    (file.parent / "000000000000.jsonl").write_bytes(file.read_bytes())
    clone.decided("Use a database", key="db_type=MySQL")
    env = {"PREFLIGHTS_PROJECT": "other", "PREFLIGHTS_DATABASE_URL": str(tmp_path / "other.db")}
    words = ("--answer", "auth_strategy=JWT", "--accept", "--again", "--by", "Ada")
    house.call("start", "Add SSO", *words, env=env)
    files = {*(house.folder / SESSIONS).glob("*.jsonl")}
    (foreign,) = files - {session_file(house, decided)}
    (file.parent / foreign.name).write_bytes(foreign.read_bytes())
    done = clone.call("sync")
    assert done.code == 1
    assert f"000000000000.jsonl is left out: it holds session {decided}" in done.err
    assert "it is of the project 'other', and this is 'house'" in done.err
    assert len(clone.call("sessions", "--json").json["sessions"]) == 2


# 5. Erased -----------------------------------------------------------------------------------


def test_erasing_covers_the_file_and_what_a_branch_brings_back_is_not_read(
    house: Project, decided: str
) -> None:
    done = house.call("admin", "erase", decided, "--yes")
    assert done.code == 0
    path = f"{SESSIONS}/{decided[-12:]}.jsonl"
    assert done.err == ERASED.format(path)
    content = session_file(house, decided).read_text()
    assert "OAuth" not in content
    assert content == house.call("admin", "export", decided).out
    house.git("checkout", "--quiet", str(SESSIONS))
    done = house.call("show", decided)
    assert "was erased here: it is not read" in done.err
    assert "OAuth" not in done.out
    assert house.call("sync").out == "Wrote 1 session file.\n"
    assert "OAuth" not in session_file(house, decided).read_text()


def test_a_folder_that_is_a_link_is_named_and_a_session_of_a_file_is_erased_there(
    clone: Project, decided: str, tmp_path: Path
) -> None:
    looked = clone.call("admin", "erase", decided, "--dry-run")
    assert (looked.code, clone.log.exists()) == (0, False)
    assert clone.call("admin", "erase", decided, "--yes").code == 0
    assert "OAuth" not in session_file(clone, decided).read_text()
    folder = clone.folder / SESSIONS
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert f"{SESSIONS} is left out: " in clone.call("sync").err


def test_a_colleague_s_erasure_is_named_and_its_file_stays_as_it_is(
    house: Project, clone: Project, decided: str
) -> None:
    clone.call("admin", "erase", decided, "--yes")
    committed(clone)
    pulled(house, clone)
    erases = f"preflights admin erase {decided[-8:]}"
    assert f"is erased; `{erases}` erases it here" in house.call("show", decided).err
    (file,) = house.call("inbox", "--json").json["files"]
    assert (file["session_id"], file["is_erased"], file["version"]) == (decided, True, LINES + 2)
    assert file["command"] == erases
    assert "its file erases it" in house.call("inbox").out
    done = house.call("sync", "--yes", "--json").json
    assert [one["session_id"] for one in done["waiting"]] == [decided]
    assert house.show(decided)["status"] == "accepted"
    assert house.call("admin", "erase", decided, "--yes").code == 0
    assert house.show(decided)["status"] == "erased"
    assert house.call("inbox").out == "Nothing waits.\n"
    assert house.call("sync").out == f"The log and {SESSIONS} say the same.\n"
    assert house.git("status", "--short") == ""


# 6. Killed -----------------------------------------------------------------------------------


@pytest.mark.slow("kills")
def test_a_kill_between_record_session_file_and_log_loses_nothing(house: Project) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--by", "Ada", "--json")
    for n in range(1, 60):
        kill = ("python", "-m", "tests.cli.killing", str(n))
        root = str(Path(__file__).parents[2])
        env = {"PYTHONPATH": f"{root}{os.pathsep}{root}/cli"}
        done = house.run("start", f"Add login {n}", *words, program=kill, env=env)
        assert house.call("sessions").code == 0  # finishes what is open
        ids = [one["session_id"] for one in house.call("decisions", "--json").json["decisions"]]
        for session_id in ids if done.code == 0 else ids[-1:]:
            exported = house.call("admin", "export", session_id).out
            assert session_file(house, session_id).read_text() == exported
        names = os.listdir(house.folder / SESSIONS) if ids else []
        assert set(names) <= {".gitattributes", *(f"{one[-12:]}.jsonl" for one in ids)}
        records = list((house.folder / "docs" / "decisions").glob("*.md"))
        assert len(records) == len(ids)
        if done.code == 0:
            break
    assert done.code == 0
    assert json.loads(done.out)["status"] == "accepted"


# 7. A folder of git's that is read-only ------------------------------------------------------

DROPPED: Final = "-dac_override,-dac_read_search,-fowner"
OBEYING: Final = (
    ("setpriv", "--inh-caps", DROPPED, "--bounding-set", DROPPED) if os.geteuid() == 0 else ()
)
"""Root as well has to obey the rights of files."""


@pytest.fixture
def sealed(house: Project, home: Path, tmp_path: Path) -> Callable[..., Result]:
    """Runs the program while git's folder is read-only, with a state directory of its own."""
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    git = house.folder / ".git"
    rights = {path: path.stat().st_mode for path in (git, *git.rglob("*"))}

    def run(*args: str) -> Result:
        for path in (git, *git.rglob("*")):
            path.chmod(rights.setdefault(path, path.stat().st_mode) & ~0o222)
        try:
            return house.run(*args, program=(*OBEYING, "preflights"), env=env)
        finally:
            for path in (git, *git.rglob("*")):
                path.chmod(rights[path])

    return run


@pytest.mark.slow("whole runs")
def test_what_is_recorded_while_git_s_folder_is_read_only_is_found_again(
    house: Project, decided: str, sealed: Callable[..., Result], tmp_path: Path
) -> None:
    looked = sealed("show", decided)
    assert (looked.code, looked.err) == (0, "")
    open_session = house.started_session("Add SSO")
    words = ("--answer", "db_type=MySQL", "--accept", "--again", "--by", "Ada", "--json")
    done = sealed("start", "Use a database", *words)
    assert done.code == 0
    assert done.err.startswith("warning: git's folder is read-only: the log is ")
    assert done.err.count("\n") == 1
    assert sealed("answer", open_session, "JWT").code in (0, 3)
    assert len(sealed("decisions", "--json").json["decisions"]) == 2
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    told = house.call("decisions", env=env)
    assert "holds what was recorded while git's folder was read-only: `preflights sync`" in told.err
    assert house.call("sync", env=env).code == 1  # it goes on with a session of this log
    assert house.call("sync", "--yes", env=env).code == 0
    after = house.call("decisions", "--json", env=env)
    assert (len(after.json["decisions"]), after.err) == (2, "")
    assert house.show(open_session)["progress"] == 1.0
    assert house.call("audit", "verify", "--all").code == 0


@pytest.mark.slow("whole runs")
def test_what_others_record_in_git_s_folder_is_seen_while_it_is_read_only(
    house: Project, decided: str, sealed: Callable[..., Result]
) -> None:
    assert sealed("start", "Use a database").code == 3
    later = house.decided("Add SSO", "--supersedes", decided)["session_id"]
    done = sealed("decisions", "--json")
    assert done.err.count("\n") == 1
    assert [row["session_id"] for row in done.json["decisions"]] == [later]
    house.call("admin", "erase", decided, "--yes")
    assert "was erased" in sealed("show", decided).out


@pytest.mark.slow("whole runs")
def test_nothing_is_erased_while_git_s_folder_is_read_only(
    house: Project, decided: str, sealed: Callable[..., Result]
) -> None:
    assert sealed("start", "Use a database").code == 3
    done = sealed("admin", "erase", decided, "--yes")
    assert (done.code, "nothing was erased" in done.err, done.out) == (5, True, "")
    assert "was erased" not in sealed("show", decided).out
    assert b"OAuth" in house.log.read_bytes()


@pytest.mark.slow("whole runs")
def test_a_session_that_grew_on_both_sides_holds_up_no_other(
    house: Project, decided: str, sealed: Callable[..., Result], tmp_path: Path
) -> None:
    both = house.started_session("Add SSO")
    assert sealed("answer", both, "JWT").code in (0, 3)
    assert house.call("answer", both, "OAuth").code in (0, 3)
    words = ("--answer", "db_type=MySQL", "--accept", "--again", "--by", "Ada", "--json")
    new = sealed("start", "Use a database", *words).json["session_id"]
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    done = house.call("sync", "--yes", env=env)
    assert done.code == 0
    assert f"session {both} has diverged: at version" in done.err
    assert "; the other ones lie in " in done.err
    rows = house.call("decisions", "--json", env=env)
    assert [row["session_id"] for row in rows.json["decisions"]] == [decided, new]
    assert rows.err == ""
    assert len([*tmp_path.glob("state/preflights/read-only/*/apart-*.db")]) == 1


@pytest.mark.slow("whole runs")
def test_a_clone_whose_git_folder_is_read_only_gets_a_log_all_the_same(
    house: Project, sealed: Callable[..., Result]
) -> None:
    shutil.rmtree(house.log.parent)
    assert sealed("start", "Add OAuth login").code == 3
    assert sealed("show").code == 0
    assert not house.log.exists()


@pytest.mark.slow("whole runs")
def test_what_only_a_file_holds_is_marked_for_agents_as_in_decisions(
    house: Project, tmp_path: Path
) -> None:
    words = ("--question", "Which broker?", "--option", "RabbitMQ", "--option", "Kafka")
    answer = ("--answer", "custom.broker=RabbitMQ", "--accept", "--again", "--by", "Ada")
    other = ("--alternative", "Kafka: too much to run")
    done = house.call("start", "Queue the mails", *words, "--topic", "Broker", *answer, *other)
    assert done.code == 0, done.err
    committed(house)
    clone = cloned(house, tmp_path / "clone")
    edit = {"file_path": "app/queue.py", "old_string": "", "new_string": "import kafka"}

    def told(project: Project) -> list[str]:
        """What `decisions`, the brief, the hook at its beginning and before an edit say."""
        called = {"tool_name": "Edit", "tool_input": edit, "session_id": os.urandom(4).hex()}
        hooks = (("SessionStart", {"source": "startup"}), ("PreToolUse", called))
        said = (
            project.call("hook", event, "--agent", "claude", stdin=json.dumps(one).encode()).out
            for event, one in hooks
        )
        return [project.call("decisions").out, project.call("prompt").out, *said]

    assert all("RabbitMQ" in text and "(file)" not in text for text in told(house))
    assert all("RabbitMQ" in text and "(file)" in text for text in told(clone))
    (one,) = clone.call("prompt", "--json").json["decisions"]
    said = told(clone)[-1].partition("`preflights why ")[2].partition("`")[0]
    assert clone.call("why", said).code == 0
    assert one["file"].startswith("docs/decisions/.sessions/")
    assert clone.call("sync").code == 0
    assert all("(file)" not in text for text in told(clone))
