"""`audit checkpoint --sign`, and up to where `audit verify` says that it holds."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from preflights_es.store import jsonl
from tests.cli import tampering
from tests.cli.checkpoints import (
    ADA,
    FOLDER,
    Team,
    cloned_team,
    copied,
    line,
    made_team,
    public,
    signature,
    tips_of,
    written,
)
from tests.cli.clones import committed, pulled, session_file
from tests.cli.tampering import tampered
from tests.signing import keys
from tests.store.given import resealed

pytestmark = pytest.mark.needs("ssh-keygen")

LATER = (("Add an API", "api_style=REST"), ("Deploy it somewhere", "hosting=Cloud"))
"""Decisions beside those of every team."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Team:
    """Two decisions, committed."""
    team = made_team(tmp_path_factory.mktemp("team"))
    team.decided("Add OAuth login")
    team.decided("Use PostgreSQL", key="db_type=PostgreSQL")
    committed(team)
    return team


@pytest.fixture
def team(origin: Team, tmp_path: Path) -> Team:
    """A copy of it for one test."""
    return copied(origin, tmp_path)


@pytest.fixture(scope="module")
def signed_origin(origin: Team, tmp_path_factory: pytest.TempPathFactory) -> Team:
    """The same, with a checkpoint."""
    team = copied(origin, tmp_path_factory.mktemp("signed"))
    team.sign()
    committed(team)
    return team


@pytest.fixture
def signed(signed_origin: Team, tmp_path: Path) -> Team:
    """A copy of it for one test."""
    return copied(signed_origin, tmp_path)


def lines_of(done: Any) -> list[str]:
    """What a command printed, without what this machine adds."""
    return [one for one in done.out.splitlines() if one]


# 1. Signing ----------------------------------------------------------------------------------


def test_a_checkpoint_lies_beside_the_session_files_under_its_root(team: Team) -> None:
    done = team.call("audit", "checkpoint", "--sign", "--json")
    assert (done.code, done.err) == (0, "")
    (path,) = team.checkpoints
    first, *tips, root, made = map(json.loads, path.read_text().splitlines())
    assert path.name == f"{root['root']}.jsonl"
    assert [tuple(one.values()) for one in tips] == tips_of(team)
    assert (first["project"], first["parents"], first["by"]) == ("house", [], "Ada")
    assert made["key"] == public(team.key).split()[1]
    assert done.json | {"at": "", "signature": {}} == {
        "format": "audit-checkpoint-signed/1",
        "file": str(path.relative_to(team.folder)),
        "project": "house",
        "sessions": 2,
        "events": sum(one["version"] for one in tips),
        "root": root["root"],
        "parents": [],
        "by": "Ada",
        "at": "",
        "signature": {},
    }
    assert (done.json["signature"]["verdict"], done.json["signature"]["by"]) == ("signed", ADA)
    assert (path.parent / ".gitattributes").read_text() == "*.jsonl -text merge=binary\n"


def test_ssh_keygen_verifies_the_lines_before_the_last(team: Team) -> None:
    content = team.sign().read_bytes()
    *lines, last = content.splitlines(keepends=True)
    sshsig = json.loads(last)["sshsig"]
    armour = f"-----BEGIN SSH SIGNATURE-----\n{sshsig}\n-----END SSH SIGNATURE-----\n"
    (team.home / "sig").write_text(armour)
    files = ("-f", str(team.home / "signers"), "-s", str(team.home / "sig"))
    words = ("ssh-keygen", "-Y", "verify", "-I", ADA, "-n", "preflights-checkpoint", *files)
    assert team.run(program=words, stdin=b"".join(lines)).code == 0
    assert team.run(program=words, stdin=content).code != 0


def test_the_next_one_names_all_that_lie_there_as_its_parents(team: Team) -> None:
    roots: list[str] = []
    for _ in range(3):
        found = json.loads(team.sign().read_text().splitlines()[0])
        assert found["parents"] == sorted(roots)
        roots = [one.stem for one in team.checkpoints]
    assert len(roots) == 3


def test_two_branches_each_sign_one_and_the_next_joins_them(signed: Team) -> None:
    other = cloned_team(signed, "other")
    assert other.call("sync").code == 0
    for one, (intention, key) in zip((signed, other), LATER, strict=True):
        one.decided(intention, key=key)
        one.sign()
        committed(one)
    pulled(signed, other)
    assert len(signed.checkpoints) == 3
    held = signed.held()
    assert (held["damage"], held["differences"], held["later_events"]) == ([], [], 0)
    assert [one["newest"] for one in held["checkpoints"]] == [False, True, True]
    told = signed.call("audit", "verify").out
    assert told.count(f" by {ADA} on ") == 2
    assert "; nothing after them.\n" in told
    joined = json.loads(signed.sign().read_text().splitlines()[0])
    assert len(joined["parents"]) == 3
    assert [one["newest"] for one in signed.held()["checkpoints"]] == [False] * 3 + [True]


# 2. Verifying --------------------------------------------------------------------------------


def test_a_clone_without_a_log_says_up_to_where_the_history_is_signed(signed: Team) -> None:
    events = sum(version for _, version, _ in tips_of(signed))
    new = signed.decided("Add SSO", "--supersedes", tips_of(signed)[0][0])["session_id"]
    committed(signed)
    clone = cloned_team(signed)
    done = clone.call("audit", "verify")
    assert (done.code, done.err) == (0, "")
    total = sum(version for _, version, _ in tips_of(clone))
    later = total - events
    day = clone.held()["checkpoints"][0]["at"][:10]
    sessions = "2 sessions" if later > len(signed.events(new)) else "1 session"
    signed_line = f"{events} events in 2 sessions, signed by {ADA} on {day}; "
    assert lines_of(done) == [
        f"3 session files, {total} events: every chain holds.",
        f"{signed_line}{later} events in {sessions} after it.",
    ]
    assert not clone.log.exists()


def test_with_a_log_the_sessions_without_a_file_are_named_apart(signed: Team) -> None:
    signed.started_session("Add a search")
    done = signed.call("audit", "verify")
    assert done.code == 0
    assert lines_of(done)[1].endswith("; nothing after it.")
    assert lines_of(done)[2] == "1 session has no file and is in no checkpoint."


def test_sessions_that_only_files_have_are_verified_beside_the_log(signed: Team) -> None:
    clone = cloned_team(signed)
    clone.started_session("Add a search")
    done = clone.call("audit", "verify")
    assert done.code == 0
    events = sum(version for _, version, _ in tips_of(clone))
    assert lines_of(done)[1] == f"Only in files: 2 sessions, {events} events."
    assert lines_of(done)[2].startswith(f"{events} events in 2 sessions, signed by {ADA}")
    assert clone.call("sync").code == 0
    assert clone.held()["only_filed"] == 0
    assert clone.held()["unfiled"] == 1, "the import itself does not count"


def test_without_checkpoints_nothing_is_said_of_them(team: Team) -> None:
    assert "checkpoints" not in team.call("audit", "verify", "--json").json
    assert len(lines_of(team.call("audit", "verify"))) == 1


def test_named_sessions_are_verified_alone(signed: Team) -> None:
    assert "checkpoints" not in signed.call("audit", "verify", "last", "--json").json


def test_an_erased_session_still_fits_its_checkpoint(signed: Team) -> None:
    id_, version, _ = tips_of(signed)[0]
    assert signed.call("admin", "erase", id_, "--yes").code == 0
    committed(signed)
    assert '"data":null' in session_file(signed, id_).read_text()
    for one in (signed, cloned_team(signed)):
        held = one.held()
        assert (held["damage"], held["differences"], held["sessions"]) == ([], [], 2)
        assert held["events"] == sum(v for _, v, _ in tips_of(signed)) - 2
        assert held["later_events"] == 2
        assert one.call("audit", "verify").code == 0
    assert version < tips_of(signed)[0][1]
    signed.sign()


def test_one_that_is_not_among_the_signers_counts_as_unsigned(signed: Team) -> None:
    (signed.home / "signers").write_text(f"eve@example.org {public(signed.home / 'eve')}\n")
    done = signed.call("audit", "verify")
    assert done.code == 0
    assert "signed by eve" not in done.out
    assert lines_of(done)[1].startswith("Your signers signed no event; ")
    assert "signed by a key that is not among your signers (SHA256:" in lines_of(done)[2]
    assert (signed.held()["events"], signed.held()["sessions"]) == (0, 0)


def test_a_signer_whose_time_was_over_does_not_count(signed: Team) -> None:
    (signed.home / "signers").write_text(f'{ADA} valid-before="20200101" {public(signed.key)}\n')
    assert signed.held()["checkpoints"][0]["signature"]["verdict"] == "unknown_signer"
    assert signed.held()["events"] == 0


def test_without_ssh_keygen_nothing_is_called_signed(signed: Team, tmp_path: Path) -> None:
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)
    done = signed.call("audit", "verify", env={"PATH": str(tmp_path / "bin")})
    assert done.code == 0
    assert "not checked: ssh-keygen of OpenSSH 8.2 or newer is not on the PATH" in done.out
    assert f"signed by {ADA}" not in done.out


def test_the_newest_that_is_in_force_is_the_one_of_your_signers(signed: Team) -> None:
    written(signed, tips_of(signed), key="eve", parents=[signed.checkpoints[0].stem])
    told = signed.call("audit", "verify").out
    assert f"signed by {ADA} on " in told
    assert "not among your signers" in told


# 3. What was done to the history -------------------------------------------------------------

Attack = Callable[[Path], object]


def cut(path: Path) -> None:
    """The last event of a session file."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def recomputed(path: Path) -> None:
    """Another answer, and a chain that holds."""
    events = [*jsonl.stored(path.read_bytes().splitlines(keepends=True), "")]
    changed = [
        event if event.data is None else _with(event, event.data.replace(b"OAuth", b"OButh"))
        for event in events
    ]
    path.write_bytes(jsonl.lines(resealed(changed)))


def _with(event: Any, data: bytes) -> Any:
    from msgspec.structs import replace

    return replace(event, data=data)


DONE: dict[Attack, tuple[str, str]] = {
    cut: ("cut", "was cut: checkpoint {} has it at version {}, its file at {}"),
    recomputed: ("recomputed", "was recomputed: checkpoint {} has another hash of event {}"),
    Path.unlink: ("missing", "is missing: checkpoint {} has it at version {}"),
}


@pytest.mark.parametrize("attack", DONE, ids=lambda one: one.__name__)
def test_what_was_done_to_a_session_file_is_found(signed: Team, attack: Attack) -> None:
    clone = cloned_team(signed)
    id_, version, _ = next(one for one in tips_of(clone) if "OAuth" in _text(clone, one[0]))
    attack(session_file(clone, id_))
    kind, words = DONE[attack]
    (found,) = clone.held()["differences"]
    assert (found["session_id"], found["kind"], found["remembered"]) == (id_, kind, version)
    done = clone.call("audit", "verify")
    assert done.code == 4
    said = words.format(clone.checkpoints[0].stem[:12], version, version - 1)
    assert f"{id_[-8:]} {said}\n" in done.out
    assert f"in 1 session, signed by {ADA}" in done.out
    refused = clone.call("audit", "checkpoint", "--sign")
    assert refused.code == 4
    assert f"{said}; nothing was signed" in refused.err
    assert len(clone.checkpoints) == 1


def _text(team: Team, session_id: str) -> str:
    return session_file(team, session_id).read_text()


def test_a_log_that_was_recomputed_is_found_where_the_file_is_not(signed: Team) -> None:
    id_ = tips_of(signed)[0][0]
    tampered(signed, id_, tampering.recomputed)
    (found,) = signed.held()["differences"]
    assert (found["session_id"], found["kind"], found["place"]) == (id_, "recomputed", "log")
    done = signed.call("audit", "verify")
    assert done.code == 4
    assert f"{id_[-8:]} was recomputed in the log: checkpoint " in done.out


def test_a_file_that_is_gone_is_named_where_the_log_has_the_session(signed: Team) -> None:
    id_, version, _ = tips_of(signed)[0]
    session_file(signed, id_).unlink()
    done = signed.call("audit", "verify")
    assert done.code == 4
    assert f"has it at version {version}, the log at {version}\n" in done.out
    assert signed.call("sync").code == 0
    assert signed.call("audit", "verify").code == 0


def test_a_tail_behind_the_checkpoint_can_be_cut_and_this_is_not_found(signed: Team) -> None:
    new = signed.decided("Add an API", key="api_style=REST")["session_id"]
    committed(signed)
    clone = cloned_team(signed)
    session_file(clone, new).unlink()
    assert clone.call("audit", "verify").code == 0, "docs/audit.md says so"


def test_a_newest_checkpoint_that_was_deleted_is_found_against_a_copy(signed: Team) -> None:
    new = signed.decided("Add an API", key="api_style=REST")["session_id"]
    newest = signed.sign()
    copy = signed.folder.parent / "copy.jsonl"
    shutil.copy(newest, copy)
    committed(signed)
    assert signed.call("audit", "verify", "--against", str(copy)).code == 0
    clone = cloned_team(signed)
    session_file(clone, new).unlink()
    (clone.folder / newest.relative_to(signed.folder)).unlink()
    assert clone.call("audit", "verify").code == 0, "docs/audit.md says so"
    done = clone.call("audit", "verify", "--against", str(copy))
    assert done.code == 4
    assert f"{newest.name}: it is missing: {copy} is a copy of it\n" in done.out
    assert f"{new[-8:]} is missing: {copy} has it at version " in done.out


def test_an_older_one_that_was_deleted_is_named_by_the_newer(signed: Team) -> None:
    (first,) = signed.checkpoints
    signed.sign()
    first.unlink()
    done = signed.call("audit", "verify")
    assert done.code == 4
    name = first.relative_to(signed.folder)
    assert f"{name}: it is missing: {signed.checkpoints[0].relative_to(signed.folder)} names " in (
        done.out
    )
    assert signed.call("audit", "checkpoint", "--sign").code == 4


# 4. Hostile files ----------------------------------------------------------------------------


def huge(team: Team) -> None:
    path = team.checkpoints[0]
    with path.open("r+b") as file:
        file.truncate(1 << 30)


def linked(team: Team) -> None:
    path = team.checkpoints[0]
    shutil.move(path, team.home / path.name)
    path.symlink_to(team.home / path.name)


def piped(team: Team) -> None:
    team.checkpoints[0].unlink()
    os.mkfifo(
        team.checkpoints[0] if team.checkpoints else team.folder / FOLDER / f"{'0' * 64}.jsonl"
    )


def of_a_folder(team: Team) -> None:
    (team.folder / FOLDER / f"{'0' * 64}.jsonl").mkdir()


def elsewhere(team: Team) -> None:
    written(team, tips_of(team), project="another")


def by_eve_in_adas_name(team: Team) -> None:
    path = written(team, tips_of(team), key="eve")
    *lines, last = path.read_bytes().splitlines(keepends=True)
    made = json.loads(last) | {"key": public(team.key).split()[1]}
    path.write_bytes(b"".join(lines) + line(made))


def for_an_acceptance(team: Team) -> None:
    written(team, tips_of(team), namespace="preflights-acceptance")


def for_git(team: Team) -> None:
    written(team, tips_of(team), namespace="git")


def of_another(team: Team) -> None:
    """With the signature of the checkpoint that lies there."""
    last = team.checkpoints[0].read_bytes().splitlines(keepends=True)[-1]
    path = written(team, tips_of(team)[:1])
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]) + last)


def rolled_back(team: Team) -> None:
    """The older one in the place of the newer."""
    (older,) = team.checkpoints
    team.started_session("Add a search")
    shutil.copy(older, team.sign())


def without_its_parent(team: Team) -> None:
    written(team, tips_of(team), parents=["ab" * 32])


def in_a_circle(team: Team) -> None:
    """Two that name each other: no root can be so, and they bear names that say it."""
    one, other = "1" * 64, "2" * 64
    written(team, tips_of(team), parents=[other], name=f"{one}.jsonl")
    written(team, tips_of(team), parents=[one], name=f"{other}.jsonl")


def its_own_parent(team: Team) -> None:
    written(team, tips_of(team), parents=["3" * 64], name=f"{'3' * 64}.jsonl")


def twice_a_session(team: Team) -> None:
    written(team, [tips_of(team)[0], *tips_of(team)])


def out_of_order(team: Team) -> None:
    written(team, tips_of(team)[::-1])


def up_a_folder(team: Team) -> None:
    written(team, tips_of(team), parents=["../../../../etc/passwd"])


def newer(team: Team) -> None:
    written(team, tips_of(team), signed_checkpoint=2)


def of_version_zero(team: Team) -> None:
    written(team, tips_of(team), signed_checkpoint=0)


def with_more(team: Team) -> None:
    written(team, tips_of(team), more="fields")


def with_other_line_ends(team: Team) -> None:
    path = team.checkpoints[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def with_another_version(team: Team) -> None:
    path = team.checkpoints[0]
    _, version, _ = tips_of(team)[0]
    said = path.read_bytes()
    path.write_bytes(said.replace(b'"version":%d' % version, b'"version":%d' % (version - 1), 1))


def empty(team: Team) -> None:
    team.checkpoints[0].write_bytes(b"")


def garbage(team: Team) -> None:
    team.checkpoints[0].write_bytes(b"\xff" * 1000)


def unsigned(team: Team) -> None:
    """Without its last line."""
    path = team.checkpoints[0]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def escaping(team: Team) -> None:
    written(team, tips_of(team), project="house\x1b[31m")


def of_no_version(team: Team) -> None:
    written(team, [(id_, 0, hash_) for id_, _, hash_ in tips_of(team)])


def of_a_huge_version(team: Team) -> None:
    written(team, [(id_, 2**63, hash_) for id_, _, hash_ in tips_of(team)])


def of_what_is_not_there(team: Team) -> None:
    written(team, [("01981234-5678-7abc-8def-000000000000", 1, "ab" * 32)])


HOSTILE: dict[Callable[[Team], None], str] = {
    huge: "it has more than 33,554,432 bytes",
    linked: "it is no regular file",
    piped: "it is no regular file",
    of_a_folder: "it is no regular file",
    elsewhere: "it is of the project 'another', and this is 'house'",
    by_eve_in_adas_name: "its signature does not verify: another key made it",
    for_an_acceptance: "its signature does not verify: it was made for 'preflights-acceptance'",
    for_git: "its signature does not verify: it was made for 'git'",
    of_another: "its signature does not verify: the key did not sign this",
    rolled_back: "and its name says another",
    without_its_parent: f"{'ab' * 32}.jsonl: it is missing: ",
    in_a_circle: "and its name says another",
    its_own_parent: "and its name says another",
    twice_a_session: "its sessions are not in order, each once",
    out_of_order: "its sessions are not in order, each once",
    up_a_folder: "a parent is no root of 64 digits",
    newer: "signed checkpoint version 2, this version knows 1: upgrade preflights",
    of_version_zero: "this is no checkpoint",
    with_more: "this is no checkpoint",
    with_other_line_ends: "its line ends were changed: it is to be kept byte for byte",
    with_another_version: "its lines do not give its root: the file was changed",
    empty: "this is no checkpoint",
    garbage: "this is no checkpoint",
    unsigned: "this is no line of a checkpoint",
    escaping: "it is of the project 'house\\x1b[31m'",
    of_no_version: "this is no line of a checkpoint, as a writer writes it",
    of_a_huge_version: "this is no line of a checkpoint, as a writer writes it",
    of_what_is_not_there: "is missing: checkpoint ",
}


@pytest.mark.parametrize("attack", HOSTILE, ids=lambda one: one.__name__)
def test_a_hostile_checkpoint_is_one_line_and_never_called_signed(
    signed: Team, attack: Callable[[Team], None]
) -> None:
    before = signed.held()
    attack(signed)
    done = signed.call("audit", "verify")
    assert done.code == 4
    assert done.is_safe()
    found = [one for one in lines_of(done) if HOSTILE[attack] in one]
    assert len(found) == (2 if attack is in_a_circle else 1), done.out
    assert signed.held()["events"] <= before["events"]
    refused = signed.call("audit", "checkpoint", "--sign")
    assert (refused.code, refused.out) == (4, "")
    assert len(refused.err.splitlines()) == 1
    assert "nothing was signed" in refused.err


def test_names_that_are_no_roots_are_passed_over(signed: Team) -> None:
    for name in ("..jsonl", "...jsonl", "note.txt", f"{'A' * 64}.jsonl", f"{'0' * 63}.jsonl"):
        (signed.folder / FOLDER / name).write_bytes(b"x")
    assert signed.call("audit", "verify").code == 0
    assert signed.call("audit", "checkpoint", "--sign").code == 0


def test_ten_thousand_checkpoints_are_refused_in_one_line(signed: Team) -> None:
    for number in range(10_000):
        (signed.folder / FOLDER / f"{number:064d}.jsonl").write_bytes(b"")
    done = signed.call("audit", "verify")
    assert done.code == 4
    assert f"{FOLDER}: it has more than 1,000 files\n" in done.out
    assert ADA not in done.out
    refused = signed.call("audit", "checkpoint", "--sign")
    assert (refused.code, len(refused.err.splitlines())) == (4, 1)


def test_a_folder_of_checkpoints_that_is_a_link_is_not_followed(signed: Team) -> None:
    place = signed.folder / FOLDER
    shutil.move(place, signed.home / "elsewhere")
    place.symlink_to(signed.home / "elsewhere")
    assert signed.call("audit", "verify").code == 4
    before = sorted((signed.home / "elsewhere").iterdir())
    assert signed.call("audit", "checkpoint", "--sign").code != 0
    assert sorted((signed.home / "elsewhere").iterdir()) == before


def test_a_session_file_under_another_name_is_named(signed: Team) -> None:
    path = signed.session_files()[0]
    shutil.copy(path, path.with_name("0123456789ab.jsonl"))
    done = signed.call("audit", "verify")
    assert done.code == 4
    assert "0123456789ab.jsonl: it holds session " in done.out


# 5. Who signs --------------------------------------------------------------------------------


def test_an_agent_does_not_sign_one_with_an_ordinary_key(signed: Team) -> None:
    signed.started_session("Add a search")
    done = signed.call("audit", "checkpoint", "--sign", env={"CLAUDECODE": "1"})
    assert done.code == 1
    assert "cannot sign a checkpoint with this key, only a person can" in done.err
    assert len(signed.checkpoints) == 1


@pytest.mark.parametrize("flags", [0, 1])
def test_an_agent_signs_one_only_where_a_hardware_key_is_touched(
    team: Team, tmp_path: Path, flags: int
) -> None:
    front, file = keys.hardware(tmp_path / "front", "ada", flags)
    (team.home / "signers").write_text(f"{ADA} {keys.Key('ada').public}\n")
    team.settings(key=str(file), signers=str(team.home / "signers"))
    env = {"PATH": f"{front}{os.pathsep}{os.environ['PATH']}"}
    done = team.call("audit", "checkpoint", "--sign", "--json", env={**env, "CLAUDECODE": "1"})
    assert (done.code, len(team.checkpoints)) == ((0, 1) if flags else (1, 0)), done
    if not flags:
        assert "cannot sign a checkpoint without a touch of the key" in done.err
        done = team.call("audit", "checkpoint", "--sign", "--json", env=env)
    assert done.json["signature"]["verdict"] == "signed"
    assert done.json["signature"]["is_touched"] == bool(flags)
    assert team.held()["sessions"] == 2


def test_without_a_key_or_a_session_file_nothing_is_written(team: Team, tmp_path: Path) -> None:
    team.settings(signers=str(team.home / "signers"))
    done = team.call("audit", "checkpoint", "--sign")
    assert done.code != 0
    assert "no key to sign with" in done.err
    team.settings(key=str(team.home / "gone"))
    done = team.call("audit", "checkpoint", "--sign")
    assert done.code == 1
    assert "nothing was signed, and nothing is recorded: the key " in done.err
    assert team.checkpoints == []
    bare = made_team(tmp_path / "bare")
    done = bare.call("audit", "checkpoint", "--sign")
    assert (done.code, done.err) == (
        1,
        "preflights: there is no session file here: nothing was signed\n",
    )


def test_it_takes_no_other_options(team: Team) -> None:
    for more in (("-o", "x.jsonl"), ("--all",), ("--force",)):
        assert team.call("audit", "checkpoint", "--sign", *more).code == 2
    assert team.checkpoints == []


def test_the_newest_signature_covers_those_before_and_is_verified_once(
    signed: Team, tmp_path: Path
) -> None:
    for intention, key in LATER:
        signed.decided(intention, key=key)
        signed.sign()
    counting, found = tmp_path / "bin", shutil.which("ssh-keygen")
    counting.mkdir()
    script = f'#!/bin/sh\necho "$2" >> {tmp_path}/calls\nexec {found} "$@"\n'
    (counting / "ssh-keygen").write_text(script)
    (counting / "ssh-keygen").chmod(0o755)
    env = {"PATH": f"{counting}{os.pathsep}{os.environ['PATH']}"}
    assert signed.call("audit", "verify", env=env).code == 0
    assert (tmp_path / "calls").read_text().split() == ["find-principals", "verify"]
    before = signed.held()["checkpoints"]
    assert [one["signature"] is None for one in before] == [True, True, False]
    (signed.folder / before[-1]["file"]).unlink()
    after = signed.held()["checkpoints"]
    assert [one["signature"] is None for one in after] == [True, False]


def test_one_by_another_key_covers_none_before_it(signed: Team) -> None:
    parents = [one.stem for one in signed.checkpoints]
    written(signed, tips_of(signed)[:1], key="eve", parents=parents, at=2_000_000_000_000_000)
    found = signed.held()
    assert [one["signature"]["verdict"] for one in found["checkpoints"]] == [
        "signed",
        "unknown_signer",
    ]
    assert found["sessions"] == 2


def test_an_older_signature_that_was_spoilt_is_called_signed_by_no_command(signed: Team) -> None:
    (first,) = signed.checkpoints
    signed.sign()
    *lines, _ = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines) + line(signature(signed.home / "eve", "git", b"")))
    found = {one["root"]: one["signature"] for one in signed.held()["checkpoints"]}
    assert found.pop(first.stem) is None
    assert [one["verdict"] for one in found.values()] == ["signed"]


# 6. What else reads the folder ---------------------------------------------------------------


def test_other_commands_do_not_stumble_over_checkpoints(signed: Team) -> None:
    clone = cloned_team(signed)
    assert len(clone.call("decisions", "--json").json["decisions"]) == 2
    done = clone.call("sync", "--json")
    assert (done.code, len(done.json["sessions"]), done.json["apart"]) == (0, 2, [])
    assert clone.call("sync").out.endswith("say the same.\n")
    (path,) = clone.checkpoints
    refused = clone.call("admin", "import", str(path))
    assert refused.code == 4
    assert len(refused.err.splitlines()) == 1
    signed.started_session("Add a search")
    signed.sign()
    for words in (("decisions",), ("check", "--base", "HEAD"), ("inbox",), ("sync",)):
        done = signed.call(*words)
        assert (done.code, "checkpoint" in done.out + done.err) == (0, False), done
    assert "signed_checkpoint" not in clone.call("admin", "export", "--all").out
    clone.decided("Add an API", key="api_style=REST")
    assert clone.call("audit", "verify").code == 0


def test_a_checkpoint_is_compared_on_every_engine(signed: Team, postgres: str) -> None:
    events = sum(version for _, version, _ in tips_of(signed))
    on = ("--db", postgres)
    assert signed.call("sync", *on).code == 0
    done = signed.call("audit", "verify", "--json", *on)
    assert done.code == 0, done.err
    held = done.json["checkpoints"]
    assert (held["events"], held["only_filed"], held["later_events"]) == (events, 0, 0)
    assert signed.call("audit", "checkpoint", "--sign", *on).code == 0
    cut(signed.session_files()[0])
    assert signed.call("audit", "verify", *on).code == 4


def test_a_signature_for_it_is_of_the_bytes_that_stand_there(signed: Team) -> None:
    """The helper that forges makes what the program takes: the forgeries differ in one thing."""
    signed.checkpoints[0].unlink()
    written(signed, tips_of(signed))
    assert signed.held()["sessions"] == 2
    assert signature(signed.key, "x", b"")["sshsig"]
