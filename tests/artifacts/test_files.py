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

from preflights_es.artifacts.files import (
    alone,
    checked_folder,
    checked_path,
    filed,
    found_hash,
    hash_of,
    numbered,
)
from preflights_es.core.artifacts import Written
from preflights_es.core.errors import ArtifactOutside, StoreUnavailable

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = "docs/decisions"
FOLDERS: Final = (FOLDER, "docs/tasks")
PATH: Final = "docs/decisions/0001-title.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    (made / "precious.md").write_text("precious")
    return made


def files_below(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(
    root: Path,
    text: str,
    before: Written | None = None,
    path: str = PATH,
    former: str = "",
    *,
    wrote: tuple[str, ...] = (),
) -> tuple[Written, bool]:
    target = checked_path(root, FOLDERS, path)
    moved = checked_path(root, FOLDERS, former) if former else None
    ours = {*([before.sha256] if before else []), *map(hash_of, wrote)}
    return filed(root, target, path, text, lambda: ours, moved)


# 1. Writing ----------------------------------------------------------------------------------


def test_a_document_is_written_with_its_folders(root: Path) -> None:
    written, beside = write(root, "text é 🛫\n")
    assert (written, beside) == (Written(PATH, sha256("text é 🛫\n".encode()).hexdigest()), False)
    assert files_below(root) == {PATH: "text é 🛫\n"}


def test_nothing_else_is_left_in_the_folder(root: Path) -> None:
    write(root, "one")
    first, _ = write(root, "one")
    write(root, "two", first)
    assert [path.name for path in (root / FOLDER).iterdir()] == ["0001-title.md"]


def test_line_ends_are_not_translated(root: Path) -> None:
    write(root, "a\nb\r\nc")
    assert (root / PATH).read_bytes() == b"a\nb\r\nc"


def test_a_document_of_ours_is_written_anew(root: Path) -> None:
    first, _ = write(root, "one")
    second, beside = write(root, "two", first)
    assert (second, beside) == (Written(PATH, hash_of("two")), False)
    assert files_below(root) == {PATH: "two"}


def test_an_identical_document_is_not_touched(root: Path) -> None:
    first, _ = write(root, "one")
    os.utime(root / PATH, ns=(1, 1))
    inode = (root / PATH).stat().st_ino
    for before in (first, None, Written(PATH, "another")):
        assert write(root, "one", before) == (first, False)
    assert ((root / PATH).stat().st_mtime_ns, (root / PATH).stat().st_ino) == (1, inode)


def test_a_new_text_takes_the_place_of_the_old_in_one_step(root: Path) -> None:
    first, _ = write(root, "one")
    with (root / PATH).open() as reader:
        write(root, "two", first)
        # Whoever had the old file open reads all of it; it was not cut and written over.
        assert reader.read() == "one"
    assert (root / PATH).read_text() == "two"


def test_what_a_killed_process_left_is_removed(root: Path) -> None:
    (root / FOLDER).mkdir(parents=True)
    for name in (".0001-title.md.99999.tmp", ".0001-title.md.1.tmp"):
        (root / FOLDER / name).write_text("half of")
    (root / FOLDER / ".0002-other.md.1.tmp").write_text("another's")
    write(root, "one")
    assert files_below(root) == {PATH: "one", f"{FOLDER}/.0002-other.md.1.tmp": "another's"}


def test_a_name_with_a_pattern_in_it_removes_no_other_files(root: Path) -> None:
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER / ".0002-other.md.1.tmp").write_text("another's")
    write(root, "one", path=f"{FOLDER}/*.md")
    assert files_below(root)[f"{FOLDER}/.0002-other.md.1.tmp"] == "another's"


# 2. A person's edits -------------------------------------------------------------------------


def test_an_edited_document_is_kept_and_the_new_text_lies_beside_it(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("one, edited")
    written, beside = write(root, "two", first)
    assert (written, beside) == (Written(f"{PATH}.new", hash_of("two")), True)
    assert files_below(root) == {PATH: "one, edited", f"{PATH}.new": "two"}


def test_a_document_that_somebody_else_wrote_is_kept(root: Path) -> None:
    (root / FOLDER).mkdir(parents=True)
    (root / PATH).write_text("theirs")
    _, beside = write(root, "ours")
    assert beside
    assert files_below(root) == {PATH: "theirs", f"{PATH}.new": "ours"}


def test_a_document_that_was_edited_into_the_new_text_is_that_text(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("two")
    assert write(root, "two", first) == (Written(PATH, hash_of("two")), False)
    assert files_below(root) == {PATH: "two"}


def test_a_document_that_was_deleted_is_written_again(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).unlink()
    _, beside = write(root, "two", first)
    assert not beside
    assert files_below(root) == {PATH: "two"}


def test_the_text_beside_is_brought_up_to_date(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("edited")
    write(root, "two", first)
    write(root, "three", first, wrote=("one", "two"))
    assert files_below(root) == {PATH: "edited", f"{PATH}.new": "three"}


def test_edits_of_the_text_beside_are_kept_too(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("edited")
    write(root, "two", first)
    (root / f"{PATH}.new").write_text("edited as well")
    written, beside = write(root, "three", first, wrote=("one", "two"))
    assert (written.path, beside) == (f"{PATH}.new2", True)
    assert files_below(root) == {
        PATH: "edited",
        f"{PATH}.new": "edited as well",
        f"{PATH}.new2": "three",
    }


def test_the_text_beside_may_be_put_in_place(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("edited")
    write(root, "two", first)
    (root / f"{PATH}.new").replace(root / PATH)
    _, beside = write(root, "three", first, wrote=("one", "two"))
    assert not beside
    assert files_below(root) == {PATH: "three"}


# 3. A new name -------------------------------------------------------------------------------

MOVED: Final = "docs/decisions/0002-title.md"


def test_a_document_under_a_new_name_leaves_its_former_one(root: Path) -> None:
    first, _ = write(root, "one")
    write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {MOVED: "two"}


def test_a_former_document_that_was_edited_stays(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).write_text("edited")
    write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {PATH: "edited", MOVED: "two"}


def test_a_former_document_that_is_gone_is_not_missed(root: Path) -> None:
    first, _ = write(root, "one")
    (root / PATH).unlink()
    write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {MOVED: "two"}


def test_a_former_document_stays_until_the_new_one_is_written(root: Path) -> None:
    first, _ = write(root, "one")
    (root / f"{MOVED}.new").mkdir()
    (root / MOVED).write_text("theirs")
    with pytest.raises(StoreUnavailable):
        write(root, "two", first, MOVED, PATH)
    assert files_below(root) == {PATH: "one", MOVED: "theirs"}


def test_a_new_name_that_is_taken_is_kept(root: Path) -> None:
    first, _ = write(root, "one")
    (root / MOVED).write_text("theirs")
    _, beside = write(root, "two", first, MOVED, PATH)
    assert beside
    assert files_below(root) == {MOVED: "theirs", f"{MOVED}.new": "two"}


# 4. Outside ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("../0001.md", "docs/decisions/../../../0001.md", "docs/decisions/..", ".."),
        *("docs/decisions/../tasks/0001.md", "docs/decisions/x/../0001.md"),
        *("/etc/passwd", "/0001.md", "//host/0001.md"),
        *("0001.md", "docs/0001.md", "docs/decisions/deep/0001.md", "elsewhere/0001.md"),
        *("", ".", "docs/decisions", "docs"),
        *("docs\\decisions\\0001.md", "..\\0001.md", "C:\\0001.md", "docs/decisions/a\\b.md"),
        *("docs/decisions/a\0.md", "\0", "docs/decisionsx/0001.md", "docs/decisions.md"),
    ],
)
def test_a_path_outside_the_folders_is_refused(root: Path, path: str) -> None:
    with pytest.raises(ArtifactOutside) as caught:
        checked_path(root, FOLDERS, path)
    assert "nothing was written" in str(caught.value)
    assert files_below(root.parent) == {}


@pytest.mark.parametrize(
    "path", [PATH, "docs/tasks/x.md", "docs/decisions/./x.md", "docs/decisions/..x.md"]
)
def test_a_path_in_one_of_the_folders_is_taken(root: Path, path: str) -> None:
    assert checked_path(root, FOLDERS, path).parent.parent == (root / "docs").resolve()


@pytest.mark.parametrize("folder", ["..", "../x", "docs/../..", "/etc", "/", "~/../../x/../../.."])
def test_a_folder_outside_the_project_is_refused(root: Path, folder: str) -> None:
    if folder.startswith("~"):
        folder = folder[2:]
    with pytest.raises(ArtifactOutside, match="leads outside the project"):
        checked_folder(root, folder)


def test_a_folder_that_is_the_project_itself_is_taken(root: Path) -> None:
    assert checked_folder(root, ".") == root.resolve()
    assert checked_path(root, (".",), "0001.md") == root.resolve() / "0001.md"


@pytest.mark.parametrize("link", ["docs", "docs/decisions"])
def test_a_folder_that_a_link_leads_outside_is_refused(
    root: Path, outside: Path, link: str
) -> None:
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(outside)
    with pytest.raises(ArtifactOutside):
        checked_folder(root, FOLDER)
    with pytest.raises(ArtifactOutside):
        checked_path(root, FOLDERS, PATH)
    assert files_below(outside) == {"precious.md": "precious"}


def test_a_folder_that_a_link_leads_elsewhere_inside_is_taken(root: Path) -> None:
    (root / "records").mkdir()
    (root / "docs").mkdir()
    (root / FOLDER).symlink_to(root / "records")
    write(root, "one")
    assert (root / "records" / "0001-title.md").read_text() == "one"


def test_links_that_lead_in_a_circle_are_refused(root: Path) -> None:
    (root / "docs").mkdir()
    (root / FOLDER).symlink_to(root / "docs" / "loop")
    (root / "docs" / "loop").symlink_to(root / FOLDER)
    with pytest.raises(ArtifactOutside):
        checked_folder(root, FOLDER)
    with pytest.raises(ArtifactOutside):
        checked_path(root, FOLDERS, PATH)


def test_a_folder_whose_name_no_folder_can_have_is_refused(root: Path) -> None:
    with pytest.raises(ArtifactOutside):
        checked_folder(root, "docs\0")


def test_a_project_that_is_reached_through_a_link_is_taken(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    written, _ = write(link, "one")
    assert written.path == PATH
    assert files_below(root) == {PATH: "one"}


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_in_the_place_of_a_document_is_never_followed(
    root: Path, outside: Path, dangling: bool
) -> None:
    (root / FOLDER).mkdir(parents=True)
    to = outside / ("missing.md" if dangling else "precious.md")
    (root / PATH).symlink_to(to)
    for text in ("one", "precious"):
        before = Written(PATH, hash_of("precious"))
        written, beside = write(root, text, before, wrote=("one",))
        assert beside
        assert written.path == f"{PATH}.new"
        assert (root / f"{PATH}.new").read_text() == text
    assert files_below(outside) == {"precious.md": "precious"}
    assert (root / PATH).is_symlink()


def test_a_link_beside_a_document_is_replaced_and_not_followed(root: Path, outside: Path) -> None:
    (root / FOLDER).mkdir(parents=True)
    (root / PATH).write_text("theirs")
    (root / f"{PATH}.new").symlink_to(outside / "precious.md")
    write(root, "ours")
    assert files_below(outside) == {"precious.md": "precious"}
    assert not (root / f"{PATH}.new").is_symlink()
    assert files_below(root) == {PATH: "theirs", f"{PATH}.new": "ours"}


def test_a_link_in_the_place_of_a_former_document_is_not_removed(root: Path, outside: Path) -> None:
    first, _ = write(root, "precious")
    (root / PATH).unlink()
    (root / PATH).symlink_to(outside / "precious.md")
    write(root, "two", first, MOVED, PATH)
    assert (root / PATH).is_symlink()
    assert files_below(outside) == {"precious.md": "precious"}


# 5. A disk that refuses ----------------------------------------------------------------------


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
from preflights_es.artifacts.files import filed
from preflights_es.core.errors import StoreUnavailable
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
root, path = Path(sys.argv[1]), sys.argv[2]
try:
    filed(root, root / path, path, "x" * 100_000, set)
except StoreUnavailable as error:
    print(error)
"""


def test_a_disk_that_is_full_is_unavailable_and_keeps_no_rest(root: Path) -> None:
    command = [sys.executable, "-c", FULL, str(root.resolve()), PATH]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == f"{PATH} cannot be written: File too large\n"
    assert [*(root / FOLDER).iterdir()] == []


def test_a_folder_in_the_place_of_a_document_is_not_ours(root: Path) -> None:
    (root / PATH).mkdir(parents=True)
    _, beside = write(root, "one")
    assert beside
    assert files_below(root) == {f"{PATH}.new": "one"}


# 6. Several processes ------------------------------------------------------------------------

WAIT = """
import sys
from pathlib import Path
from preflights_es.artifacts.files import alone
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
from preflights_es.artifacts.files import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_process_that_was_killed_keeps_nobody_waiting(root: Path) -> None:
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


# 7. Looking ----------------------------------------------------------------------------------


def test_a_hash_is_that_of_the_bytes_that_lie_there(root: Path) -> None:
    assert found_hash(root / "missing.md") is None
    assert found_hash(root / "missing" / "deeper.md") is None
    write(root, "é")
    assert found_hash(root / PATH) == hash_of("é") == sha256("é".encode()).hexdigest()


def test_records_are_counted_by_the_number_in_their_names(root: Path) -> None:
    folder = root / FOLDER
    assert numbered(folder) == {}
    folder.mkdir(parents=True)
    names = (
        *("0001-a.md", "0002.md", "0002-b.md", "12345-c.md", "0000-d.md"),
        *("1-short.md", "001-short.md", "0003-e.txt", "0004-f.md.new", "00x5-g.md"),
        *("20261121-date.md", "0123456-seven.md", "README.md", ".0009-h.md.1.tmp"),
        "\u0661\u0662\u0663\u0664-arabic.md",
    )
    for name in names:
        (folder / name).touch()
    found = {number: [path.name for path in paths] for number, paths in numbered(folder).items()}
    assert found == {
        0: ["0000-d.md"],
        1: ["0001-a.md", "001-short.md", "1-short.md"],
        2: ["0002-b.md", "0002.md"],
        12345: ["12345-c.md"],
    }
