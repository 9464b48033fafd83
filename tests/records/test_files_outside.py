"""Documents stay inside their folders: no path and no link leads one out."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.events import WrittenFile
from preflights_es.records.files import checked_folder, checked_path, hash_of
from tests.each import each
from tests.records.filing import FOLDER, FOLDERS, MOVED, PATH, files_below, write


@each(
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


@each("path", [PATH, "docs/tasks/x.md", "docs/decisions/./x.md", "docs/decisions/..x.md"])
def test_a_path_in_one_of_the_folders_is_taken(root: Path, path: str) -> None:
    assert checked_path(root, FOLDERS, path).parent.parent == (root / "docs").resolve()


@each("folder", ["..", "../x", "docs/../..", "/etc", "/", "~/../../x/../../.."])
def test_a_folder_outside_the_project_is_refused(root: Path, folder: str) -> None:
    if folder.startswith("~"):
        folder = folder[2:]
    with pytest.raises(ArtifactOutside, match="leads outside the project"):
        checked_folder(root, folder)


def test_a_folder_that_is_the_project_itself_is_taken(root: Path) -> None:
    assert checked_folder(root, ".") == root.resolve()
    assert checked_path(root, (".",), "0001.md") == root.resolve() / "0001.md"


@pytest.mark.parametrize("link", ["docs", "docs/decisions"])
def test_a_folder_linked_to_outside_is_refused(root: Path, outside: Path, link: str) -> None:
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(outside)
    with pytest.raises(ArtifactOutside):
        checked_folder(root, FOLDER)
    with pytest.raises(ArtifactOutside):
        checked_path(root, FOLDERS, PATH)
    assert files_below(outside) == {"precious.md": "precious"}


def test_links_that_lead_in_a_circle_and_impossible_names_are_refused(root: Path) -> None:
    (root / "docs").mkdir()
    (root / FOLDER).symlink_to(root / "docs" / "loop")
    (root / "docs" / "loop").symlink_to(root / FOLDER)
    for folder in (FOLDER, "docs\0"):
        with pytest.raises(ArtifactOutside):
            checked_folder(root, folder)
    with pytest.raises(ArtifactOutside):
        checked_path(root, FOLDERS, PATH)


def test_a_project_that_is_reached_through_a_link_is_taken(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    written, _ = write(link, "one")
    assert written.path == PATH
    assert files_below(root) == {PATH: "one"}


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_for_a_document_is_never_followed(root: Path, outside: Path, dangling: bool) -> None:
    (root / FOLDER).mkdir(parents=True)
    to = outside / ("missing.md" if dangling else "precious.md")
    (root / PATH).symlink_to(to)
    for text in ("one", "precious"):
        before = WrittenFile(PATH, hash_of("precious"))
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
