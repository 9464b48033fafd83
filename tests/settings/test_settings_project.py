"""What a repository is recognised by: its first commit, else its path, looked up once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from preflights_es.settings.load import load_settings
from preflights_es.settings.project import Repository

ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@preflights.test" for who in ("AUTHOR", "COMMITTER")},
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENV, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def made(folder: Path) -> Path:
    """A repository without a commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    return folder


def committed(folder: Path, message: str = "Begin") -> str:
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def identity(folder: Path) -> str:
    return Repository(folder / ".git", ENV).identity()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return made(tmp_path / "one" / "shop")


def test_a_repository_is_its_first_commit_in_every_clone_and_work_tree(
    shop: Path, tmp_path: Path
) -> None:
    first = committed(shop)
    committed(shop, "Go on")
    clone = tmp_path / "two" / "shop"
    git(tmp_path, "clone", "--quiet", "--template=", str(shop), str(clone))
    assert identity(shop) == identity(clone) == f"root:{first}"
    git(shop, "worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "feature")
    for folder in (shop, tmp_path / "tree"):
        repository = load_settings(folder, ENV, "log.db").repository
        assert repository is not None
        assert repository.identity() == f"root:{first}"


def test_histories_that_were_joined_have_the_smallest_first_commit(shop: Path) -> None:
    roots = [committed(shop)]
    for n in range(3):
        git(shop, "checkout", "--quiet", "--orphan", f"other-{n}")
        roots.append(committed(shop, f"Begin again {n}"))
        git(shop, "checkout", "--quiet", "main")
        git(shop, "merge", "--quiet", "--allow-unrelated-histories", f"other-{n}", "-m", "Join")
    assert identity(shop) == f"root:{min(roots)}"


def test_a_new_repository_is_its_path_and_stays_so(shop: Path, tmp_path: Path) -> None:
    found = identity(shop)
    assert found.startswith("path:")
    committed(shop)
    assert identity(shop) == found
    assert identity(made(tmp_path / "two" / "shop")) != found


def test_a_shallow_clone_is_its_path_and_stays_so(shop: Path, tmp_path: Path) -> None:
    committed(shop)
    committed(shop, "Go on")
    clone = tmp_path / "two" / "shop"
    git(tmp_path, "clone", "--quiet", "--depth=1", shop.as_uri(), str(clone))
    found = identity(clone)
    assert found.startswith("path:")
    git(clone, "fetch", "--quiet", "--unshallow")
    assert identity(clone) == found


def test_it_is_looked_up_once(shop: Path) -> None:
    first = committed(shop)
    assert identity(shop) == f"root:{first}"
    assert (shop / ".git" / "preflights" / "identity").read_text() == f"root:{first}\n"
    git(shop, "checkout", "--quiet", "--orphan", "other")
    committed(shop, "Begin again")
    assert identity(shop) == f"root:{first}"
    nowhere = {**ENV, "PATH": "/nowhere"}
    assert Repository(shop / ".git", nowhere).identity() == f"root:{first}"


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"x", b"root:", b"root:abc\n", b"root:" + b"g" * 40, b"path:" + b"0" * 40),
        *(b"root:" + b"0" * 40 + b"\n\n", b"root:" + b"0" * 41, b"\xff" * 45, b"0" * 1_000_000),
        b"root:" + b"A" * 40,
    ],
)
def test_what_is_remembered_in_another_form_is_not_believed(shop: Path, content: bytes) -> None:
    first = committed(shop)
    (shop / ".git" / "preflights").mkdir()
    (shop / ".git" / "preflights" / "identity").write_bytes(content)
    assert identity(shop) == f"root:{first}"
    assert (shop / ".git" / "preflights" / "identity").read_bytes() == content


@pytest.mark.parametrize("kind", ["fifo", "link", "dangling link", "folder", "device", "far"])
def test_what_is_no_file_there_is_neither_read_nor_written(
    shop: Path, tmp_path: Path, kind: str
) -> None:
    first = committed(shop)
    victim = tmp_path / "victim"
    if kind != "dangling link":
        victim.write_text(f"root:{'0' * 40}\n")
    folder = shop / ".git" / "preflights"
    place = folder / "identity"
    if kind == "far":
        (tmp_path / "far").mkdir()
        folder.symlink_to(tmp_path / "far")
    else:
        folder.mkdir()
    match kind:
        case "fifo":
            os.mkfifo(place)
        case "link" | "dangling link":
            place.symlink_to(victim)
        case "folder":
            place.mkdir()
        case "device":
            place.symlink_to("/dev/zero")
    assert identity(shop) == f"root:{first}"
    assert victim.exists() == (kind != "dangling link")
    assert kind != "far" or list((tmp_path / "far").iterdir()) == []


def test_replaced_commits_and_variables_of_a_hook_change_nothing(
    shop: Path, tmp_path: Path
) -> None:
    first = committed(shop)
    second = committed(shop, "Go on")
    git(shop, "replace", "--graft", second)
    other = made(tmp_path / "other")
    committed(other, "Other")
    env = {**ENV, "GIT_DIR": str(other / ".git")}
    assert Repository(shop / ".git", env).identity() == f"root:{first}"


def test_a_repository_is_asked_for_only_where_others_may_share_the_log(
    shop: Path, tmp_path: Path
) -> None:
    assert load_settings(shop, ENV).repository is None
    assert load_settings(shop, {**ENV, "PREFLIGHTS_PROJECT": "shop"}, "log.db").repository is None
    assert load_settings(tmp_path, ENV, "log.db").repository is None
    found = load_settings(shop, ENV, "log.db")
    assert found.repository is not None
    assert ENV["PATH"] not in repr(found), "no variable is shown with the settings"
    assert not (shop / ".git" / "preflights").exists()
