"""The pages lead somewhere, and their sentences name who does what."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.each import each
from tests.markdown import ROOT

PAGES = (
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
PLAIN = [page for page in PAGES if page.parent.name != "decisions"]  # records stay as they were

_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_VAGUE = re.compile(r"\b(nobody|somebody|anybody|whoever)\b", re.IGNORECASE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each("page", PAGES)
def test_every_link_leads_to_a_page_and_its_heading(page: Path) -> None:
    for path, anchor in _LINK.findall(_BLOCK.sub("", page.read_text("utf-8"))):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


@each("page", PLAIN)
def test_the_subject_of_a_sentence_is_an_actor(page: Path) -> None:
    found = _VAGUE.findall(_BLOCK.sub("", page.read_text("utf-8")))
    assert not found, f"{name_of(page)} says {found[0]!r}: name the person, the program or the role"


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    listed = {path for path, _ in _LINK.findall(index.read_text("utf-8"))}
    assert {page.name for page in index.parent.glob("*.md")} - {index.name} <= listed


class Leading(HTMLParser):
    """Where a page of the site leads, what it loads, and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.ids: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, value) for name, value in attrs if value and name in ("href", "src")]
        self.ids |= {value for name, value in attrs if value and name == "id"}


@pytest.mark.slow("whole runs")
def test_the_site_shows_every_page_without_dead_or_foreign_links(tmp_path: Path) -> None:
    words = ["make", f"--old-file={sys.prefix}/.ready", "docs", f"VENV={sys.prefix}"]
    done = subprocess.run(
        [*words, f"SITE={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    pages = {page: Leading(page) for page in site.rglob("*.html") if page.name != "404.html"}
    menu = {(site / unquote(address)).resolve() for _, address in pages[site / "index.html"].found}
    for page in PAGES:
        shown = site / page.relative_to(ROOT).with_suffix(".html")
        assert (shown.with_name("index.html") if page.stem == "README" else shown) in menu, page
    for page, leads in pages.items():
        for tag, address in leads.found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                assert tag == "a", f"{page.name} loads {address}"
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.name} leads to {address}"
            anchor = unquote(parts.fragment)
            assert not anchor or anchor in pages[target].ids, f"{page.name} leads to {address}"


@pytest.mark.slow("whole runs")
def test_no_help_and_no_message_names_a_page_that_an_installed_program_lacks() -> None:
    for path in (ROOT / "preflights_es", ROOT / "cli"):
        for module in path.rglob("*.py"):
            tree = ast.parse(module.read_text("utf-8"))
            # What is a statement of its own is read by those who have the source.
            notes = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
            for one in ast.walk(tree):
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    named = re.search(r"docs/[a-z-]+\.md", one.value)
                    is_own = id(one) in notes or "interviews" in one.value
                    assert is_own or named is None, (module, one.lineno, named)
