"""Tables for people, by rich; imported only where one is drawn."""

from __future__ import annotations

import sys
from typing import NamedTuple

from preflights_cli.common import _coloured
from preflights_es.core.text import shown


class Column(NamedTuple):
    """A heading, its cells, and the least width it keeps."""

    name: str
    cells: list[str]
    width: int = 20


PIPE_WIDTH = 200  # characters where there is no terminal to ask


def table(columns: tuple[Column, ...]) -> None:
    """Draw columns; every cell is data, so nothing in it is markup or moves the cursor."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    console = Console(
        no_color=not _coloured(sys.stdout), highlight=False, width=width, soft_wrap=False
    )
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, column in enumerate(columns):
        last = i == len(columns) - 1
        drawn.add_column(
            column.name, min_width=None if last else column.width, no_wrap=not last, overflow="fold"
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        drawn.add_row(*(Text(shown(cell)) for cell in cells))
    console.print(drawn)
