"""What the name of a record's file says: a number, a day, and whether it is a record's at all."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from preflights_es.kernel.text import late_pattern

NUMBER_DIGITS_MAX: Final = 6  # a longer name is a date or an id, not a record's number
MARKDOWN: Final = (".md", ".markdown")
_NO_RECORD = late_pattern(
    r"(?:\d+[-_ ])?(?:(?:adr|madr|nygard|decision|record|long|short|bare|minimal)[-_ ])*template"
    r"(?:[-_ ](?:adr|madr|bare|minimal|long|short|full|de|en))*"
    r"|_?index|readme|toc|changelog|contributing",
    re.IGNORECASE,
)
_PAGES: Final = ("template", "index", "readme", "toc", "changelog", "contributing")
_DAY = late_pattern(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d)", re.ASCII)
_FILED = late_pattern(
    r"(?:adr[-_ ]?)?(\d{1,6})(?=[-_ ]|\.(?:md|markdown)$|$)", re.IGNORECASE | re.ASCII
)


def number_of(name: str) -> int | None:
    """The number that a file's name begins with; a date is no number."""
    found = _FILED.match(name)
    return int(found[1]) if found and not day_of(name) else None


def day_of(name: str) -> str:
    """The day that a file's name begins with (`20201021-title.md`), ISO 8601; else empty."""
    found = _DAY.match(name)
    return day(found[1], found[2], found[3]) if found else ""


def is_record_name(name: str) -> bool:
    """Whether a file is a record by its name alone: a number or a day, and no template."""
    stem = name.rpartition(".")[0]
    is_dated = number_of(stem) is not None or bool(day_of(stem))
    return is_dated and name.endswith(MARKDOWN) and not is_other_page(stem)


def is_other_page(stem: str) -> bool:
    """Whether a page beside the records is a template, an index or the like."""
    if stem.isascii() and not any(word in stem.lower() for word in _PAGES):
        return False  # most names need no pattern, which takes time to compile
    return _NO_RECORD.fullmatch(stem) is not None


def day(year: str, month: str, of_month: str) -> str:
    """ISO 8601; empty where there is no such day."""
    try:
        return date(int(year), int(month), int(of_month)).isoformat()
    except ValueError:
        return ""
