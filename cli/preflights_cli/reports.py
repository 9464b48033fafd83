"""Reports that commands write for machines: what is asked for, and the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeVar

import click

from preflights_es.kernel.errors import Refused
from preflights_es.system.files import new_file

Command = TypeVar("Command", bound=Callable[..., Any])


def parse_name_value_pairs(
    option: str, texts: Sequence[str], example: str
) -> tuple[tuple[str, str], ...]:
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
    found = list(parse_name_value_pairs("--report", typed, example))
    for name, _ in found:
        if name not in formats:
            refuse(f"--report: found {name!r}, expected one of {', '.join(formats)}")
    return found


def check_report_files(
    wanted: Sequence[tuple[str, str]], *, replacing: bool, is_json: bool
) -> None:
    """That all reports can be written, before the run takes long.

    Raises:
        UsageError: two go to the same file, or to stdout.
        Refused: a file exists, and is not to be replaced.
    """
    files = [*(file for _, file in wanted), *(["-"] if is_json else [])]
    for file in files:
        if files.count(file) > 1:
            refuse(
                f"--report: two reports go to {'stdout' if file == '-' else file}: name two files"
            )
        if file != "-" and not replacing and os.path.lexists(file):
            raise Refused(f"{file} exists: name a new file, or give --replace")


def write_report_files(
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
