"""`audit verify` checks every signature anew, and counts what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.store import jsonl
from tests.cli.signing import LOGIN, Team
from tests.store.given import resealed

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture
def team(template: Path, home: Path, tmp_path: Path) -> Team:
    made = Team(template, home, tmp_path)
    made.lists(made.line())
    return made


def verified(team: Team, *of: str) -> tuple[int, Any, str]:
    """The exit code, the JSON, and the text."""
    done, told = team.call("audit", "verify", "--json", *of), team.call("audit", "verify", *of)
    assert done.code == told.code
    assert told.is_safe()
    return done.code, done.json, told.out


def test_signatures_and_signers_are_counted_where_there_are_any(team: Team) -> None:
    team.accept("PostgreSQL", sign=False)
    code, shape, said = verified(team)
    assert (code, "signatures" in shape, "signed" in said) == (0, False, False)
    id_ = team.accept("PostgreSQL")["session_id"]
    assert team.call("admin", "erase", id_, "--yes", "--sign").code == 0
    code, _, said = verified(team)
    assert code == 0
    assert "1 act is signed by 1 signer.\n" in said, "the erasure"


def test_signatures_and_signers_are_counted(team: Team) -> None:
    team.accept("PostgreSQL")
    team.accept("OAuth", intention=LOGIN)
    code, shape, said = verified(team)
    assert code == 0
    assert "2 acts are signed by 1 signer.\n" in said
    found = shape["signatures"]
    assert (found["signed"], found["signers"], found["unknown"]) == (2, ["ada@example.org"], 0)
    team.own.write_text(team.own.read_text().replace("home/ada", "home/eve"))
    team.key("eve")
    team.accept("Session Cookies", "--supersedes", "ADR-0002", intention=LOGIN)
    code, shape, said = verified(team)
    assert code == 0
    assert "2 acts are signed by 1 signer, 1 by a key that is not among your signers.\n" in said
    assert shape["signatures"]["keys"][0].startswith("SHA256:")
    team.lists("")
    assert "3 acts are signed by keys that are not among your signers.\n" in verified(team)[2]


def test_one_that_does_not_verify_is_damage_though_its_chain_holds(team: Team) -> None:
    """Another proposal is written into the signature, and the chain is computed anew."""
    id_ = team.accept("PostgreSQL")["session_id"]
    team.call("decisions")  # the memory knows it as signed
    exported = team.call("admin", "export", id_).out.encode().splitlines(keepends=True)
    events = [
        replace(one, data=(one.data or b"").replace(b'"PostgreSQL"', b'"MySQL"'))
        for one in jsonl.stored(exported, "it")
    ]
    forged = jsonl.encode_event_file(resealed(events))
    copy = ("--db", "copy.db")
    assert team.call("admin", "import", "-", *copy, stdin=forged).code == 0
    code, shape, said = verified(team, *copy)
    assert code == 4
    assert any("signature does not verify" in one["found"] for one in shape["broken"]), said
    assert "its signature does not verify: " in said


def test_one_that_was_not_checked_is_said_and_nothing_is_taken_from_the_memory(
    team: Team, tmp_path: Path
) -> None:
    team.accept("PostgreSQL")
    done = team.call("audit", "verify", env={"PATH": str(tmp_path)})
    assert done.code == 0
    assert "1 signature was not checked: ssh-keygen" in done.out
    shape = team.call("audit", "verify", "--json", env={"PATH": str(tmp_path)}).json
    assert (shape["signatures"]["signed"], shape["signatures"]["unchecked"]) == (0, 1)
    team.call("decisions")
    (memory,) = team.home.rglob("signatures.json")
    kept = json.loads(memory.read_bytes())
    for acts in kept["found"].values():
        for act in acts:
            act["signed"]["by"] = "mallory@example.org"
    memory.write_text(json.dumps(kept))
    assert "mallory" in team.call("decisions", "--json").out, "a list is as safe as the account"
    assert verified(team)[1]["signatures"]["signers"] == ["ada@example.org"]
