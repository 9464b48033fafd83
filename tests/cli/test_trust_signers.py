"""`trust` of a repository's signers: all of them on one screen, or none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from preflights_cli.trust import COLUMNS, ROWS_MAX
from preflights_es.settings.signing import FILE
from tests.cli.program import Project
from tests.cli.terminal import terminal

QUESTION = r"Do you trust this file\? \[y/N\]: "
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM94wZ6f0Z8tR2L0hQ0x5y6Cq3f0eGm7T5nQn8n0bq1Y"
NAMED = "SHA256:"
RSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAQQ=="


@pytest.fixture
def clone(house: Project, tmp_path: Path) -> Project:
    """A repository that brings signers; its person has a home alone."""
    (tmp_path / "home").mkdir()
    (house.folder / ".preflights").mkdir()
    return Project(house.folder, tmp_path / "home")


def brings(clone: Project, text: str, name: str = FILE) -> Path:
    file = clone.folder / name
    file.write_bytes(text.encode())
    return file


def listed(clone: Project) -> Any:
    return clone.call("trust", "--list", "--json").json["files"]


def test_each_signer_is_shown_with_options_kind_and_fingerprint(clone: Project) -> None:
    lines = (
        "# our team",
        f"ada@example.org {KEY} a comment",
        "",
        f'*@example.org,!eve@example.org cert-authority,namespaces="preflights-*" {KEY}',
        f'"bob b" valid-before="20300101" {RSA}\r',
    )
    file = brings(clone, "\n".join(lines))
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("y")
        assert "Trusted until the file changes." in t.rest()
        assert t.code() == 0
    assert f"{file} names whose signatures count:" in said
    assert "  line 2   ada@example.org ssh-ed25519 SHA256:" in said
    said = " ".join(said.split())
    who = '*@example.org,!eve@example.org cert-authority,namespaces="preflights-*" ssh-ed25519'
    assert f"line 4 {who}" in said
    assert 'line 5 "bob b" valid-before="20300101" ssh-rsa SHA256:' in said
    assert "comment" not in said
    assert listed(clone) == [{"path": str(file), "state": "trusted"}]
    assert "is trusted already" in clone.call("trust").out


def test_a_change_is_asked_about_again_and_trust_is_revoked(clone: Project) -> None:
    file = brings(clone, f"ada@example.org {KEY}\n")
    with terminal(clone, "trust") as t:
        t.expect(QUESTION)
        t.type("y")
        assert t.code() == 0
    brings(clone, f"ada@example.org {KEY}\neve@example.org {RSA}\n")
    assert [one["state"] for one in listed(clone)] == ["changed"]
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("n")
        assert t.code() == 1
    assert "The file changed since you trusted it." in said
    assert "eve@example.org" in said
    done = clone.call("trust", "--revoke")
    assert done.out == f"{file} is not trusted any more.\n"
    assert listed(clone) == []
    assert clone.call("trust", "--revoke").code == 1


def test_settings_and_signers_are_asked_about_one_after_the_other(clone: Project) -> None:
    (clone.folder / "preflights.toml").write_text('actor = "Eve"\n')
    brings(clone, f"ada@example.org {KEY}\n")
    with terminal(clone, "trust") as t:
        assert 'actor = "Eve"' in t.expect(QUESTION)
        t.type("y")
        assert "ada@example.org" in t.expect(QUESTION)
        t.type("y")
        assert t.code() == 0
    assert [one["state"] for one in listed(clone)] == ["trusted", "trusted"]


def test_no_agent_no_script_and_no_json_trusts_signers(clone: Project) -> None:
    brings(clone, f"ada@example.org {KEY}\n")
    for words in (("trust",), ("trust", "--json")):
        done = clone.call(*words, stdin=b"y\n")
        assert "allowed_signers is not trusted: only a person at a terminal can" in done.err
        assert done.code == 1
    with terminal(clone, "trust", env={"CLAUDECODE": "1"}) as t:
        assert "so an agent (claude-code) is at work" in " ".join(t.rest().split())
        assert t.code() == 1
    assert listed(clone) == []


@pytest.mark.parametrize(
    "line",
    [
        "ada@example.org",
        f"{KEY}",
        f"ada@example.org ssh-rsa {KEY.split()[1]}",
        "ada@example.org ssh-ed25519 notbase64!",
        f"ada@example.org no-such option {KEY}",
        f'ada@example.org namespaces="a {KEY}',
        f"a\u202edb@example.org {KEY}",
        f"ada@example.org\x1b[2J {KEY}",
        f"ada@example.org\x0b{KEY}",
        f"ada@example.org {KEY}\reve@example.org {KEY}",
        f"ada@example.org\0 {KEY}",
        f'"a"b {KEY}',
        f'bob@example.org namespaces="\\" {KEY} ,*" {KEY}',
    ],
)
def test_a_line_that_cannot_be_shown_is_not_trusted(clone: Project, line: str) -> None:
    brings(clone, f"ada@example.org {KEY}\n{line}\n")
    with terminal(clone, "trust") as t:
        said = " ".join(t.rest().split())
        assert t.code() == 2
    assert f"{FILE}, line 2: no allowed signer:" in said
    assert listed(clone) == []


def test_more_than_a_screen_is_refused_with_the_cure(clone: Project) -> None:
    for text in (
        f"a@example.org {KEY}\n" * (ROWS_MAX // 2 + 1),
        f"{'a' * COLUMNS * ROWS_MAX}@example.org {KEY}\n",
    ):
        brings(clone, text)
        with terminal(clone, "trust") as t:
            said = " ".join(t.rest().split())
            assert t.code() == 2
        assert f"rows of a terminal, at most {ROWS_MAX} can be trusted" in said
        assert "gpg.ssh.allowedSignersFile" in said
        assert len(said) < 500


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "large", "latin", "outer link"])
def test_an_odd_file_is_one_line(clone: Project, kind: str, tmp_path: Path) -> None:
    file = clone.folder / FILE
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "allowed_signers").write_text(f"ada@example.org {KEY}\n")
    match kind:
        case "link":
            file.symlink_to(tmp_path / "elsewhere" / "allowed_signers")
        case "outer link":
            file.parent.rmdir()
            file.parent.symlink_to(tmp_path / "elsewhere")
        case "fifo":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "large":
            file.write_text(f"ada@example.org {KEY}\n" * 20_000)
        case _:
            file.write_bytes(b"\xff\n")
    done = clone.call("trust")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert f"{FILE} cannot be read:" in done.err
