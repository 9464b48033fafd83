"""What the signature of each acceptance proves, as the pages show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import home, template
from tests.cli.signing import LOGIN, Team
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


def test_what_is_signed_claimed_and_of_a_stranger_is_told_apart(
    shop: Team, opened: Open, signed_pages: Pages
) -> None:
    signed = shop.accept("PostgreSQL")
    claimed = shop.accept("MySQL", "--supersedes", signed["uid"], sign=False)
    page = words(signed_pages.text(f"/decisions/{signed['session_id']}"))
    assert "signed by ada@example.org (SHA256:" in page
    page = words(signed_pages.text(f"/decisions/{claimed['session_id']}"))
    assert " claimed " in page.partition("The record")[0]
    listed = signed_pages.text("/?all=1")
    assert [listed.count(f">{one}<") for one in ("signed", "claimed")] == [1, 1]
    shop.lists(shop.line("eve"))
    later = opened(shop.folder).text("/?all=1")
    assert [later.count(f">{one}<") for one in ("unknown signer", "claimed")] == [1, 1]


def test_an_unsigned_acceptance_is_claimed_too(shop: Team, opened: Open) -> None:
    claimed = shop.accept("PostgreSQL", sign=False)
    signed = shop.accept("OAuth", intention=LOGIN)
    pages = opened(shop.folder)
    listed = pages.text("/")
    assert [listed.count(f">{one}<") for one in ("signed", "claimed")] == [1, 1]
    page = words(pages.text(f"/decisions/{claimed['session_id']}"))
    assert "Signature claimed Recorded" in page
    assert "signed by" not in page
    page = words(pages.text(f"/decisions/{signed['session_id']}"))
    assert "claimed" not in page
