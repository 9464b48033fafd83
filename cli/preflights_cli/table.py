"""Tables and times for people.

A table has any length, is drawn page by page, and is as wide as the terminal; rich says how wide
letters of other scripts are, and only they have it imported. Times are read as people type them,
and shown as JSON has them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Any, Final, ParamSpec, TypeVar

import click

from preflights_es.kernel.ids import iso, parse_moment
from preflights_es.kernel.text import escaped_text, late_pattern, shortened

Row = Sequence[str]

PIPE_WIDTH: Final = 80  # characters where there is no terminal to ask
CELL_MAX: Final = 60  # characters of a cell but the last; the rest is cut off
BRIEF_MAX: Final = 120  # characters of the last cell, where it is not wanted whole
FOLDED_FROM: Final = 20  # characters; a terminal is hardly narrower
WORD_MAX: Final = 32  # characters of a word that a column makes room for; a longer one is broken
BELOW: Final = "    "  # in front of a last cell that stands below its row
WHOLE_MIN: Final = 32  # characters of a last cell that is wanted whole; else it stands below
COLUMN_MIN: Final = 4  # characters; a narrower terminal breaks lines itself
GAP: Final = "  "  # between columns
PAGE: Final = 500  # rows that are measured together, and held

_WORD: Final = late_pattern(r" *[^ ]+")
_LABEL: Final = late_pattern(r" *(?:[^ ]+ {2,})?")
_NARROW: Final = late_pattern(
    "[ -~\xa1-\xac\xae-\u02af\u2010-\u2027\u2030-\u205e\u20ac\u2190-\u2193\u2500-\u257f]*"
)
"""Characters that take one column each: those of European languages, and of our own lines."""


def coloured(stream: Any) -> bool:
    """Colour only on a terminal; NO_COLOR and FORCE_COLOR decide before that."""
    environment = os.environ  # noqa: TID251  a matter of the terminal, not of settings
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and environment.get("TERM") != "dumb"


def streamed(names: Row, rows: Iterable[Row], *, whole: bool = False) -> bool:
    """Draw rows as they come, in little memory; whether there were any.

    Every cell is data, so nothing in it is markup.

    Args:
        whole: the last cell is wanted whole, however many lines it takes.
    """
    text = table_text(names, rows, whole=whole)
    first = next(text, None)
    if first is None:
        return False
    for part in chain([first], text):
        click.echo(part, nl=False, color=coloured(sys.stdout))
    return True


def _split_into_pages(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while page := list(islice(left, PAGE)):
        yield page


def table_text(names: Row, rows: Iterable[Row], *, whole: bool = False) -> Iterator[str]:
    """The same as text, page by page; nothing where there is no row.

    Args:
        names: a last one that is empty puts what is in the last cells below their rows.
    """
    wanted = [_size(name) for name in names]
    words = [_longest_word(name) for name in names]
    # Columns; the last cell stands below its row where words lack the room.
    beside = len(names) - (not names[-1])
    for number, page in enumerate(_split_into_pages(rows)):
        rows = [[*map(_narrow, row[:-1]), _last(row[-1], whole=whole)] for row in page]
        columns = list(zip(*rows, strict=True))
        wanted = [max(w, *map(_size, c)) for w, c in zip(wanted, columns, strict=True)]
        room = _width() - len(GAP) * (beside - 1)
        if sum(wanted[:beside]) > room:
            words = [max(w, *map(_longest_word, c)) for w, c in zip(words, columns, strict=True)]
            is_short = room < _least(wanted, words)
            is_short |= whole and room - sum(wanted[:-1]) < WHOLE_MIN
            if number == 0 and beside == len(names) > 2 and is_short:
                beside -= 1
        room = _width() - len(GAP) * (beside - 1)
        widths = _fitting(wanted[:beside], words[:beside], room)
        if number == 0:
            yield _heading(names, widths)
        yield "".join(f"{line}\n" for line in _table_lines(rows, widths))


def _least(wanted: Sequence[int], words: Sequence[int]) -> int:
    """How wide columns are that break no word of a common length."""
    return sum(min(width, word, WORD_MAX) for width, word in zip(wanted, words, strict=True))


def _fitting(wanted: Sequence[int], words: Sequence[int], room: int) -> list[int]:
    """Widths that fit: room for the longest word of each, the rest by what each column lacks."""
    if sum(wanted) <= room:
        return list(wanted)
    widths = [min(width, word, WORD_MAX) for width, word in zip(wanted, words, strict=True)]
    while sum(widths) > room and max(widths) > COLUMN_MIN:
        widths[widths.index(max(widths))] -= 1
    lacks = [want - width for want, width in zip(wanted, widths, strict=True)]
    spare = max(room - sum(widths), 0)
    more = [spare * lack // max(sum(lacks), 1) for lack in lacks]
    more[lacks.index(max(lacks))] += spare - sum(more)
    return [width + extra for width, extra in zip(widths, more, strict=True)]


def _size(text: str) -> int:
    """Its width on a terminal; rich keeps every text that it measured, which takes memory."""
    if (text.isascii() and text.isprintable()) or _is_narrow(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _longest_word(text: str) -> int:
    first, *others = text.lstrip(" ").split(" ")
    indented = len(text) - len(text.lstrip(" ")) + _size(first)
    return max([indented, *map(_size, others)])


def _heading(names: Row, widths: Sequence[int]) -> str:
    lines = [click.style(line, bold=True) for line in _table_lines([names], widths)]
    rule = "─" if (sys.stdout.encoding or "utf-8").lower().startswith("utf") else "-"
    below = _width() if len(widths) < len(names) else 0
    lines.append(rule * max(sum(widths) + len(GAP) * (len(widths) - 1), below))
    return "".join(f"{line}\n" for line in lines)


def _table_lines(rows: Iterable[Row], widths: Sequence[int]) -> Iterator[str]:
    """What is printed of rows: as many lines as the cell takes that has the most."""
    for row in rows:
        cells = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=False)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (p + " " * (w - _size(p)) for p, w in zip(parts, widths, strict=True))
            yield GAP.join(padded).rstrip()
        if len(widths) < len(row) and row[-1]:
            yield from (f"{BELOW}{line}" for line in _wrapped(row[-1], _width() - len(BELOW)))


def _narrow(text: str) -> str:
    """Any cell but the last; what has no width counts as a character all the same."""
    return _cut_to_width(escaped_text(shortened(text, CELL_MAX)), CELL_MAX)


def _last(text: str, *, whole: bool) -> str:
    if whole:
        return escaped_text(text)
    return _cut_to_width(escaped_text(shortened(text, BRIEF_MAX)), BRIEF_MAX)


def _cut_to_width(text: str, width: int) -> str:
    """The text, with an ellipsis where it ends too early."""
    if _size(text) <= width:
        return text
    if _is_narrow(text):
        return text[: width - 1] + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1) + "…"


def _wrapped(text: str, width: int) -> list[str]:
    """Lines, broken between words, each indented as the text is; a word that is longer than a line
    is broken within.
    """
    if _size(text) <= width:
        return [text]
    indent = " " * min(len(text) - len(text.lstrip(" ")), width // 2)
    if indent:
        return [indent + line for line in _wrapped(text[len(indent) :], width - len(indent))]
    lines: list[str] = []
    line, used = "", 0
    for word in _WORD.findall(text):
        size = _size(word)
        if used + size > width:
            if line:
                lines.append(line)
            *full, line = _chopped(word.lstrip(" "), width) or [""]
            lines += full
            used = _size(line)
        else:
            line, used = line + word, used + size
    return [*lines, line]


def folded_for(stream: Any, text: str) -> str:
    """A text of which a terminal breaks no word; a longer word, such as a link, stays whole."""
    if len(text) <= FOLDED_FROM or not stream.isatty():
        return text
    return "\n".join(_folded(line, _width()) for line in text.split("\n"))


def _folded(text: str, room: int) -> str:
    """One line as several, which begin where its own text begins, or that behind its label."""
    label = _LABEL.match(text)
    indent = " " * (label.end() if label and label.end() < room // 2 else 0)
    lines, line = list[str](), ""
    for word in _WORD.findall(text) if len(text) > room else (text,):
        if line and _size(click.unstyle(line + word)) > room:
            lines.append(line)
            line = indent + word.lstrip(" ")
        else:
            line += word
    return "\n".join([*lines, line])


def _chopped(word: str, width: int) -> list[str]:
    """Parts of a word that are at most so wide."""
    if _is_narrow(word):
        return [word[n : n + width] for n in range(0, len(word), width)]
    from rich.cells import chop_cells

    return chop_cells(word, width)


def _is_narrow(text: str) -> bool:
    return (text.isascii() and text.isprintable()) or _NARROW.fullmatch(text) is not None


def _width() -> int:
    if not sys.stdout.isatty():
        return PIPE_WIDTH
    import shutil

    return shutil.get_terminal_size().columns


P = ParamSpec("P")
R = TypeVar("R")


class Moment(click.ParamType[int]):
    """A day, or a time, of UTC unless it says otherwise: microseconds since 1970 UTC.

    A day is its first moment, or its last where `is_end`.
    """

    name = "DATE"

    def __init__(self, *, is_end: bool) -> None:
        self._is_end = is_end

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_moment(str(value), is_end=self._is_end)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def time_range_options(what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`--since` and `--until`.

    Args:
        what: is limited by them, such as `Calls`.
    """

    def options(command: Callable[P, R]) -> Callable[P, R]:
        for name, is_end in (("until", True), ("since", False)):
            words = f"{what} {name} this day or time (UTC without an offset)."
            moment = Moment(is_end=is_end)
            command = click.option(f"--{name}", type=moment, metavar="DATE", help=words)(command)
        return command

    return options


def refuse_backwards(since: int | None, until: int | None) -> None:
    """Raises:
    UsageError: a time would end before it begins.
    """
    if since is not None and until is not None and since > until:
        message = f"found --since {iso(since)} after --until {iso(until)}: expected an earlier time"
        raise click.UsageError(message)


def minute(text: str) -> str:
    """The same for people, to the minute."""
    return f"{text[:16].replace('T', ' ')} UTC"
