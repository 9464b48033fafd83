"""What stands around the one value: fences and blanks are tolerated, everything else is prose."""

from __future__ import annotations

from typing import Final

from tests.filed_cases import filed_cases
from tests.judging.judging_corpus.case import OK, Case

FILED = filed_cases(__file__)
TABLES: Final = ("FENCES", "PROSE_AROUND", "THOUGHTS", "SEVERAL_VALUES", "BLANKS")

MADE: Final = (
    Case("a thousand line breaks around", "\n" * 1_000 + '{"a":"x"}' + "\n" * 1_000, OK),
)
"""Cases that are too long for a file, or that no file may hold."""

CASES: Final = (
    *(Case(*row)._replace(dropped=name == "THOUGHTS") for name in TABLES for row in FILED[name]),
    *MADE,
)
