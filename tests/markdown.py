"""Tables of our own documents, read so that a test can hold them against the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

Row = dict[str, str]

_CELL_END = re.compile(r"(?<!\\)\|")
_TICKED = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def tables(document: str) -> dict[str, list[Row]]:
    """The one table under each heading, as rows of header and cell; the heading without its hashes.

    Raises:
        AssertionError: two tables stand under one heading, or a row lacks a cell.
    """
    found: dict[str, list[Row]] = {}
    heading, header = "", None
    for line in (ROOT / document).read_text("utf-8").splitlines():
        if line.startswith("#"):
            heading, header = line.lstrip("# "), None
        elif not line.startswith("|"):
            header = None
        elif header is None:
            assert heading not in found, f"two tables under {heading!r}"
            header, found[heading] = _cells(line), []
        elif not set(line) <= set("|- "):
            found[heading].append(dict(zip(header, _cells(line), strict=True)))
    return found


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(inner)]


def ticked(cell: str) -> tuple[str, ...]:
    """The words between backticks, in order."""
    return tuple(_TICKED.findall(cell))
