"""The list of decisions, and one of them."""

from __future__ import annotations

from tests.cli.program import Project
from tests.surfaces.view.conftest import Pages, words


def test_an_empty_project_says_so(pages: Pages) -> None:
    assert "Nothing is in force here." in words(pages.text("/"))


def test_a_decision_in_force_is_listed(shop: Project, pages: Pages) -> None:
    shop.call("start", "Use PostgreSQL", "--answer", "PostgreSQL", "--json")
    assert "Decisions" in words(pages.text("/"))
