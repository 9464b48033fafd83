"""What lies in a project may change between a look and a write: nothing outside is touched."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from preflights_es.kernel.errors import ArtifactOutside, StoreUnavailable
from preflights_es.records.files import (
    checked_path,
    found_hash,
    hash_of,
    rename_record_file,
    write_document,
)

FOLDER = "docs/decisions"
FOLDERS = (FOLDER,)
PATH = "docs/decisions/0001-title.md"
MOVED = "docs/decisions/0002-title.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / FOLDER).mkdir(parents=True)
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    (made / "decisions").mkdir(parents=True)
    (made / "decisions" / "0001-title.md").write_text("precious")
    return made


def is_untouched(outside: Path) -> bool:
    found = [path for path in outside.rglob("*") if not path.is_dir()]
    return found == [outside / "decisions" / "0001-title.md"] and found[0].read_text() == "precious"


def nothing() -> set[str]:
    return set()


def everything() -> set[str]:
    return {hash_of("precious")}


# 1. Folders ----------------------------------------------------------------------------------


def _swap_parent(root: Path, outside: Path) -> None:
    (root / "docs").rename(root / "former")
    (root / "docs").symlink_to(outside)


def _swap_folder(root: Path, outside: Path) -> None:
    (root / FOLDER).rename(root / "former")
    (root / FOLDER).symlink_to(outside / "decisions")


@pytest.mark.parametrize("swap", [_swap_parent, _swap_folder])
def test_a_folder_that_became_a_link_gets_and_loses_no_document(
    root: Path, outside: Path, swap: Callable[[Path, Path], None]
) -> None:
    (root / "tasks").mkdir()
    task = checked_path(root, ("tasks",), "tasks/0001-title.md")
    target = checked_path(root, FOLDERS, PATH)
    swap(root, outside)
    with pytest.raises(StoreUnavailable, match=f"{PATH} cannot be written: Not a directory"):
        write_document(root, target, PATH, "ours", everything)
    with pytest.raises(StoreUnavailable):
        write_document(root, task, "tasks/0001-title.md", "ours", everything, target)
    with pytest.raises(StoreUnavailable):
        rename_record_file(root, target, "0002-title.md")
    assert is_untouched(outside)
    with pytest.raises(ArtifactOutside):
        checked_path(root, FOLDERS, PATH)


def test_a_folder_that_is_missing_is_made_through_no_link(root: Path, outside: Path) -> None:
    (root / FOLDER).rmdir()
    target = checked_path(root, FOLDERS, PATH)
    (root / FOLDER).symlink_to(outside / "new")
    with pytest.raises(StoreUnavailable):
        write_document(root, target, PATH, "ours", nothing)
    assert is_untouched(outside)


def test_a_link_inside_of_the_project_is_resolved_at_the_look(root: Path, outside: Path) -> None:
    (root / "records").mkdir()
    (root / FOLDER).rmdir()
    (root / FOLDER).symlink_to(root / "records")
    target = checked_path(root, FOLDERS, PATH)
    (root / FOLDER).unlink()
    (root / FOLDER).symlink_to(outside / "decisions")
    write_document(root, target, PATH, "ours", everything)
    assert (root / "records" / "0001-title.md").read_text() == "ours"
    assert is_untouched(outside)


# 2. Files ------------------------------------------------------------------------------------


def _link(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "decisions" / "0001-title.md")


def _hard_link(path: Path, outside: Path) -> None:
    os.link(outside / "decisions" / "0001-title.md", path)


def _fifo(path: Path, _: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path, _: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _device(path: Path, _: Path) -> None:
    path.symlink_to("/dev/zero")


ODD = [_link, _hard_link, _fifo, _socket, _device]


@pytest.mark.parametrize("odd", ODD)
def test_nothing_is_written_through_what_is_no_document(
    root: Path, outside: Path, odd: Callable[[Path, Path], None]
) -> None:
    odd(root / PATH, outside)
    before = (root / PATH).lstat()
    written, beside = write_document(root, checked_path(root, FOLDERS, PATH), PATH, "ours", nothing)
    assert (written.path, beside) == (f"{PATH}.new", True)
    assert (root / PATH).lstat().st_ino == before.st_ino
    assert (root / f"{PATH}.new").read_text() == "ours"
    assert is_untouched(outside)
    (root / MOVED).write_text("theirs")
    odd(root / f"{MOVED}.new", outside)
    written, _ = write_document(root, checked_path(root, FOLDERS, MOVED), MOVED, "ours", nothing)
    assert stat.S_ISREG((root / written.path).lstat().st_mode)
    assert (root / written.path).read_text() == "ours"
    assert is_untouched(outside)


@pytest.mark.parametrize("odd", [_link, _fifo, _socket, _device])
def test_a_former_place_that_holds_no_file_is_left_alone(
    root: Path, outside: Path, odd: Callable[[Path, Path], None]
) -> None:
    odd(root / PATH, outside)
    former = checked_path(root, FOLDERS, PATH)
    write_document(root, checked_path(root, FOLDERS, MOVED), MOVED, "ours", everything, former)
    assert os.path.lexists(root / PATH)
    with pytest.raises(StoreUnavailable, match="no regular file"):
        rename_record_file(root, former, "0003-title.md")
    assert is_untouched(outside)


def test_a_file_that_cannot_be_a_document_of_ours_is_never_replaced(root: Path) -> None:
    (root / PATH).write_bytes(b"x" * 10_000_001)
    (root / f"{PATH}.new").write_bytes(b"x" * 10_000_001)
    written, _ = write_document(root, checked_path(root, FOLDERS, PATH), PATH, "ours", nothing)
    assert written.path == f"{PATH}.new2"
    assert found_hash(root / PATH) not in (None, hash_of("ours"))
