"""Reports that commands write for machines: their files, and text of strangers that does nothing.

In an annotation or in Markdown, what comes from outside becomes no markup, no link, no mention and
no command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal, NoReturn, TypeVar

import click

from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.system.files import new_file

Command = TypeVar("Command", bound=Callable[..., Any])

# 1. Files ------------------------------------------------------------------------------------


def pairs(option: str, texts: Sequence[str], example: str) -> tuple[tuple[str, str], ...]:
    """What is typed as NAME=VALUE.

    Raises:
        UsageError: a text has no name or no value.
    """
    found = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            refuse(f"{option}: found {text!r}, expected a pair such as {example}")
        found.append((name, value))
    return tuple(found)


def report_options(formats: Sequence[str]) -> Callable[[Command], Command]:
    """`--report FORMAT=FILE` and `--replace`."""

    def having(command: Command) -> Command:
        for option in (
            click.option(
                "--replace", "replaces", is_flag=True, help="Replace report files that exist."
            ),
            click.option(
                "--report",
                "reports",
                multiple=True,
                metavar="FORMAT=FILE",
                help=f"Write a report: {', '.join(formats)}.",
            ),
        ):
            command = option(command)
        return command

    return having


def reports_of(
    typed: Sequence[str], formats: Collection[str], example: str
) -> list[tuple[str, str]]:
    """Pairs of format and file.

    Raises:
        UsageError: there is no such format.
    """
    found = list(pairs("--report", typed, example))
    for name, _ in found:
        if name not in formats:
            refuse(f"--report: found {name!r}, expected one of {', '.join(formats)}")
    return found


def check(wanted: Sequence[tuple[str, str]], *, replacing: bool, is_json: bool) -> None:
    """That all reports can be written, before the run takes long.

    Raises:
        UsageError: two go to the same file, or to stdout.
        Refused: a file exists, and is not to be replaced.
    """
    files = [file for _, file in wanted] + ["-"] * is_json
    for file in files:
        if files.count(file) > 1:
            refuse(
                f"--report: two reports go to {'stdout' if file == '-' else file}: name two files"
            )
        if file != "-" and not replacing and os.path.lexists(file):
            raise Refused(f"{file} exists: name a new file, or give --replace")


def write(
    rendered: Callable[[str], str], wanted: Sequence[tuple[str, str]], *, replacing: bool
) -> None:
    """The report in files; - is stdout.

    Args:
        rendered: the report in a format.

    Raises:
        Refused: a file exists, and is not to be replaced.
        StoreUnavailable: it cannot be written.
    """
    for name, file in wanted:
        content = rendered(name)
        if file == "-":
            click.echo(content, nl=False)
            continue
        with new_file(file, replacing=replacing) as made:
            made.write(content.encode())


def refuse(message: str) -> NoReturn:
    """Raises:
    UsageError: always.
    """
    raise click.UsageError(message)


# 2. Annotations of GitHub Actions ------------------------------------------------------------

Kind = Literal["error", "warning", "notice"]
KINDS: Final[tuple[Kind, ...]] = ("error", "warning", "notice")
KIND_MAX: Final = 10  # annotations of a kind that GitHub shows of one step; of a job, 50
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def annotation(kind: Kind, message: str, **properties: str) -> str:
    """One line: what text holds ends no line and no property.

    Source: escapeData and escapeProperty of the toolkit of GitHub Actions.
    """
    said = ",".join(f"{key}={shown(text).translate(_PROPERTY)}" for key, text in properties.items())
    text = "\n".join(map(shown, message.split("\n")))
    return f"::{kind} {said}::{text.translate(_DATA)}"


def limited(kind: Kind, lines: list[str], what: str, title: str) -> list[str]:
    """As many as the host shows; where there are more, the last line says how many.

    Args:
        what: `session`: what a line is about.
    """
    if len(lines) <= KIND_MAX:
        return lines
    more = len(lines) - KIND_MAX + 1
    said = f"{more:,} more {what}{'' if more == 1 else 's'} not shown here: the report has them."
    return [*lines[: KIND_MAX - 1], annotation(kind, said, title=title)]


# 3. Markdown ---------------------------------------------------------------------------------

COMMENT_MAX: Final = 65_000  # bytes; GitHub takes 65,536 characters
SUMMARY_MAX: Final = 1_000_000  # bytes; GitHub takes 1 MiB a step
SPAN_MAX: Final = 160  # characters of one text from outside
_TICKS: Final = re.compile("`+")


def span(text: str, width: int = SPAN_MAX) -> str:
    """As code, on one line: its fence is longer than any run of backticks within."""
    said = shortened(shown(one_line(text)), width) or " "
    fence = "`" * (1 + max(map(len, _TICKS.findall(said)), default=0))
    pad = " " if said.startswith("`") or said.endswith("`") else ""
    return f"{fence}{pad}{said}{pad}{fence}"
