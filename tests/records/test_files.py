"""Writing documents: inside their folder, as a whole, and never over a person's edits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.kernel.events import WrittenFile
from preflights_es.records.files import alone, found_hash, hash_of
from tests.records.filing import FOLDER, MOVED, PATH, files_below, write

ROOT: Final = Path(__file__).parents[2]


# 1. Writing ----------------------------------------------------------------------------------


def test_a_document_is_written_with_its_folders_byte_for_byte_and_anew(root: Path) -> None:
    text = "text é 🛫\nmore\n"
    first, beside = write(root, text)
    assert (first, beside) == (WrittenFile(PATH, sha256(text.encode()).hexdigest()), False)
    assert (root / PATH).read_bytes() == text.encode()
    second, beside = write(root, "two", first)
    assert (second, beside) == (WrittenFile(PATH, hash_of("two")), False)
    assert files_below(root) == {PATH: "two"}, "nothing else is left in the folder"


def test_an_identical_document_is_not_touched_and_a_new_text_comes_in_one_step(root: Path) -> None:
    first, _ = write(root, "one")
    os.utime(root / PATH, ns=(1, 1))
    inode = (root / PATH).stat().st_ino
    for before in (first, None, WrittenFile(PATH, "another")):
        assert write(root, "one", before) == (first, False)
    assert ((root / PATH).stat().st_mtime_ns, (root / PATH).stat().st_ino) == (1, inode)
    with (root / PATH).open() as reader:
        write(root, "two", first)
        # A reader that had the old file open reads all of it; it was not cut and written over.
        assert reader.read() == "one"
    assert (root / PATH).read_text() == "two"


def test_what_a_killed_process_left_is_removed_and_nothing_of_another_name(root: Path) -> None:
    (root / FOLDER).mkdir(parents=True)
    others = {f"{FOLDER}/.0002-other.md.1.tmp": "another's"}
    for name in (".0001-title.md.99999.tmp", ".0001-title.md.1.tmp"):
        (root / FOLDER / name).write_text("half of")
    (root / FOLDER / ".0002-other.md.1.tmp").write_text("another's")
    write(root, "one")
    assert files_below(root) == {PATH: "one", **others}
    write(root, "one", path=f"{FOLDER}/*.md")
    assert files_below(root) == {PATH: "one", f"{FOLDER}/*.md": "one", **others}


# 2. A person's edits -------------------------------------------------------------------------


def test_a_document_that_git_checked_out_with_windows_line_ends_is_no_edit(root: Path) -> None:
    first, _ = write(root, "one\nline\n")
    (root / PATH).write_bytes(b"one\r\nline\r\n")
    assert write(root, "one\nline\n", first) == (first, False)
    assert (root / PATH).read_bytes() == b"one\r\nline\r\n"
    assert write(root, "two\nlines\n", first) == (WrittenFile(PATH, hash_of("two\nlines\n")), False)
    assert files_below(root) == {PATH: "two\nlines\n"}


def test_a_document_of_another_author_is_kept(root: Path) -> None:
    (root / FOLDER).mkdir(parents=True)
    (root / PATH).write_text("theirs")
    _, beside = write(root, "ours")
    assert beside
    assert files_below(root) == {PATH: "theirs", f"{PATH}.new": "ours"}


def test_a_document_that_is_there_already_or_was_deleted_is_written_there(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("two")
    assert write(root, "two", first) == (WrittenFile(PATH, hash_of("two")), False)
    assert files_below(root) == {PATH: "two"}
    (root / PATH).unlink()
    _, beside = write(root, "three", first)
    assert not beside
    assert files_below(root) == {PATH: "three"}


def test_the_text_beside_is_kept_up_to_date_until_edited_or_put_in_place(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("edited")
    assert write(root, "two", first) == (WrittenFile(f"{PATH}.new", hash_of("two")), True)
    assert files_below(root) == {PATH: "edited", f"{PATH}.new": "two"}
    write(root, "three", first, wrote=("one", "two"))
    assert files_below(root) == {PATH: "edited", f"{PATH}.new": "three"}
    (root / f"{PATH}.new").write_text("edited as well")
    ours = ("one", "two", "three")
    written, beside = write(root, "four", first, wrote=ours)
    assert (written.path, beside) == (f"{PATH}.new2", True)
    edited = {PATH: "edited", f"{PATH}.new": "edited as well"}
    assert files_below(root) == {**edited, f"{PATH}.new2": "four"}
    (root / f"{PATH}.new2").replace(root / PATH)
    _, beside = write(root, "five", first, wrote=(*ours, "four"))
    assert not beside
    assert files_below(root) == {PATH: "five", f"{PATH}.new": "edited as well"}


# 3. A new name -------------------------------------------------------------------------------


def test_a_document_under_a_new_name_leaves_its_former_one_unless_edited(root: Path) -> None:
    first, _ = write(root, "one")
    write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {MOVED: "two"}
    (root / PATH).write_text("edited")
    write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {PATH: "edited", MOVED: "two"}
    for path in (PATH, MOVED):
        (root / path).unlink()
    write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {MOVED: "two"}, "one that is gone is not missed"


def test_a_former_document_stays_until_the_new_one_is_written_and_a_taken_name(root: Path) -> None:
    first, _ = write(root, "one")
    (root / f"{MOVED}.new").mkdir()
    (root / MOVED).write_text("theirs")
    with pytest.raises(StoreUnavailable):
        write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {PATH: "one", MOVED: "theirs"}
    (root / f"{MOVED}.new").rmdir()
    _, beside = write(root, "two", first, MOVED, PATH)
    assert beside
    assert files_below(root) == {MOVED: "theirs", f"{MOVED}.new": "two"}


# 4. A disk that refuses ----------------------------------------------------------------------


def _a_folder_beside(root: Path) -> None:
    (root / PATH).mkdir(parents=True)
    (root / f"{PATH}.new").mkdir()


def _a_file_for_a_folder(root: Path) -> None:
    (root / "docs").mkdir()
    (root / FOLDER).write_text("no folder")


def _a_file_for_its_parent(root: Path) -> None:
    (root / "docs").write_text("no folder")


@pytest.mark.parametrize(
    "obstacle", [_a_folder_beside, _a_file_for_a_folder, _a_file_for_its_parent]
)
def test_a_disk_that_refuses_is_unavailable_and_keeps_no_rest(
    root: Path, obstacle: Callable[[Path], None]
) -> None:
    obstacle(root)
    before = sorted(root.rglob("*"))
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        write(root, "one")
    assert sorted(root.rglob("*")) == before


FULL = """
import resource, sys
from pathlib import Path
from preflights_es.records.files import write_document
from preflights_es.kernel.errors import StoreUnavailable
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
root, path = Path(sys.argv[1]), sys.argv[2]
try:
    write_document(root, root / path, path, "x" * 100_000, set)
except StoreUnavailable as error:
    print(error)
"""


def test_a_disk_that_is_full_is_unavailable_and_keeps_no_rest(root: Path) -> None:
    command = [sys.executable, "-c", FULL, str(root.resolve()), PATH]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == f"{PATH} cannot be written: File too large\n"
    assert [*(root / FOLDER).iterdir()] == []


# 5. Several processes ------------------------------------------------------------------------

WAIT = """
import sys
from pathlib import Path
from preflights_es.records.files import alone
print("waiting", flush=True)
with alone(Path(sys.argv[1])):
    print((Path(sys.argv[1]) / "done").exists(), flush=True)
"""


def test_another_process_waits_until_this_one_has_written(root: Path) -> None:
    command = [sys.executable, "-c", WAIT, str(root)]
    with alone(root):
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert other.stdout is not None
        assert other.stdout.readline() == "waiting\n"
        time.sleep(0.2)
        (root / "done").touch()
    assert other.communicate()[0] == "True\n"


HOLD = """
import os, sys
from pathlib import Path
from preflights_es.records.files import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_killed_process_holds_no_lock(root: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        other.kill()
    with alone(root):
        write(root, "one")


def test_a_root_that_is_gone_is_unavailable(root: Path) -> None:
    with pytest.raises(StoreUnavailable), alone(root / "gone"):
        pass


# 6. Looking ----------------------------------------------------------------------------------


def test_a_hash_is_that_of_the_bytes_that_lie_there(root: Path) -> None:
    assert found_hash(root / "missing.md") is None
    assert found_hash(root / "missing" / "deeper.md") is None
    write(root, "é")
    assert found_hash(root / PATH) == hash_of("é") == sha256("é".encode()).hexdigest()
