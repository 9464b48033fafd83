"""Tables for people, of any length: drawn page by page, and folded between words.

rich says how wide letters of other scripts are and folds them; only they have it imported.

rich's own table wants every row before it draws the first, and takes ten times as long for each:
rows are laid out here. As in `psql` with a FETCH_COUNT, columns are as wide as what was seen of
them so far; further down they may be wider.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from preflights_cli.common import coloured
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.text import shortened, shown

if TYPE_CHECKING:
    from rich.console import Console


class Column(NamedTuple):
    """A heading and its cells."""

    name: str
    cells: list[str]


Row = Sequence[str]

PIPE_WIDTH: Final = 200  # characters where there is no terminal to ask
CELL_MAX: Final = 60  # characters of a cell, but of the last: one long name would widen every line
LAST_MIN: Final = 30  # characters of the last column; a narrower terminal breaks lines itself
GAP: Final = "   "  # between columns
_NARROW: Final = late_pattern(
    "[ -~\xa1-\xac\xae-\u02af\u2010-\u2027\u2030-\u205e\u20ac\u2190-\u2193\u2500-\u257f]*"
)
"""Characters that take one column each: those of European languages, and of our own lines."""
_WORDS: Final = late_pattern(r"\s*\S+\s*")
PAGE: Final = 500  # rows that are measured together, and held


def table(columns: tuple[Column, ...], *, fold: bool) -> None:
    """Draw columns, the last one folded or cut; every cell is data, so nothing in it is markup."""
    rows = list(zip(*(column.cells for column in columns), strict=True))
    _draw([column.name for column in columns], [rows], fold=fold)


def streamed(names: Row, rows: Iterable[Row], *, fold: bool) -> bool:
    """Draw rows as they come, in little memory; whether there were any."""
    pages = _pages(rows)
    first = next(pages, None)
    if first is None:
        return False
    _draw(names, chain([first], pages), fold=fold)
    return True


def _pages(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while page := list(islice(left, PAGE)):
        yield page


def _draw(names: Row, pages: Iterable[Sequence[Row]], *, fold: bool) -> None:
    widths = [_length(name) for name in names]
    for number, page in enumerate(pages):
        rows = [[*map(_narrow, row[:-1]), shown(row[-1])] for row in page]
        widths = [max(w, *map(_length, column)) for w, *column in zip(widths, *rows, strict=True)]
        room = max(_width() - sum(widths[:-1]) - len(GAP) * (len(widths) - 1), LAST_MIN)
        widths[-1] = min(widths[-1], room)
        if number == 0:
            _echo_heading(names, widths)
        parted = partial(_folded if fold else _cut, width=room)
        click.echo("\n".join(_lines(rows, widths, parted)))


def _echo_heading(names: Row, widths: Sequence[int]) -> None:
    colour = coloured(sys.stdout)
    (line,) = _lines([names], widths, lambda name: [name])
    click.echo(click.style(line, bold=True), color=colour)
    rule = "─" if _speaks_unicode() else "-"
    click.echo(rule * (sum(widths) + len(GAP) * (len(widths) - 1)))


def _lines(
    rows: Iterable[Row], widths: Sequence[int], parted: Callable[[str], list[str]]
) -> Iterator[str]:
    """What is printed of rows: the last cell's lines, the first of them behind the other cells."""
    margin = " " * (sum(widths[:-1]) + len(GAP) * (len(widths) - 1))
    for *cells, last in rows:
        begin = "".join(_sized(c, w) + GAP for c, w in zip(cells, widths, strict=False))
        first, *others = parted(last)
        yield (begin + first).rstrip()
        yield from ((margin + other).rstrip() for other in others)


def _narrow(text: str) -> str:
    """Any cell but the last; what has no width counts as a character all the same."""
    (line,) = _cut(shown(shortened(text, CELL_MAX)), CELL_MAX)
    return line


def _cut(text: str, width: int) -> list[str]:
    """One line, with an ellipsis where it ends too early."""
    return [text if _length(text) <= width else _sized(text, width - 1) + "…"]


def _folded(text: str, width: int) -> list[str]:
    """Lines, broken between words where that can be."""
    if _length(text) <= width:
        return [text]
    if not _NARROW.fullmatch(text):
        from rich.text import Text

        return [line.plain for line in Text(text).wrap(_console(), width, overflow="fold")]
    lines, line = [], ""
    for word in _WORDS.findall(text):
        if line and len(line) + len(word.rstrip()) > width:
            lines.append(line)
            line = ""
        if len(word.rstrip()) > width:
            parts = [word[n : n + width] for n in range(0, len(word), width)]
            lines += parts[:-1]
            line = parts[-1]
        else:
            line += word
    return [*lines, line]


@cache
def _console() -> Console:
    """What rich asks for its settings; making one takes as long as folding a cell."""
    from rich.console import Console

    return Console()


def _length(text: str) -> int:
    """How many columns of a terminal it takes."""
    if _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _sized(text: str, width: int) -> str:
    """Cut, or filled up with spaces."""
    if _NARROW.fullmatch(text):
        return text[:width].ljust(width)
    from rich.cells import set_cell_size

    return set_cell_size(text, width)


def _width() -> int:
    if not sys.stdout.isatty():
        return PIPE_WIDTH
    import shutil

    return shutil.get_terminal_size().columns


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "utf-8").lower().startswith("utf")
