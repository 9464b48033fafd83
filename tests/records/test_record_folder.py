"""Where a project's records lie: where it is said, else where they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.records.record_folder import RecordFolder, record_folder
from tests.persons import git_repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def filed(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("# 1. Use Redis\n")


def test_without_records_the_folder_is_the_default(root: Path) -> None:
    assert record_folder(root) == RecordFolder("docs/decisions", "default")


@pytest.mark.parametrize(
    "folder", ["docs/decisions", "docs/adr", "doc/adr", "doc/architecture/decisions", "adr"]
)
def test_the_usual_folder_that_holds_records_is_taken(root: Path, folder: str) -> None:
    filed(root, f"{folder}/0001-use-redis.md")
    assert record_folder(root) == RecordFolder(folder, "records")


def test_the_first_usual_folder_that_holds_records_is_taken(root: Path) -> None:
    filed(root, "docs/decisions/README.md", "docs/decisions/0000-template.md")
    filed(root, "adr/0001-x.md", "doc/adr/20200102-x.md")
    assert record_folder(root) == RecordFolder("doc/adr", "records")


def test_settings_come_first_and_then_adr_dir(root: Path) -> None:
    filed(root, "docs/adr/0001-x.md")
    (root / ".adr-dir").write_text("architecture/log/\n")
    assert record_folder(root, "records") == RecordFolder("records", "settings")
    assert record_folder(root) == RecordFolder("architecture/log", ".adr-dir")


@pytest.mark.parametrize("content", ["", "\n", " \r\n"])
def test_an_adr_dir_that_says_nothing_is_passed_over(root: Path, content: str) -> None:
    (root / ".adr-dir").write_bytes(content.encode())
    assert record_folder(root) == RecordFolder("docs/decisions", "default")


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"..",
            b"../other",
            b"/etc",
            b"doc/../../x",
            b".git/hooks",
            b"a\nb",
            b"a\\b",
            b"a\x1b[1m",
        ),
        *(b"\xff", b"x" * 5_000, b"~/../../../x", "a\u202eb".encode()),
    ],
)
def test_an_adr_dir_that_leads_outside_is_refused_on_one_line(root: Path, content: bytes) -> None:
    git_repository(root)
    (root / ".adr-dir").write_bytes(content)
    with pytest.raises(ArtifactOutside, match=r"^\.adr-dir") as caught:
        record_folder(root)
    assert str(caught.value).isprintable()


def test_an_adr_dir_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "said").write_text("docs/adr")
    (root / ".adr-dir").symlink_to(tmp_path / "said")
    with pytest.raises(ArtifactOutside):
        record_folder(root)


def test_a_usual_folder_that_a_link_leads_outside_is_passed_over(
    root: Path, tmp_path: Path
) -> None:
    filed(tmp_path, "elsewhere/0001-x.md")
    (root / "docs").mkdir()
    (root / "docs" / "adr").symlink_to(tmp_path / "elsewhere")
    assert record_folder(root) == RecordFolder("docs/decisions", "default")
    with pytest.raises(ArtifactOutside):
        record_folder(root, "docs/adr")
