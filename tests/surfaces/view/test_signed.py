"""What the signature of each acceptance proves, as the pages show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import home, template
from tests.cli.signing import Team
from tests.surfaces.view.conftest import Open, Pages, words

__all__ = ["home", "template"]

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture
def shop(template: Path, home: Path, tmp_path: Path) -> Team:
    """A repository that brings its signers, and Ada, whose key signs."""
    team = Team(template, home, tmp_path)
    team.lists(team.line())
    return team


@pytest.fixture
def signed_pages(shop: Team, opened: Open) -> Pages:
    return opened(shop.folder)


def test_what_is_signed_and_what_a_stranger_signed_is_told_apart(
    shop: Team, opened: Open, signed_pages: Pages
) -> None:
    signed = shop.accept("PostgreSQL")
    shop.accept("MySQL", "--supersedes", signed["uid"], sign=False)
    page = words(signed_pages.text(f"/decisions/{signed['session_id']}"))
    assert "signed by ada@example.org (SHA256:" in page
    listed = signed_pages.text("/?all=1")
    assert listed.count(">signed<") == 1
    shop.lists(shop.line("eve"))
    later = opened(shop.folder).text("/?all=1")
    assert later.count(">unknown signer<") == 1


def test_an_acceptance_without_a_signature_bears_no_word(shop: Team, opened: Open) -> None:
    unsigned = shop.accept("PostgreSQL", sign=False)
    pages = opened(shop.folder)
    for page in (pages.text("/"), pages.text(f"/decisions/{unsigned['session_id']}")):
        assert "signed" not in words(page).partition("The record")[0].replace("unsigned", "")
