"""The page on architecture begins with the rooms as they are, and is one page."""

from __future__ import annotations

from typing import Final

from tests.house.generated import is_fresh
from tests.house.picture import NAME, PAGE, drawn
from tests.markdown import ROOT

LINES_MAX: Final = 90  # of text: without empty lines


def test_the_picture_of_the_rooms_is_fresh() -> None:
    assert is_fresh(PAGE, NAME, drawn()), "python -m tests.house.picture"


def test_the_page_is_one_page() -> None:
    lines = (ROOT / PAGE).read_text("utf-8").splitlines()
    assert len([line for line in lines if line]) <= LINES_MAX
