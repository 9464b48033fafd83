"""Where acceptances are signed: the page shows the command, and what each signature proves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import home, template
from tests.cli.signing import LOGIN, STORE, Team
from tests.surfaces.view.conftest import Open, Pages, words
from tests.surfaces.view.test_inbox import begun, shown, version

__all__ = ["home", "template"]

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture
def shop(template: Path, home: Path, tmp_path: Path) -> Team:
    """A repository whose policy asks for signatures, and Ada, whose key signs."""
    team = Team(template, home, tmp_path)
    team.has_policy()
    return team


@pytest.fixture
def signed_pages(shop: Team, opened: Open) -> Pages:
    return opened(shop.folder)


def test_where_only_a_signature_counts_the_page_shows_the_command(
    shop: Team, signed_pages: Pages
) -> None:
    session = begun(shop, "Add OAuth login", "--answer", "auth_strategy=OAuth")
    page = signed_pages.text(f"/inbox/{session}")
    assert "/accept" not in page
    assert f"Accept it with preflights accept {session[-8:]} --sign" in words(page)
    assert "Only a signed acceptance counts here" in words(page)
    assert f"preflights accept {session[-8:]} --sign" in words(signed_pages.text("/inbox"))
    assert f'action="/inbox/{session}/decline"' in page
    refused = signed_pages.fill(f"/inbox/{session}/accept", version=version(shop, session))
    assert refused.status_code == 409
    assert "Nothing was recorded. a browser signs nothing" in words(refused.text)
    assert shown(shop, session)["status"] == "ready"


def test_a_decision_that_differs_is_chosen_about_at_the_terminal(
    shop: Team, signed_pages: Pages
) -> None:
    shop.accept("PostgreSQL")
    session = begun(shop, STORE, "--answer", "db_type=MySQL")
    page = signed_pages.text(f"/inbox/{session}")
    assert "/accept" not in page
    assert f"preflights accept {session[-8:]} --sign" in words(page)


def test_what_is_signed_claimed_and_of_a_stranger_is_told_apart(
    shop: Team, opened: Open, signed_pages: Pages
) -> None:
    signed = shop.accept("PostgreSQL")
    claimed = shop.accept("MySQL", "--supersedes", signed["uid"], sign=False)
    page = words(signed_pages.text(f"/decisions/{signed['session_id']}"))
    assert "signed by ada@example.org (SHA256:" in page
    assert "stays: what supersedes it is only claimed" in page
    assert " signed stays" in page
    page = words(signed_pages.text(f"/decisions/{claimed['session_id']}"))
    assert " claimed " in page.partition("The record")[0]
    listed = signed_pages.text("/?all=1")
    assert [listed.count(f">{one}<") for one in ("signed", "claimed")] == [1, 1]
    assert listed.count("stays: what") == 1
    shop.trusts(text=shop.line("eve"))
    later = opened(shop.folder).text("/?all=1")
    assert [later.count(f">{one}<") for one in ("unknown signer", "claimed")] == [1, 2]


def test_without_a_policy_an_unsigned_acceptance_is_claimed_too(shop: Team, opened: Open) -> None:
    (shop.folder / "preflights.toml").unlink()
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
