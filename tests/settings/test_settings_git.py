"""A log in git's folder is the repository's own: no link and no pointer leads to another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.kernel.errors import SettingsError
from preflights_es.settings import load
from tests.cli.program import Project
from tests.persons import git_repository


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
