"""A file is written whole or not at all, under the name that was asked for, and through no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from preflights_es.kernel.text import is_git
from preflights_es.system.files import Folder, Unreadable, open_folder_below
from tests.each import each


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    (made / "precious").write_text("precious")
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    return made


def write(root: Path, name: str, content: bytes, *, replacing: bool = False) -> None:
    with open_folder_below(root) as folder, folder.new(name, replacing=replacing) as file:
        file.write(content)


def is_untouched(outside: Path) -> bool:
    return [p.name for p in outside.iterdir()] == ["precious"] and (
        (outside / "precious").read_text() == "precious"
    )


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


# 1. Files ------------------------------------------------------------------------------------


def test_a_file_has_its_name_when_it_is_whole(root: Path) -> None:
    with open_folder_below(root) as folder, folder.new("a") as file:
        file.write(b"one")
        assert not (root / "a").exists()
    assert [(p.name, p.read_bytes()) for p in root.iterdir()] == [("a", b"one")]


@pytest.mark.parametrize("replacing", [False, True])
def test_an_error_leaves_the_folder_as_it_was(root: Path, *, replacing: bool) -> None:
    with (
        pytest.raises(KeyError),
        open_folder_below(root) as folder,
        folder.new("a", replacing=replacing),
    ):
        raise KeyError
    assert [*root.iterdir()] == []


def test_a_name_that_is_taken_is_refused_unless_it_is_replaced(root: Path, outside: Path) -> None:
    (root / "file").write_text("theirs")
    (root / "link").symlink_to(outside / "precious")
    (root / "dangling").symlink_to(outside / "missing")
    os.mkfifo(root / "fifo")
    for name in ("file", "link", "dangling", "fifo"):
        with pytest.raises(FileExistsError):
            write(root, name, b"ours")
    assert (root / "file").read_text() == "theirs"
    for name in ("file", "link", "dangling", "fifo"):
        write(root, name, b"ours", replacing=True)
        assert stat.S_ISREG((root / name).lstat().st_mode)
        assert (root / name).read_bytes() == b"ours"
    assert is_untouched(outside)
    assert len([*root.iterdir()]) == 4


def test_a_file_that_has_a_second_name_keeps_its_content_there(root: Path, outside: Path) -> None:
    os.link(outside / "precious", root / "a")
    write(root, "a", b"ours", replacing=True)
    assert (root / "a").read_bytes() == b"ours"
    assert is_untouched(outside)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_rights_the_umask_leaves(root: Path, mask: int, mode: int) -> None:
    with umask(mask):
        write(root, "a", b"one")
    assert stat.S_IMODE((root / "a").stat().st_mode) == mode


def test_a_replaced_file_keeps_its_permissions_and_gives_strangers_none(root: Path) -> None:
    write(root, "a", b"one")
    for mode in (0o600, 0o644, 0o4755):
        (root / "a").chmod(mode)
        write(root, "a", b"two", replacing=True)
        assert stat.S_IMODE((root / "a").stat().st_mode) == mode & 0o777


def test_a_file_can_be_private_from_its_first_byte(root: Path) -> None:
    with umask(0), open_folder_below(root) as folder, folder.new("a", mode=0o600) as file:
        file.write(b"one")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in root.iterdir()]
    assert modes == [0o600]
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o600


def test_temporary_names_are_drawn_anew_each_time(root: Path) -> None:
    names: set[str] = set()
    for _ in range(20):
        with open_folder_below(root) as folder, folder.new("a", replacing=True):
            names |= {path.name for path in root.iterdir() if path.name != "a"}
    assert len(names) == 20
    assert all(len(name.removeprefix(".a.").removesuffix(".tmp")) == 16 for name in names)


def test_a_long_name_is_no_trouble(root: Path) -> None:
    for name in ("x" * 255, "é" * 127, "🛫" * 63):
        write(root, name, b"one")
        assert (root / name).read_bytes() == b"one"


@each("name", ["", ".", "..", "a/b", "/etc/passwd", "../a"])
def test_what_is_no_name_in_the_folder_is_refused(root: Path, name: str) -> None:
    with open_folder_below(root) as folder:
        for act in (folder.lies, folder.remove, folder.below):
            with pytest.raises(OSError, match="no name of a file"):
                act(name)
        with pytest.raises(OSError, match="no name of a file"):
            write(root, name, b"one")
    assert [*root.parent.iterdir()] == [root]


def test_a_path_lies_in_a_folder_that_only_its_owner_enters(root: Path) -> None:
    with open_folder_below(root) as folder, folder.new_path("a.db") as path:
        path.write_bytes(b"one")
        path.with_name("new-journal").write_bytes(b"left")
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert not (root / "a.db").exists()
    assert [(p.name, p.read_bytes()) for p in root.iterdir()] == [("a.db", b"one")]


def test_a_path_at_which_no_file_was_made_is_an_error(root: Path, outside: Path) -> None:
    with pytest.raises(FileNotFoundError), open_folder_below(root) as folder, folder.new_path("a"):
        pass
    with (
        pytest.raises(OSError, match=r"."),
        open_folder_below(root) as folder,
        folder.new_path("a") as path,
    ):
        path.symlink_to(outside / "precious")
    assert [*root.iterdir()] == []


def test_a_name_that_was_taken_meanwhile_is_kept(root: Path) -> None:
    with open_folder_below(root) as folder:
        made = folder.new("a")
        made.__enter__().write(b"ours")
        (root / "a").write_text("theirs")
        with pytest.raises(FileExistsError):
            made.__exit__(None, None, None)
    with (
        pytest.raises(FileExistsError),
        open_folder_below(root) as folder,
        folder.new_path("a") as path,
    ):
        path.write_bytes(b"ours")
    assert [(p.name, p.read_text()) for p in root.iterdir()] == [("a", "theirs")]


# 2. Folders ----------------------------------------------------------------------------------


def test_missing_folders_are_made_when_asked_for(root: Path) -> None:
    with pytest.raises(FileNotFoundError), open_folder_below(root, ("a", "b")):
        pass
    with open_folder_below(root, ("a", "b"), makes=True) as folder, folder.new("c") as file:
        file.write(b"one")
    assert (root / "a" / "b" / "c").read_bytes() == b"one"


@pytest.mark.parametrize("parts", [("link",), ("link", "deep"), ("real", "link")])
@pytest.mark.parametrize("makes", [False, True])
def test_a_link_among_the_folders_is_not_followed(
    root: Path, outside: Path, parts: tuple[str, ...], *, makes: bool
) -> None:
    (root / "real").mkdir()
    (root / "link").symlink_to(outside)
    (root / "real" / "link").symlink_to(outside)
    with pytest.raises(OSError, match=r"."), open_folder_below(root, parts, makes=makes):
        pass
    assert is_untouched(outside)


def test_a_dangling_link_is_no_missing_folder(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside / "new")
    with pytest.raises(OSError, match=r"."), open_folder_below(root, ("link",), makes=True):
        pass
    assert is_untouched(outside)


def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(root: Path, outside: Path) -> None:
    (root / "a").mkdir()
    with open_folder_below(root, ("a",)) as folder:
        (root / "a").rename(root / "b")
        (root / "a").symlink_to(outside)
        with folder.new("precious", replacing=True) as file:
            file.write(b"ours")
        folder.remove("precious")
        assert folder.lies("precious") is None
    assert is_untouched(outside)


def test_paths_stand_in_where_files_have_no_names_from_a_folder(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    with Folder(root, None) as folder:
        with folder.below("a", makes=True) as below, below.new("b") as file:
            file.write(b"one")
        assert (folder.names().count("a"), below.content("b", 3)) == (1, b"one")
        with pytest.raises(NotADirectoryError):
            folder.below("link")
        with pytest.raises(FileNotFoundError):
            folder.below("missing")
        with folder.new_path("c") as path:
            path.write_bytes(b"two")
        folder.move("c", folder, "d")
    assert (root / "d").read_bytes() == b"two"
    assert is_untouched(outside)


# 3. Looking, moving, removing ----------------------------------------------------------------


def test_only_a_regular_file_is_read_and_moved(root: Path, outside: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "link").symlink_to(outside / "precious")
    (root / "folder").mkdir()
    with open_folder_below(root) as folder:
        for name in ("fifo", "link", "folder"):
            with pytest.raises(Unreadable, match="no regular file"):
                folder.content(name, 100)
            with pytest.raises(OSError, match="no regular file"):
                folder.move(name, folder, "new")
    assert is_untouched(outside)


def test_a_file_is_moved_to_a_free_name_only(root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    with open_folder_below(root) as folder:
        with pytest.raises(FileExistsError):
            folder.move("a", folder, "b")
        folder.move("a", folder, "c")
    assert sorted((p.name, p.read_text()) for p in root.iterdir()) == [("b", "b"), ("c", "a")]


def test_only_regular_files_of_the_pattern_are_tidied(root: Path, outside: Path) -> None:
    (root / ".a.md.0123456789abcdef.tmp").write_text("half")
    (root / ".a.md.99999.tmp").write_text("half, of an older version")
    (root / ".a.md.11.tmp").symlink_to(outside / "precious")
    (root / ".a.md.12.tmp").mkdir()
    os.mkfifo(root / ".a.md.13.tmp")
    for name in (".a.md.xyz.tmp", ".b.md.1.tmp", ".a.md.1.tmp.bak", ".aXmd.1.tmp"):
        (root / name).write_text("another's")
    with open_folder_below(root) as folder:
        folder.tidy("a.md")
    assert {path.name for path in root.iterdir()} == {
        *(".a.md.11.tmp", ".a.md.12.tmp", ".a.md.13.tmp", ".a.md.1.tmp.bak", ".a.md.xyz.tmp"),
        *(".aXmd.1.tmp", ".b.md.1.tmp"),
    }
    assert is_untouched(outside)


@each(
    "name",
    [
        *(".git", ".GIT", ".Git", ".git.", ".git ", ".git::$DATA", "GIT~1"),
        *(".gi\u200ct", "\ufeff.git", ".GIT\u206f", "\u200e.g\u202ait."),
    ],
)
def test_every_spelling_of_gits_folder_is_known(name: str) -> None:
    assert is_git(name)


@each("name", [".github", "git", ".gitea", "x.git", ".gitmodules"])
def test_other_names_are_not_gits(name: str) -> None:
    assert not is_git(name)
