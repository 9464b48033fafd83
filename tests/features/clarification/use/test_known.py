"""What is told before a question, of records that another tool wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import preflights_es
from tests.each import each

RECORD = "# {}\n\nStatus: Accepted\n\n## Context\n\nc\n\n## Decision\n\n{}\n"

STRIPE = "Offer Stripe for first orders"


@each(
    ("title", "chosen", "intention", "is_told"),
    [
        ("Payment provider", "The bank, because it is near", STRIPE, True),
        ("Payment provider for the shop", "The bank", STRIPE, True),
        ("Card payments at the desk", "The bank", STRIPE, True),
        ("How money comes in", "We pay by Adyen", STRIPE, True),
        ("How money comes in", "We pay by Stripe", STRIPE, False),
        ("How money comes in", "We asked, because Adyen is slow", STRIPE, False),
        ("Payments are checked by hand", "A clerk does it", STRIPE, False),
        ("Payment provider", "The bank", "Paying with points", False),
    ],
)
def test_a_record_of_a_topic_is_told_where_another_value_of_it_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    title: str,
    chosen: str,
    intention: str,
    is_told: bool,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "shop" / "docs" / "adr"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0001-a.md").write_text(RECORD.format(title, chosen), "utf-8")
    with preflights_es.open(tmp_path / "shop") as log:
        session: Any = log.start(intention)
    assert bool(session.known) == is_told
