"""Where a project's records lie: where it is said, else where they are found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.records.record_list import records_in
from preflights_es.records.record_places import PAGES_MAX, RecordPlaces
from tests.each import each
from tests.persons import git_repository

DECISION: Final = "# 1. Use Redis\n\n## Status\n\nAccepted\n\n## Context\n\n## Decision\n\nRedis.\n"
ACTIVE: Final = "---\nstatus: active\n---\n# A page\n"
PROSE: Final = "# A page\n\nNothing but prose.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def clone(root: Path) -> Path:
    git_repository(root)
    return root


def filed(root: Path, *paths: str, text: str = DECISION) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def places(root: Path, told: str = "", **more: Any) -> RecordPlaces:
    index = root / ".git" / "index" if (root / ".git").exists() else None
    own: dict[str, Any] = {"index": index, "env": os.environ, **more}
    found = RecordPlaces(root, told, **own)
    return RecordPlaces(root, told, records=lambda: records_in(root, found.folders).records, **own)


def paths(root: Path, told: str = "") -> list[str]:
    return [one.path for one in places(root, told).folders]


def test_without_records_a_new_one_goes_to_the_default(root: Path) -> None:
    assert places(root).folders == ()
    assert (places(root).new, places(root).new_by) == ("docs/decisions", "default")


# 1. Which there are --------------------------------------------------------------------------

USUAL_FOLDERS: Final = (
    *("docs/decisions", "docs/adr", "doc/adr", "doc/architecture/decisions", "adr", "ADR"),
    *("documentation/Decision-Records", "Docs/ADRs", "architecture_decision_records", "rfd"),
    *("packages/web/docs/adr", "services/pay/decisions", "docs/design/architectural-decisions"),
)


def test_a_folder_of_a_usual_name_is_found_wherever_it_lies(clone: Path) -> None:
    for folder in USUAL_FOLDERS:
        filed(clone, f"{folder}/0001-use-redis.md")
    assert paths(clone) == sorted(USUAL_FOLDERS)


def test_without_git_the_usual_places_alone_are_looked_at(root: Path) -> None:
    filed(root, "Doc/architecture/decisions/0001-x.md", "packages/web/adr/0001-x.md")
    (root / "docs" / "adr").mkdir(parents=True)
    assert paths(root) == ["Doc/architecture/decisions"]


def test_a_folder_is_looked_for_in_no_foreign_place(clone: Path) -> None:
    for folder in (
        "vendor/x",
        "node_modules/x",
        "tests",
        "x-tests",
        "__fixtures__",
        "examples",
        ".x",
    ):
        filed(clone, f"{folder}/docs/adr/0001-x.md", f"{folder}/0001-x.md", f"{folder}/0002-x.md")
    (clone / ".gitignore").write_text("docs/adr/\n")
    filed(clone, "docs/adr/0001-x.md")
    filed(clone, "sub/docs/adr/0001-x.md")
    git_repository(clone / "sub")
    assert paths(clone) == []
    assert paths(clone, "tests/docs/adr") == ["tests/docs/adr"]


def test_another_folder_counts_where_two_of_its_files_are_decisions(clone: Path) -> None:
    two = ("{}/0001-x.md", "{}/y.md")
    filed(clone, *(one.format("docs/arch") for one in two))
    filed(clone, "docs/one/0001-x.md", "docs/one/README.md")
    filed(clone, "blog/2020-01-02-x.md", "blog/2020-02-03-y.md", text=PROSE)
    filed(clone, "blog/decisions/2020-01-02-x.md", "blog/adr/0001-x.md", text=PROSE)
    filed(clone, "guide/01-first.md", "guide/02-second.md", text=PROSE)
    text = "# A report\n\nStatus: done\n\n## Decision\n\nIt works.\n"
    filed(clone, "reports/a.md", "reports/b.md", text=text)
    text = "# Use X\n\n- Status: accepted\n- Date: {DAY}\n\n## Context\n\n## Decision\n"
    filed(clone, "assets/a.md", "assets/b.md", text=text)
    filed(clone, "pages/a.md", "pages/b.md", text="---\nstatus: draft\n---\n# A page\n")
    filed(clone, "src/decisions/README.md", text=PROSE)
    filed(clone, "book/01-one/a.md", "book/01-one/b.md", "book/02-two/README.md", text=ACTIVE)
    assert paths(clone) == ["docs/arch"]


def test_a_folder_is_seen_before_git_knows_it_then_forgotten(clone: Path, tmp_path: Path) -> None:
    kept: dict[str, Any] = {"cache": lambda: tmp_path / "folders"}
    assert places(clone, **kept).folders == ()
    filed(clone, "docs/adr/0001-x.md")
    assert [one.path for one in places(clone, **kept).known] == []
    assert [one.path for one in places(clone, **kept).folders] == ["docs/adr"]
    (clone / "docs/adr/0001-x.md").rename(clone / "docs/0001-x.md")
    (clone / "docs/adr").rmdir()
    assert [one.path for one in places(clone, **kept).folders] == []


def test_files_are_not_listed_again_until_the_index_changes(clone: Path, tmp_path: Path) -> None:
    filed(clone, "web/docs/adr/0001-x.md")
    (index := tmp_path / "index").touch()
    kept: dict[str, Any] = {"cache": lambda: tmp_path / "folders", "index": index}
    assert [one.path for one in places(clone, **kept).folders] == ["web/docs/adr"]
    filed(clone, "pay/docs/adr/0001-x.md")
    assert [one.path for one in places(clone, **kept).folders] == ["web/docs/adr"]
    os.utime(index, ns=(1, 1))
    assert len(places(clone, **kept).folders) == 2
    (tmp_path / "folders").write_bytes(b"\x93\xc0")
    assert len(places(clone, **kept).folders) == 2


# 2. What lies in them ------------------------------------------------------------------------


def test_subfolders_and_folders_of_one_record_are_read(clone: Path) -> None:
    found = {
        "docs/adr/0001-x.md": 1,
        "docs/adr/0005-use-ldap/README.md": 5,
        "docs/adr/0006-use-sso/decision.md": 6,
        "docs/adr/0007-move-the-tests/README.md": 7,
        "docs/adr/2022-08-17-load-tests/README.md": None,
        "docs/adr/caching/index.md": None,
        "docs/adr/team/0001-y.adoc": 1,
        "docs/adr/team/0002-y.mdx": 2,
        "docs/adr/0005-use-ldap/0001-z.md": 1,
        "docs/arch/0002-z/README.md": 2,
        "docs/arch/0003-z.md": 3,
    }
    text = DECISION.replace("# 1. ", "# ")
    filed(clone, *found, text=text)
    filed(clone, "docs/adr/README.md", "docs/adr/0006-use-sso/notes.md", text=PROSE)
    filed(clone, "docs/adr/2024/README.md", text=PROSE)
    filed(clone, "docs/adr/templates/0001-x.md", "docs/adr/.hidden/0001-x.md")
    filed(clone, "docs/adr/0005-use-ldap/costs.md", text=ACTIVE)
    filed(clone, "docs/arch/04-more/a.md", "docs/arch/04-more/b.md", text=ACTIVE)
    filed(clone, "docs/adr/site/0001-x.md", "docs/adr/0009-x.md")
    (clone / ".gitignore").write_text("site/\ndocs/adr/0009*\n")
    records = records_in(clone, places(clone).folders).records
    assert {one.path: one.number for one in records} == found


def test_what_looks_like_a_record_and_is_not_read_is_named(clone: Path) -> None:
    filed(clone, "docs/adr/0001-x.md", "docs/adr/0002-x.rst", "docs/adr/figure.pdf")
    filed(clone, "docs/decisions/0001-x.rst", "docs/notes/0001-x.rst")
    filed(clone, "web/adr/2024-01-02-x.rst", "web/docs/use.rst", text="elsewhere")
    filed(clone, "docs/adr/0003-x.md", text="\n")
    filed(clone, "docs/adr/0004-x.md/notes.txt")
    (clone / "docs/adr/0005-x.md").symlink_to("0001-x.md")
    assert "elsewhere" not in paths(clone)
    why = "files that end in .rst are not read: use .md"
    assert {one.path: one.why for one in records_in(clone, places(clone).folders).unread} == {
        "docs/adr/0002-x.rst": why,
        "docs/decisions/0001-x.rst": why,
        "web/adr/2024-01-02-x.rst": why,
        "docs/adr/0003-x.md": "it is empty",
        "docs/adr/0004-x.md": "it is no regular file",
        "docs/adr/0005-x.md": "it is no regular file",
    }


def test_a_file_that_holds_several_decisions_is_named(clone: Path) -> None:
    log = "# Decisions\n\n## 1. Use X\n\nStatus: accepted\n\n## 2. Use Y\n\n**Status**: rejected\n"
    filed(clone, "DECISIONS.md", "docs/adr/0001-x.md", "docs/adr/decisions.md", text=log)
    filed(clone, "tests/decisions.md", "docs/arc42.md", text=log)
    rows = "1. Use X\n--------\n\nStatus\n~~~~~~\n\nAccepted\n\n:Status: rejected\nStatus\n"
    filed(clone, "doc/decision-log.rst", text=rows)
    filed(clone, "docs/decisions.md", text="# Decisions\n\nStatus: accepted or rejected\n")
    why = "a file of several decisions is not read: give each a file of its own"
    assert places(clone).left_out == (("DECISIONS.md", why), ("doc/decision-log.rst", why))


# 3. Where a new one goes ---------------------------------------------------------------------

OURS: Final = f"---\nsession: s\nuid: u\n---\n{DECISION}"


def test_a_new_record_goes_where_ours_lie_or_else_most(clone: Path) -> None:
    filed(clone, "api/docs/adr/0001-x.md", "web/docs/adr/0001-x.md", "web/docs/adr/0002-x.md")
    assert places(clone).new == "web/docs/adr"
    filed(clone, "api/docs/adr/0003-x.md", text=OURS)
    assert (places(clone).new, places(clone).new_by) == ("api/docs/adr", "name")
    filed(clone, "docs/adr/0001-x.md")
    assert places(clone).new == "docs/adr", "the folder of the whole, where the caller stands"


def test_chapters_with_numbers_are_no_records_and_the_root_may_hold_some(clone: Path) -> None:
    filed(clone, "0001-a.md", "0002-b.md", text=DECISION)
    filed(clone, "0003-chapter.md", "0000-vorlage.md", "ADR-index.md", text=PROSE)
    found = records_in(clone, places(clone).folders).records
    assert [one.path for one in found] == ["0001-a.md", "0002-b.md"]


def test_in_a_package_a_new_record_goes_to_its_own_folder(clone: Path) -> None:
    filed(clone, "docs/adr/0001-x.md", "docs/adr/0002-x.md", "web/docs/adr/0001-x.md")
    (clone / "web" / "src").mkdir()
    (clone / "website").mkdir()
    assert places(clone, cwd=clone / "web" / "src").new == "web/docs/adr"
    assert places(clone, cwd=clone / "website").new == "docs/adr"


def test_a_new_folder_of_the_callers_package_is_seen_before_git_knows_it(
    clone: Path, tmp_path: Path
) -> None:
    kept: dict[str, Any] = {"cache": lambda: tmp_path / "found"}
    filed(clone, "docs/adr/0001-x.md")
    assert places(clone, **kept).new == "docs/adr"
    filed(clone, "web/docs/adr/0001-x.md")
    assert places(clone, **kept, cwd=clone / "web").new == "web/docs/adr"
    assert [one.path for one in places(clone, **kept).folders] == ["docs/adr", "web/docs/adr"]


def test_settings_come_first_and_then_adr_dir_and_all_are_read(root: Path) -> None:
    filed(root, "docs/adr/0001-x.md")
    (root / ".adr-dir").write_text("architecture/log/\n")
    assert paths(root, "records") == ["records", "architecture/log", "docs/adr"]
    assert (places(root, "records").new, places(root).new) == ("records", "architecture/log")
    assert places(root).new_by == ".adr-dir"


LISTED: Final = """project:
  name: Shop
  adrFolder: ./docs/adr
  packages:
    - name: web
      path: ./packages/web
      adrFolder: "./packages/web/records"
    - adrFolder: ./packages/api/notes  # of the API
      path: packages/api
    - name: bad
      path: ./bad
      adrFolder: ../outside
"""


def test_folders_that_files_of_packages_name_are_read(clone: Path) -> None:
    filed(clone, "packages/web/records/0001-x.md", "packages/pay/log/0001-x.md")
    filed(clone, ".log4brains.yml", text=LISTED)
    filed(clone, "packages/pay/.adr-dir", text="log\n")
    filed(clone, "packages/out/.adr-dir", text="../../..\n")
    filed(clone, "packages/none/.adr-dir", "packages/git/.adr-dir", text="")
    filed(clone, "node_modules/x/.adr-dir", text="adr\n")
    assert paths(clone) == [
        *("docs/adr", "packages/api/notes", "packages/pay/log", "packages/web/records")
    ]
    for package, folder in (
        *(("packages/web", "packages/web/records"), ("packages/api", "packages/api/notes")),
        *(("packages/pay", "packages/pay/log"), ("docs", "docs/adr")),
    ):
        (clone / package / "src").mkdir(parents=True, exist_ok=True)
        assert places(clone, cwd=clone / package / "src").new == folder
    found = records_in(clone, places(clone).folders).records
    assert [one.path for one in found] == [
        *("packages/pay/log/0001-x.md", "packages/web/records/0001-x.md")
    ]


@each("content", ["", "\n", " \r\n"])
def test_an_adr_dir_that_says_nothing_is_passed_over(root: Path, content: str) -> None:
    (root / ".adr-dir").write_bytes(content.encode())
    assert places(root).new == "docs/decisions"


@each(
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
def test_an_adr_dir_that_leads_outside_is_refused_on_one_line(clone: Path, content: bytes) -> None:
    (clone / ".adr-dir").write_bytes(content)
    with pytest.raises(ArtifactOutside, match=r"^\.adr-dir") as caught:
        _ = places(clone).new
    assert str(caught.value).isprintable()


def test_an_adr_dir_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "said").write_text("docs/adr")
    (root / ".adr-dir").symlink_to(tmp_path / "said")
    with pytest.raises(ArtifactOutside):
        _ = places(root).folders


def test_a_usual_folder_that_leads_outside_is_passed_over(root: Path, tmp_path: Path) -> None:
    filed(tmp_path, "elsewhere/0001-x.md")
    (root / "docs").mkdir()
    (root / "docs" / "adr").symlink_to(tmp_path / "elsewhere")
    assert paths(root) == []
    with pytest.raises(ArtifactOutside):
        _ = places(root, "docs/adr").folders


@pytest.mark.slow("sizes")
def test_a_folder_behind_too_many_pages_is_named(clone: Path) -> None:
    filed(clone, *(f"ideas/{n}.md" for n in range(PAGES_MAX + 1)), text=PROSE)
    filed(clone, "later/0001-x.md", "later/0002-y.md")
    found = places(clone)
    assert found.folders == ()
    assert [path for path, _ in found.left_out] == ["later"]
