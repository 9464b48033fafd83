"""The facts of a repository, as a command reads them."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import Project

PACKAGES = '{"dependencies": {"react": "^18"}}\n'


def test_a_repository_is_read_below_its_root_and_a_folder_at_its_top_alone(
    empty: Project, tmp_path: Path, home: Path
) -> None:
    (empty.folder / "web").mkdir()
    (empty.folder / "web" / "package.json").write_text(PACKAGES)
    for words in ((), ("--db", str(empty.folder.parent / "elsewhere.db"))):
        (one,) = empty.call("facts", "--json", *words).json["technologies"]
        assert (one["name"], one["path"]) == ("react", "web/package.json")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "package.json").write_text(PACKAGES)
    assert Project(tmp_path, home).call("facts", "--json").json["technologies"] == []
