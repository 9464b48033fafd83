"""What is told before a question, of records that another tool wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import preflights_es
from tests.each import each

RECORD = "# {}\n\nStatus: Accepted\n\n## Context\n\nc\n\n## Decision\n\nWe pay by Adyen\n"


@each(
    ("title", "intention", "is_told"),
    [
        ("Payment provider", "Offer Stripe for first orders", True),
        ("Payment provider for the shop", "Offer Stripe for first orders", True),
        ("Payments are checked by hand", "Offer Stripe for first orders", False),
        ("Payment provider", "Paying with points", False),
    ],
)
def test_a_record_named_like_a_topic_is_told_of_its_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title: str, intention: str, is_told: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "shop" / "docs" / "adr"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0001-a.md").write_text(RECORD.format(title), "utf-8")
    with preflights_es.open(tmp_path / "shop") as log:
        session: Any = log.start(intention)
    assert bool(session.known) == is_told
