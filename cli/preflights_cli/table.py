"""Tables for people, by rich; imported only where one is drawn."""

from __future__ import annotations

import io
import shutil
import sys
from typing import Final, NamedTuple

import click

from preflights_cli.common import coloured
from preflights_es.core.text import shown


class Column(NamedTuple):
    """A heading and its cells."""

    name: str
    cells: list[str]


PIPE_WIDTH: Final = 200  # characters where there is no terminal to ask
LAST_MIN: Final = 30  # characters of the last column; a narrower terminal breaks lines itself
GAP: Final = 3  # characters between columns


def table(columns: tuple[Column, ...], *, fold: bool) -> None:
    """Draw columns, the last one folded or cut; every cell is data, so nothing in it is markup."""
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    fixed = 0
    for column in columns[:-1]:
        width = max(cell_len(shown(text)) for text in (column.name, *column.cells))
        drawn.add_column(column.name, min_width=width, no_wrap=True)
        fixed += width + GAP
    drawn.add_column(columns[-1].name, overflow="fold")
    room = max(_width() - fixed, LAST_MIN)
    for cells in zip(*(column.cells for column in columns), strict=True):
        row = [Text(shown(cell)) for cell in cells]
        if not fold:
            row[-1].truncate(room, overflow="ellipsis")
        drawn.add_row(*row)
    page = io.StringIO()
    colour = coloured(sys.stdout)
    Console(
        file=page,
        width=fixed + room,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
    ).print(drawn)
    rule = "─" if _speaks_unicode() else "-"
    for line in page.getvalue().splitlines():
        click.echo(line.rstrip().replace("─", rule), color=colour)


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "utf-8").lower().startswith("utf")
