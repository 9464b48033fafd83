"""Text on its way into an Input: secrets that hide behind invisible characters go too."""

from __future__ import annotations

import pytest

from preflights_es.core.text import INTENTION_MAX
from preflights_es.runtime.sanitizing import cleaned


@pytest.mark.parametrize(
    "invisible", ["\u200b", "\u00ad", "\U000e0001", "\U000e0041", "\U000e007f"]
)
def test_a_secret_with_invisible_characters_inside_is_taken_out(invisible: str) -> None:
    hidden = f"{invisible}".join("ada@example.com")
    assert cleaned("the intention", f"Ask {hidden}", INTENTION_MAX) == (
        "Ask [redacted:email]",
        ("email",),
    )


def test_invisible_characters_beside_no_secret_stay_as_they_were_typed() -> None:
    text = "Add a flag 🏴\U000e0067\U000e0062\U000e007f"
    assert cleaned("the intention", text, INTENTION_MAX) == (text, ())
