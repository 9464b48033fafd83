"""`audit verify` in a clone without a log: what its session files prove."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.store import jsonl
from tests.cli.clones import SESSIONS, cloned, committed, session_file
from tests.cli.compiler.planning import documented, planned
from tests.cli.program import Project
from tests.cli.signing import LOGIN, Team
from tests.store.given import resealed

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture
def team(template: Path, home: Path, tmp_path: Path) -> Team:
    """A signed decision, and two without a signature; an agent's proposal."""
    made = Team(template, home, tmp_path)
    git = ("config", "--global", "gpg.ssh.allowedSignersFile", str(made.home / "signers"))
    made.git(*git)
    (made.home / "signers").write_text(made.line())
    made.accept("PostgreSQL")
    made.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    documented(made)
    plan = planned(made, "project")["artifact"]["id"]
    assert made.call("approve", plan, "--by", "Ada").code == 0
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again")
    made.call("start", LOGIN, *words, env={"CLAUDECODE": "1"})
    return made


@pytest.fixture
def clone(team: Team, tmp_path: Path) -> Project:
    committed(team)
    return cloned(team, tmp_path / "clone")


def test_signatures_of_a_clone_are_counted_and_a_damaged_file_is_named(clone: Project) -> None:
    done = clone.call("audit", "verify")
    assert (done.code, done.is_safe()) == (0, True), done
    first, *others = done.out.splitlines()
    assert first.startswith("4 session files, ")
    assert first.endswith(" events: every chain holds.")
    assert others == ["1 act is signed by 1 signer."]
    found = clone.call("audit", "verify", "--json").json
    assert (found["signatures"]["signed"], found["files"]["sessions"]) == (1, 4)
    assert found["sessions"] == 0
    assert not clone.log.exists() or clone.call("sessions", "--json").json["sessions"]
    done = clone.call("audit", "verify", env={"PREFLIGHTS_PROJECT": "elsewhere"})
    assert done.code == 0
    assert done.out == "0 sessions: nothing was verified, since nothing is recorded here.\n"
    files = (clone.folder / SESSIONS).glob("*.jsonl")
    file = next(one for one in files if b"Ada" in one.read_bytes())
    file.write_bytes(file.read_bytes().replace(b"Ada", b"Eve", 1))
    done = clone.call("audit", "verify")
    assert done.code == 4
    assert "events: 1 damaged.\n" in done.out
    assert f"{SESSIONS}/{file.name}: " in done.out
    (hurt,) = clone.call("audit", "verify", "--json").json["files"]["damage"]
    assert hurt["file"] == f"{SESSIONS}/{file.name}"


def test_one_that_does_not_verify_is_damage(team: Team, tmp_path: Path) -> None:
    (signed,) = [row for row in rows(team) if row["signature"]]
    file = session_file(team, str(signed["session_id"]))
    stored = [*jsonl.stored(file.read_bytes().splitlines(keepends=True), "it")]
    act = next(at for at, one in enumerate(stored) if b'"sshsig"' in (one.data or b""))
    raw = (stored[act].data or b"").replace(b'"name":"Ada"', b'"name":"Eve"')
    stored[act] = replace(stored[act], data=raw)
    file.write_bytes(jsonl.encode_event_file(resealed(stored)))
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    done = clone.call("audit", "verify")
    assert done.code == 4
    assert ": its signature does not verify: " in done.out
    assert "\n1 signature does not verify.\n" in done.out


def test_where_the_log_has_sessions_nothing_is_said_of_it(team: Team) -> None:
    assert "files" not in team.call("audit", "verify", "--json").json


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("empty", "it holds no events"),
        ("renamed", "its name says another"),
        ("moved", "its place is"),
    ],
)
def test_a_file_that_does_not_belong_there_is_named(clone: Project, kind: str, said: str) -> None:
    folder = clone.folder / SESSIONS
    file, other = next(folder.glob("*.jsonl")), folder / f"{'0' * 12}.jsonl"
    if kind == "empty":
        other.write_bytes(b"")
    elif kind == "renamed":
        file.rename(other)
    else:
        moved = clone.folder / ".preflights" / "moved" / ".sessions" / file.name
        moved.parent.mkdir(parents=True)
        file.rename(moved)
    done = clone.call("audit", "verify")
    assert (done.code, done.is_safe()) == (4, True), done
    assert "events: 1 damaged.\n" in done.out
    assert said in done.out


def rows(team: Team) -> list[dict[str, object]]:
    found: list[dict[str, object]] = team.call("decisions", "--all", "--json").json["decisions"]
    return found
