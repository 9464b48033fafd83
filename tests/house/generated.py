"""Parts of pages that a program writes, between two comments that a reader does not see."""

from __future__ import annotations

import re

from tests.markdown import ROOT


def _part(name: str) -> re.Pattern[str]:
    end = f"<!-- end of {name} -->"
    return re.compile(rf"(<!-- {name}: [^\n]*-->\n\n).*?(\n[ #]*{re.escape(end)}\n)", re.DOTALL)


def with_part(page: str, name: str, text: str) -> str:
    """The text of a page with one part written anew."""
    before = (ROOT / page).read_text("utf-8")
    after, found = _part(name).subn(lambda match: f"{match[1]}{text}{match[2]}", before)
    assert found == 1, f"{page} has {found} parts {name!r}"
    return after


def is_fresh(page: str, name: str, text: str) -> bool:
    """Whether a page says what its program writes today."""
    return with_part(page, name, text) == (ROOT / page).read_text("utf-8")


def rewrite(page: str, name: str, text: str) -> None:
    """Write one part of a page anew."""
    (ROOT / page).write_text(with_part(page, name, text), "utf-8")
