"""Where signatures go: replay, files, erasure, new numbers, copies of the log; and what is kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from preflights_es.use.signatures import CACHE_FORMAT
from tests.cli.tampering import flipped, tampered
from tests.persons import git_repository
from tests.signing.forging import EVE
from tests.signing.house import ADA, Signing, name_repository
from tests.signing.test_signing import BY

pytestmark = pytest.mark.needs("ssh-keygen")

MEMORY = Path(".cache", "preflights", "signatures", "signatures.json")


def other_log(house: Signing, name: str = "other") -> Signing:
    """The same person's other clone, with an empty log."""
    folder = git_repository(house.folder.with_name(name))
    made = Signing(folder, house.home, house.key)
    (made.folder / "preflights.toml").write_text('project = "house"\n')
    name_repository(made)
    return made


def imported(house: Signing, file: Path) -> None:
    done = house.call("admin", "import", str(file))
    assert done.code == 0, done.err


# 1. Replay -----------------------------------------------------------------------------------


def test_a_signed_session_is_replayed_and_a_run_that_never_was_is_not_signed(
    house: Signing,
) -> None:
    id_ = house.signed()
    plain = house.decided("Add SSO")["session_id"]
    for words in ((), ("--drift",), ("--simulate", "--seed", "7"), ("--all",)):
        found, expected = (house.call("replay", one, *words) for one in (id_, plain))
        assert found.code == expected.code, (found, expected)
    assert house.verdict(id_) == "signed"
    file = house.folder / "replays" / "signed.jsonl"
    file.parent.mkdir()
    file.write_text(house.call("admin", "export", id_).out)
    found = house.call("regress", "replays/", "--json")
    assert found.code == 0, found.err
    assert house.call("regress", "--only", id_).code == 0
    file = house.home / "what-if.jsonl"
    done = house.call("replay", id_, "--answer", "auth_strategy=Magic Link", "--out", str(file))
    assert done.code in (0, 1), done.err
    other = other_log(house)
    imported(other, file)
    (session_id,) = {json.loads(line)["session_id"] for line in file.read_text().splitlines()[1:]}
    assert '"verdict":"signed"' not in other.told(session_id)


# 2. Files ------------------------------------------------------------------------------------


def test_an_export_and_a_copy_bring_the_signature_and_an_erasure_takes_it(house: Signing) -> None:
    id_ = house.signed()
    file = house.home / "session.jsonl"
    file.write_text(house.call("admin", "export", id_).out)
    other = other_log(house)
    for _ in range(2):
        imported(other, file)
        assert other.verdict(id_) == "signed"
    assert other.acts(id_) == house.acts(id_)
    assert other.call("audit", "verify").code == 0
    packed = house.home / "all.jsonl.gz"
    assert house.call("admin", "export", "--all", "-o", str(packed)).code == 0
    third = other_log(house, "third")
    imported(third, packed)
    assert third.verdict(id_) == "signed"
    copy = house.folder / "copy.db"
    assert house.call("admin", "db", "backup", str(copy)).code == 0
    for words in (("admin", "db", "upgrade"), ("admin", "projections", "rebuild")):
        assert house.call(*words).code == 0
        (row,) = house.call("decisions", "--json").json["decisions"]
        assert row["signature"]["verdict"] == "signed", words
    found = house.call("show", id_, "--json", "--db", str(copy)).json
    assert found["signature"]["verdict"] == "signed"
    fingerprint = house.show(id_)["signature"]["key"]
    assert house.call("admin", "erase", id_, "--yes").code == 0
    recorded = house.recorded()
    files = b"".join(one.read_bytes() for one in house.folder.rglob("*.jsonl"))
    assert b"U1NIU0lH" not in recorded + files, "SSHSIG"
    found = house.show(id_)
    assert (found["status"], found["signature"]) == ("erased", None)
    assert fingerprint not in house.call("audit", "trail", "--session", id_).out
    assert house.call("audit", "verify").code == 0


def test_a_session_file_says_who_signed_before_and_after_it_is_in_the_log(house: Signing) -> None:
    id_ = house.signed()
    other = other_log(house)
    shutil.copytree(house.folder / "docs", other.folder / "docs")
    (row,) = other.call("decisions", "--json").json["decisions"]
    assert row["file"], "only a file says so"
    before = row["signature"]
    assert before["verdict"] == "signed"
    assert other.call("sync").code == 0
    (row,) = other.call("decisions", "--json").json["decisions"]
    assert (row["file"], row["signature"]) == (None, before)
    assert other.verdict(id_) == "signed"
    assert other.call("sync").code == 0


def test_what_was_found_of_a_file_does_not_hold_of_another_text_with_its_hashes(
    house: Signing,
) -> None:
    house.signed()
    other = other_log(house)
    shutil.copytree(house.folder / "docs", other.folder / "docs")
    assert listed(other) == "signed"
    (file,) = (other.folder / "docs").rglob("*.jsonl")
    file.write_text(file.read_text().replace('["Strategy","OAuth"]', '["Strategy","OAuti"]'))
    done = other.call("decisions", "--json")
    assert '"verdict":"signed"' not in done.out, done.out
    assert "OAuti" not in done.out or "not_checked" in done.out


# 3. What changes later -----------------------------------------------------------------------


def test_a_new_number_leaves_what_was_signed(house: Signing) -> None:
    other = other_log(house)
    other.call("start", "Add a database", "--answer", "db_type=MySQL", "--accept", *BY)
    first = house.signed()
    second = house.signed("Add SSO", "--answer", "auth_strategy=OAuth", "--supersedes", first)
    (house.folder / "preflights.toml").write_text('project = "house"\n')
    shutil.copytree(other.folder / "docs", house.folder / "docs", dirs_exist_ok=True)
    assert house.call("sync", "--yes").code in (0, 1)
    done = house.call("admin", "renumber", "--json")
    assert (done.code, len(done.json["moves"])) == (0, 1), done
    assert {house.show(one)["number"] for one in (first, second)} == {2, 3}
    assert house.verdict(second) == "signed"
    acts = house.call("audit", "trail", "--session", first, "--json").out
    assert acts.count('"verdict":"signed"') == 1


# 4. What is kept -----------------------------------------------------------------------------


def listed(house: Signing) -> Any:
    (row,) = house.call("decisions", "--json").json["decisions"]
    return row["signature"] and row["signature"]["verdict"]


def test_what_was_found_is_kept_and_found_anew_where_signers_change(house: Signing) -> None:
    house.signed()
    kept = house.home / MEMORY
    assert kept.stat().st_mode & 0o077 == 0
    before = kept.read_bytes()
    assert (listed(house), kept.read_bytes()) == ("signed", before)
    signers = house.signers.read_text()
    house.signers.write_text(f"{signers}# one line more\n")
    assert listed(house) == "signed"
    assert kept.read_bytes() != before
    house.signers.write_text("")
    assert listed(house) == "unknown_signer"
    house.signers.write_text(signers)
    assert listed(house) == "signed"


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"\xff", b'{"format":"\xff"}'),
        f'{{"format":"{CACHE_FORMAT}","found":1}}'.encode(),
    ],
)
def test_a_memory_that_cannot_be_read_is_made_anew(house: Signing, content: bytes) -> None:
    house.signed()
    (house.home / MEMORY).write_bytes(content)
    assert listed(house) == "signed"
    assert json.loads((house.home / MEMORY).read_bytes())["format"] == CACHE_FORMAT


def test_a_repository_brings_no_memory(house: Signing) -> None:
    house.signed()
    house.signers.write_text(f"{ADA} {EVE.public}\n")
    assert listed(house) == "unknown_signer"
    forged = (house.home / MEMORY).read_text().replace("unknown_signer", "signed")
    (house.home / MEMORY).unlink()
    memory = house.folder / MEMORY
    memory.parent.mkdir(parents=True)
    memory.write_text(forged)
    (house.home / "link").symlink_to(house.folder / ".cache")
    for folder in (house.folder / ".cache", house.home / "link"):
        done = house.call("decisions", "--json", env={"XDG_CACHE_HOME": str(folder)})
        assert done.json["decisions"][0]["signature"]["verdict"] == "unknown_signer"
    assert memory.read_text() == forged


def test_nothing_is_kept_of_what_could_not_be_checked(house: Signing) -> None:
    house.signed()
    (house.home / MEMORY).unlink()
    house.signers.unlink()
    assert listed(house) == "not_checked"
    assert not (house.home / MEMORY).exists()


def test_a_damaged_session_stops_no_list_and_is_not_signed(house: Signing) -> None:
    id_ = house.signed()
    plain = house.decided("Add a database", key="db_type=MySQL")["session_id"]
    assert listed_all(house) == {id_: "signed", plain: None}
    (house.home / MEMORY).unlink()
    tampered(house, id_, flipped)
    assert listed_all(house)[id_] != "signed"
    assert house.call("audit", "verify").code == 4


def listed_all(house: Signing) -> dict[str, str | None]:
    done = house.call("decisions", "--json")
    assert done.code == 0, done.err
    rows = done.json["decisions"]
    return {row["session_id"]: (row["signature"] or {}).get("verdict") for row in rows}
