"""A file is read whole and within its limit, or the reader is told why not."""

from __future__ import annotations

import errno
import os
from pathlib import Path, PosixPath

import pytest

from preflights_es.system.files import Unreadable, read_file_beginning, regular, resolved


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert regular(tmp_path / "a", 5) == b"12345"


def test_links_in_a_circle_lead_nowhere_and_a_missing_file_somewhere(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(tmp_path / "loop")
    (tmp_path / "link").symlink_to(tmp_path / "new")
    assert resolved(tmp_path / "loop") is None
    assert resolved(tmp_path / "loop" / "below") is None
    assert resolved(tmp_path / "link" / "below") == tmp_path.resolve() / "new" / "below"
    assert resolved(tmp_path / "a\0b") is None


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123456")
    with pytest.raises(Unreadable, match="more than 5 bytes"):
        regular(tmp_path / "a", 5)


def test_a_missing_file_is_told_apart_from_an_unreadable_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        regular(tmp_path / "a", 5)
    (tmp_path / "b").touch()
    with pytest.raises(NotADirectoryError):
        regular(tmp_path / "b" / "a", 5)


def test_a_fifo_a_device_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("fifo", "zero", "."):
        with pytest.raises(Unreadable, match="no regular file"):
            regular(tmp_path / name, 5)


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").symlink_to("a")
    assert regular(tmp_path / "b", 5) == b"1"


def test_a_name_that_no_file_can_bear_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        regular(tmp_path / "a\0b", 5)
    with pytest.raises(Unreadable):
        regular(tmp_path / ("a" * 5000), 5)


def test_a_link_is_refused_where_none_is_to_be_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").symlink_to("a")
    assert regular(tmp_path / "a", 5, follows=False) == b"1"
    with pytest.raises(Unreadable, match="no regular file"):
        regular(tmp_path / "b", 5, follows=False)


class Swapped(PosixPath):
    """A file's path; the file becomes a link when the system is told of it a second time."""

    told = 0

    def __fspath__(self) -> str:
        """The path, as a call of the system takes it."""
        self.told += 1
        name = super().__fspath__()
        if self.told == 2:
            os.unlink(name)
            os.symlink("secret", name)
        return name


def test_a_file_that_becomes_a_link_between_look_and_opening_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"2")
    (tmp_path / "a").write_bytes(b"1")
    path = Swapped(tmp_path / "a")
    with pytest.raises(Unreadable, match=os.strerror(errno.ELOOP)):
        regular(path, 5, follows=False)
    assert path.told == 2, "one look, one opening"
    (tmp_path / "b").write_bytes(b"1")
    assert regular(Swapped(tmp_path / "b"), 5) == b"2", "where links may be followed, it is read"


def test_the_beginning_of_a_file_is_read_whatever_its_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123456")
    assert read_file_beginning(tmp_path / "a", 5) == b"12345"
    assert read_file_beginning(tmp_path / "a", 50) == b"123456"
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Unreadable, match="no regular file"):
        read_file_beginning(tmp_path / "fifo", 5)
