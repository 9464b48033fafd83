"""A repository is read within its limits, and again only where a file changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from preflights_es.use import repository_facts as module
from preflights_es.use.repository_facts import repository
from preflights_es.use.repository_packages import list_package_names

OLD_NS = 1_700_000_000 * 10**9


def lay(root: Path, **files: str) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        os.utime(place, ns=(OLD_NS, OLD_NS))


def names(root: Path, cache: Path | None = None) -> list[str]:
    return [name for one in repository(root, cache).listed for name in one.names]


def test_what_people_wrote_comes_before_what_a_resolver_wrote(tmp_path: Path) -> None:
    lay(
        tmp_path,
        **{
            "uv.lock": '[[package]]\nname = "deep"\n',
            "web/package.json": '{"dependencies": {"vue": "3"}}',
        },
    )
    assert names(tmp_path) == ["vue", "deep"]


@pytest.mark.parametrize(
    ("readme", "said"),
    [
        (
            "# Shop\n\n[![ci](x)](y)\n\nSells *bikes*, see [docs](https://h/x).\n\nMore.",
            "Sells *bikes*, see docs.",
        ),
        ("Shop\n====\n\nSells bikes\nin Kiel.", "Sells bikes in Kiel."),
        ("# Shop\nSells bikes.", "Sells bikes."),
        ("<p>\n\n# Only a title", ""),
        ("", ""),
    ],
)
def test_the_readme_gives_its_first_paragraph(tmp_path: Path, readme: str, said: str) -> None:
    lay(tmp_path, **{"README.md": readme})
    assert repository(tmp_path).readme == said


def test_languages_and_ci_are_seen(tmp_path: Path) -> None:
    lay(
        tmp_path,
        **{
            "a.py": "",
            "src/b.py": "",
            "src/c.ts": "",
            "packages/web/src/cart/list/d.ts": "",
            ".github/workflows/x.yml": "",
            "node_modules/x/y.js": "",
        },
    )
    found = repository(tmp_path)
    assert found.languages == (("Python", 2), ("TypeScript", 2))
    assert found.ci == ("GitHub Actions",)


def test_no_link_is_followed(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    lay(
        other,
        **{"Pipfile": '[packages]\nsecret = "*"\n', "x/Pipfile": '[packages]\nsecret = "*"\n'},
    )
    root.mkdir()
    (root / "Pipfile").symlink_to(other / "Pipfile")
    (root / "x").symlink_to(other / "x")
    assert names(root) == []


def test_what_is_not_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILES_MAX", 3)
    lay(tmp_path, **{"package.json": "{", "Pipfile": "x" * 1_000_001})
    lay(tmp_path, **{f"d{at}/requirements.txt": f"p{at}" for at in range(3)})
    (tmp_path / "setup.cfg").write_bytes(b"\xff\xfe")
    found = {one.path: one.why for one in repository(tmp_path).unread}
    assert found["package.json"] == "it is no JSON"
    assert found["Pipfile"] == "more than 1,000,000 bytes would be read"
    assert found["setup.cfg"] == "it is not in UTF-8"
    assert found["d2/requirements.txt"] == "more than 3 files would be read"


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = tmp_path / "root", tmp_path / "cache"
    lay(root, **{"Pipfile": '[packages]\none = "*"\n', "requirements.txt": "two"})
    read: list[str] = []

    def counted(name: str, text: str) -> tuple[str, ...]:
        read.append(name)
        return list_package_names(name, text)

    monkeypatch.setattr(module, "list_package_names", counted)
    assert names(root, cache) == names(root, cache) == ["one", "two"]
    assert read == ["Pipfile", "requirements.txt"]
    (root / "Pipfile").write_text('[packages]\nthree = "*"\n', "utf-8")
    assert names(root, cache) == ["three", "two"]
    assert read[2:] == ["Pipfile"]
    (root / "Pipfile").unlink()
    assert names(root, cache) == ["two"]


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x93\xa1\xff\xa1x\x80"])
def test_a_broken_cache_is_no_matter(tmp_path: Path, content: bytes) -> None:
    root, cache = tmp_path / "root", tmp_path / "cache"
    lay(root, **{"requirements.txt": "two"})
    repository(root, cache)
    (kept,) = cache.iterdir()
    kept.write_bytes(content)
    assert names(root, cache) == ["two"]
    assert len(kept.read_bytes()) > len(content), "it is written anew"


def test_a_cache_that_cannot_be_written_is_no_matter(tmp_path: Path) -> None:
    root = tmp_path / "root"
    lay(root, **{"requirements.txt": "two"})
    (tmp_path / "cache").write_text("a file")
    assert names(root, tmp_path / "cache") == ["two"]
