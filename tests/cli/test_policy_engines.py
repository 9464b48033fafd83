"""Signed decisions under the policy, from the acceptance to the erasure, in both engines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.clones import committed
from tests.cli.program import Result
from tests.cli.signing import LOGIN, Team

pytestmark = pytest.mark.needs("ssh-keygen")


class OnServer(Team):
    """A team whose log lies in a database of any engine."""

    url = ""

    def call(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        where = {"PREFLIGHTS_DATABASE_URL": self.url} if self.url else {}
        return super().call(*args, stdin=stdin, env={**where, **(env or {})})

    def verified(self) -> str:
        """What `audit verify` says."""
        done = self.call("audit", "verify")
        assert (done.code, done.is_safe()) == (0, True), done
        return done.out


@pytest.fixture(params=["sqlite", "postgresql"])
def team(request: pytest.FixtureRequest, template: Path, home: Path, tmp_path: Path) -> OnServer:
    made = OnServer(template, home, tmp_path)
    is_file = request.param == "sqlite"
    made.url = f"sqlite:///{tmp_path}/log.db" if is_file else request.getfixturevalue("postgres")
    made.call("admin", "db", "upgrade")
    made.has_policy()
    return made


def signatures(team: OnServer) -> dict[str, Any]:
    """By session: the verdict on its signature, and how it counts."""
    rows = team.call("decisions", "--all", "--json").json["decisions"]
    return {
        row["session_id"]: ((row["signature"] or {}).get("verdict"), row["policy"]) for row in rows
    }


def test_signed_decisions_live_under_the_policy(team: OnServer) -> None:
    kept = team.accept("PostgreSQL", "--path", "src/**", "--hold", "deny")["session_id"]
    committed(team)
    team.git("branch", "base")
    claimed = team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)["session_id"]
    other = team.accept("OAuth", intention=LOGIN)["session_id"]
    expected = {kept: ("signed", "stays"), claimed: (None, "claimed"), other: ("signed", "signed")}
    assert signatures(team) == expected
    prompt = team.prompt()
    assert "PostgreSQL (ADR-1, signed, stays" in prompt
    assert "OAuth (ADR-3, signed)" in prompt
    assert "MySQL" not in prompt
    assert "left out: 1 decision without a signature that counts" in team.call("prompt").err
    committed(team)
    judged = team.call("check", "--base", "base", "--json")
    (finding,) = [one for one in judged.json["findings"] if one["level"] == "error"]
    assert (judged.code, finding["rule"]) == (1, "unsigned-acceptance")
    assert claimed[-12:] in finding["file"]
    assert "2 acts are signed by 1 signer.\n" in team.verified()
    for one in (kept, claimed, other):
        assert "identical" in team.call("replay", one).out
    assert team.call("admin", "projections", "rebuild").code == 0
    assert signatures(team) == expected
    newest = team.accept("MongoDB", "--supersedes", "ADR-0002")["session_id"]
    assert signatures(team)[kept] == ("signed", "signed"), "a signed one took its place"
    assert {word for word in ("PostgreSQL", "MySQL", "MongoDB") if word in team.prompt()} == {
        "MongoDB"
    }
    assert "3 acts are signed by 1 signer.\n" in team.verified()
    assert signatures(team)[newest] == ("signed", "signed")


def test_an_erasure_leaves_the_others_and_their_signatures(team: OnServer) -> None:
    gone = team.accept("PostgreSQL")["session_id"]
    stays = team.accept("OAuth", intention=LOGIN)["session_id"]
    done = team.call("admin", "erase", gone, "--yes", "--sign")
    assert done.code == 0, done.err
    assert "2 acts are signed by 1 signer.\n" in team.verified(), "the acceptance, the erasure"
    assert team.show(gone)["signature"] is None
    assert signatures(team) == {stays: ("signed", "signed")}
    trail = team.call("audit", "trail", "--session", gone, "--json").out
    assert trail.count('"verdict":"signed"') == 1
    assert "PostgreSQL" not in team.prompt()
    assert team.call("replay", stays).code == 0


def test_an_export_keeps_what_was_signed_in_the_other_engine(
    team: OnServer, tmp_path: Path
) -> None:
    old = team.accept("PostgreSQL")["session_id"]
    claimed = team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)["session_id"]
    newest = team.accept("MongoDB", "--supersedes", "ADR-0002")["session_id"]
    before, prompt = signatures(team), team.prompt()
    file = tmp_path / "all.jsonl"
    assert team.call("admin", "export", "--all", "-o", str(file)).code == 0
    team.url = f"sqlite:///{tmp_path}/another.db"
    done = team.call("admin", "import", str(file))
    assert done.code == 0, done.err
    assert signatures(team) == before
    assert before == {
        old: ("signed", "signed"),
        claimed: (None, "claimed"),
        newest: ("signed", "signed"),
    }
    assert team.prompt() == prompt
    assert "2 acts are signed by 1 signer.\n" in team.verified()
    for one in before:
        assert "identical" in team.call("replay", one).out
