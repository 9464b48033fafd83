"""What git is asked, of repositories that mean harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from preflights_es.system import git

SAFE = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "house"
    subprocess.run(["git", "init", "--quiet", "--template=", folder], check=True)
    return folder


def configured(repository: Path, key: str, value: str) -> None:
    subprocess.run(["git", "config", key, value], cwd=repository, check=True)


def committed(repository: Path, *words: str) -> str:
    """A commit without a tree that matters; its hash."""
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@preflights.test")
    words = ("commit", "--quiet", "--allow-empty", "--message", "Begin", *words)
    subprocess.run(["git", *person, *words], cwd=repository, check=True)
    said = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True
    )
    return said.stdout.strip()


def program(path: Path, mark: Path) -> Path:
    """One that leaves a mark, and says a name."""
    path.write_text(f"#!/bin/sh\necho harm >> '{mark}'\necho harm\n")
    path.chmod(0o755)
    return path


def test_git_says_what_it_is_asked(repository: Path) -> None:
    configured(repository, "user.name", "Ada")
    assert git.read_git_text(("config", "user.name"), repository, SAFE) == "Ada"
    assert git.read_git_text(("config", "no.such"), repository, SAFE) is None


def test_where_there_is_no_git_it_says_nothing(repository: Path, tmp_path: Path) -> None:
    assert git.read_git_text(("config", "user.name"), repository, {"PATH": str(tmp_path)}) is None
    assert git.read_git_text(("config", "user.name"), tmp_path / "gone", SAFE) is None


def test_calls_of_git_share_one_limit(repository: Path) -> None:
    words = ("rev-parse", "--git-dir")
    with git.git_limited(0):
        assert git.read_git_text(words, repository, SAFE) is None
    with git.git_limited(60):
        assert git.read_git_text(words, repository, SAFE) == ".git"


@pytest.mark.parametrize("path", [".", "", "bin", ".:", "/nowhere:."])
def test_a_program_of_the_repository_called_git_is_not_run(
    repository: Path, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(repository, "user.name", "Ada")
    (repository / "bin").mkdir()
    for folder in (repository, repository / "bin"):
        program(folder / "git", tmp_path / "mark")
    monkeypatch.chdir(repository)
    assert git.read_git_text(("config", "user.name"), repository, {**SAFE, "PATH": path}) is None
    both = {**SAFE, "PATH": f"{path}{os.pathsep}{SAFE['PATH']}"}
    assert git.read_git_text(("config", "user.name"), repository, both) == "Ada"
    assert not (tmp_path / "mark").exists()


def test_variables_that_mislead_git_are_not_handed_on(repository: Path, tmp_path: Path) -> None:
    configured(repository, "user.name", "Ada")
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", "--template=", other], check=True)
    configured(other, "user.name", "Eve")
    env = {**SAFE, "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}
    assert git.read_git_text(("config", "user.name"), repository, env) == "Ada"


def test_a_configuration_that_fetches_runs_nothing(repository: Path, tmp_path: Path) -> None:
    first = committed(repository)
    committed(repository)
    evil = program(tmp_path / "evil", tmp_path / "mark")
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{evil}",
        "remote.origin.uploadpack": str(evil),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "core.sshCommand": str(evil),
        "core.fsmonitor": str(evil),
        "core.pager": str(evil),
        "pager.rev-list": str(evil),
        "alias.rev-list": f"!{evil}",
        "core.hooksPath": str(tmp_path),
    }.items():
        configured(repository, key, value)
    (repository / ".git" / "objects" / first[:2] / first[2:]).unlink()
    asked = ("rev-list", "--max-parents=0", "HEAD")
    assert git.read_git_text(asked, repository, SAFE) is None
    assert not (tmp_path / "mark").exists()


def test_git_reads_nothing_of_ours() -> None:
    """What is typed at a terminal, or piped in, is the command's."""
    code = (
        "import sys, os\nfrom pathlib import Path\nfrom preflights_es.system import git\n"
        "git.read_git_text(('hash-object', '--stdin'), Path.cwd(), os.environ)\n"
        "print(sys.stdin.read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="mine", capture_output=True, text=True, check=True
    )
    assert done.stdout == "mine\n"
