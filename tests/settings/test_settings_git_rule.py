"""Which folder is a repository: ours and git's own answer, over shapes of all kinds."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.errors import SettingsError
from preflights_es.settings import load
from preflights_es.settings.load import load_settings
from preflights_es.settings.places import git_folders
from tests.cli.program import Project
from tests.persons import Person, git_repository

OID: Final = "0123456789abcdef0123456789abcdef01234567"
STRANGER: Final = 12_345  # a user that this machine does not have


def _git(folder: Path, *words: str) -> str | None:
    """What git says of a folder, with no settings but its own; None where it refuses."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


def _head(text: str) -> Callable[[Path], object]:
    return lambda top: (git_repository(top) / ".git" / "HEAD").write_text(text)


def _linked_head(to: str) -> Callable[[Path], object]:
    def made(top: Path) -> None:
        (git_repository(top) / ".git" / "HEAD").unlink()
        (top / ".git" / "HEAD").symlink_to(to)

    return made


def _without(name: str) -> Callable[[Path], object]:
    def made(top: Path) -> None:
        path = git_repository(top) / ".git" / name
        path.unlink() if path.is_file() else path.rmdir()

    return made


def _file_at(name: str) -> Callable[[Path], object]:
    def made(top: Path) -> None:
        _without(name)(top)
        (top / ".git" / name).write_text("")

    return made


def _pointer(text: str) -> Callable[[Path], object]:
    """A `.git` file, beside a repository whose folder of git is called `apart`."""

    def made(top: Path) -> None:
        git_repository(top)
        (top / ".git").rename(top / "apart")
        (top / "empty").mkdir()
        (top / ".git").write_text(text.format(top=top))

    return made


def _common(text: str) -> Callable[[Path], object]:
    """A folder of git that holds a head, and says where the rest lies."""

    def made(top: Path) -> None:
        git_repository(top)
        tree = top / ".git" / "worktrees" / "a"
        tree.mkdir(parents=True)
        (tree / "HEAD").write_text("ref: refs/heads/a\n")
        (tree / "commondir").write_text(text)
        (top / "sub" / ".git").write_text(f"gitdir: {tree}\n")

    return made


def _linked(top: Path) -> None:
    git_repository(top)
    (top / ".git").rename(top / "apart")
    (top / ".git").symlink_to("apart")


def _settings_alone(top: Path) -> None:
    (top / ".git").mkdir()
    (top / ".git" / "config").write_text("[core]\n")


def _fifo(top: Path) -> None:
    os.mkfifo(top / ".git")


def _bare(top: Path) -> None:
    git_repository(top)
    for path in (top / ".git").iterdir():
        path.rename(top / path.name)
    (top / ".git").rmdir()


def _nested(inner: Callable[[Path], object]) -> Callable[[Path], object]:
    """A shape below a repository, which the search may reach or not."""

    def made(top: Path) -> None:
        git_repository(top)
        inner(top / "sub")

    return made


SHAPES: Final[Mapping[str, Callable[[Path], object]]] = {
    "nothing": lambda top: None,
    "a repository": git_repository,
    "by git init": lambda top: _git(top, "init", "--quiet"),
    "an empty folder": lambda top: (top / ".git").mkdir(),
    "a folder with a log of ours": lambda top: (top / ".git" / "preflights").mkdir(parents=True),
    "a folder with settings alone": _settings_alone,
    "no head": _without("HEAD"),
    "no objects": _without("objects"),
    "no refs": _without("refs"),
    "a file as objects": _file_at("objects"),
    "a file as refs": _file_at("refs"),
    "an empty head": _head(""),
    "a head of words": _head("hello\n"),
    "a head with no blank": _head("ref:refs/heads/main"),
    "a head with many blanks": _head("ref: \t\n refs/heads/main"),
    "a head outside of refs": _head("ref: heads/main\n"),
    "a detached head": _head(f"{OID}\n"),
    "a detached head in capitals": _head(f"{OID.upper()}\n"),
    "a detached head of sha256": _head(f"{OID}{OID[:24]}\n"),
    "a head that is too short": _head(f"{OID[:39]}\n"),
    "a head with more behind it": _head(f"{OID} and more\n"),
    "a link as head": _linked_head("refs/heads/main"),
    "a link as head that leads out": _linked_head("../HEAD"),
    "a file that points to it": _pointer("gitdir: apart\n"),
    "a file that points to it by its whole path": _pointer("gitdir: {top}/apart"),
    "a file with Windows' line end": _pointer("gitdir: apart\r\n"),
    "a file without a blank": _pointer("gitdir:apart\n"),
    "a file with two blanks": _pointer("gitdir:  apart\n"),
    "a file with a blank at the end": _pointer("gitdir: apart \n"),
    "a file that points to an empty folder": _pointer("gitdir: empty\n"),
    "a file that points nowhere": _pointer("gitdir: nowhere\n"),
    "an empty file": _pointer(""),
    "a file of words": _pointer("hello\n"),
    "a file without a path": _pointer("gitdir: "),
    "a link to a folder of git": _linked,
    "a link to nowhere": lambda top: (top / ".git").symlink_to("nowhere"),
    "a pipe": _fifo,
    "a linked work tree": _common("../..\n"),
    "a work tree whose common folder is not there": _common("../../nowhere\n"),
    "a work tree whose common folder is no folder of git": _common("..\n"),
    "a work tree with an empty word for it": _common(""),
    "an empty folder in a repository": _nested(lambda top: (top / ".git").mkdir()),
    "a file of words in a repository": _nested(lambda top: (top / ".git").write_text("hello\n")),
    "a file to nowhere in a repository": _nested(
        lambda top: (top / ".git").write_text("gitdir: nowhere\n")
    ),
    "a repository in a repository": _nested(git_repository),
    "a bare repository": _bare,
    "a bare repository in a repository": _nested(_bare),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_repository_is_what_git_calls_one(tmp_path: Path, shape: str) -> None:
    top = tmp_path / "top"
    (top / "sub" / "deeper").mkdir(parents=True)
    SHAPES[shape](top)
    for cwd in (top, top / "sub", top / "sub" / "deeper"):
        said = _git(cwd, "rev-parse", "--show-toplevel", "--git-common-dir")
        tree, common = said.splitlines() if said else ("", "")
        expected = (Path(tree), (cwd / common).resolve()) if said else None
        found = git_folders(cwd)
        assert (found and (found[0], found[1].resolve())) == expected, cwd


def test_an_empty_git_folder_in_a_shared_folder_takes_no_log_and_no_settings(
    ada: Person, tmp_path: Path
) -> None:
    shutil.rmtree(ada.folder / ".git")
    (tmp_path / ".git").mkdir()
    (tmp_path / "preflights.toml").write_text('project = "mallory"\n')
    found = ada.loaded()
    assert found.root == ada.folder
    assert str(ada.home) in found.database
    assert found.project != "mallory"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("owned", [".", ".git"])
def test_a_repository_of_another_user_is_refused_as_git_refuses_it(ada: Person, owned: str) -> None:
    os.chown(ada.folder / owned, STRANGER, STRANGER)
    assert _git(ada.folder, "rev-parse", "--git-dir") is None
    with pytest.raises(SettingsError, match="is a repository of another user") as caught:
        load_settings(ada.folder, ada.env())
    assert f"git config --global --add safe.directory {ada.folder}" in str(caught.value)


@pytest.fixture
def ada(tmp_path: Path) -> Person:
    """Whose repository it is."""
    return Person(tmp_path)


# What git's own files say --------------------------------------------------------------------


def repository(folder: Path, home: Path) -> Project:
    """A new one, with a commit."""
    made = Project(git_repository(folder), home)
    made.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-mx")
    return made


@pytest.fixture
def victim(tmp_path: Path) -> Project:
    """Another repository on this machine."""
    return repository(tmp_path / "victim", tmp_path)


def log_of(folder: Path) -> Path:
    """Where the log of a folder lies, unless it is named."""
    return Path(load.load_settings(folder, {"GIT_AUTHOR_NAME": "Ada"}).database)


def test_every_kind_of_work_tree_has_its_log(victim: Project, tmp_path: Path) -> None:
    own = victim.folder / ".git" / "preflights" / "log.db"
    victim.git("worktree", "add", "-q", "../tree")
    victim.git("worktree", "add", "-q", "inside")
    assert log_of(victim.folder) == log_of(tmp_path / "tree") == log_of(victim.folder / "inside")
    assert log_of(tmp_path / "tree") == own
    victim.git("clone", "-q", "--separate-git-dir=../apart", ".", "../clone")
    assert log_of(tmp_path / "clone") == tmp_path / "apart" / "preflights" / "log.db"
    victim.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../clone", "sub")
    assert log_of(victim.folder / "sub").parent.parent == victim.folder / ".git/modules/sub"
    victim.git("clone", "-q", "--bare", ".", "../bare.git")
    Project(tmp_path / "bare.git", tmp_path).git("worktree", "add", "-q", "../third", "HEAD")
    assert log_of(tmp_path / "third") == tmp_path / "bare.git" / "preflights" / "log.db"


@pytest.mark.parametrize("kind", ["pointer", "chain", "link"])
def test_a_git_folder_that_is_another_repositorys_is_refused(
    victim: Project, tmp_path: Path, kind: str
) -> None:
    victim.git("worktree", "add", "-q", "../tree")
    clone = tmp_path / "clone"
    clone.mkdir()
    match kind:
        case "pointer":
            (clone / ".git").write_text("gitdir: ../victim/.git\n")
        case "chain":
            (clone / ".git").write_text("gitdir: real\n")
            (clone / "real").mkdir()
            (clone / "real" / "HEAD").write_text("ref: refs/heads/main\n")
            (clone / "real" / "commondir").write_text("../../victim/.git\n")
        case _:
            (clone / ".git").symlink_to(victim.folder / ".git")
    with pytest.raises(SettingsError, match=r"points at another repository.*--db"):
        log_of(clone)
    (clone / ".git").unlink()
    (clone / ".git").write_bytes((tmp_path / "tree" / ".git").read_bytes())
    with pytest.raises(SettingsError, match="git worktree repair"):
        log_of(clone)
    assert load.load_settings(clone, {}, "named.db").database == "named.db"


@pytest.mark.parametrize("name", ["preflights", "preflights/log.db"])
def test_a_log_that_is_a_link_is_refused(victim: Project, tmp_path: Path, name: str) -> None:
    path = victim.folder / ".git" / name
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match=r"may lead to any file: .* remove it: rm /"):
        log_of(victim.folder)
    for env, said in (({}, str(path)), ({"PREFLIGHTS_DATABASE_URL": str(path)}, None)):
        named = load.load_settings(victim.folder, env, said)
        assert named.database == str(path), "as the message advises"
        assert path not in (named.beside, *named.beside.parents)


@pytest.mark.parametrize("kind", ["bare", "submodule"])
def test_a_git_file_that_points_at_no_work_tree_of_its_own_is_refused(
    victim: Project, tmp_path: Path, kind: str
) -> None:
    match kind:
        case "bare":
            victim.git("clone", "-q", "--bare", ".", "../target")
        case _:
            victim.git("clone", "-q", "--separate-git-dir=../target", ".", "../other")
            victim.git("config", "--file", "../target/config", "core.worktree", "../other")
    (clone := tmp_path / "clone").mkdir()
    (clone / ".git").write_text("gitdir: ../target\n")
    with pytest.raises(SettingsError, match="points at another repository"):
        log_of(clone)


def test_another_repositorys_git_folder_names_no_project_here(
    victim: Project, tmp_path: Path
) -> None:
    (clone := tmp_path / "clone").mkdir()
    (clone / ".git").write_text("gitdir: ../victim/.git\n")
    found = load.load_settings(clone, {}, "named.db")
    assert found.git_folder is None
    assert found.project.startswith("clone-")
    assert not (victim.folder / ".git" / "preflights").exists()
