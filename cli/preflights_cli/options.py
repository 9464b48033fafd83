"""Options that several commands have, and the reports for machines that some are asked for: which,
and to which files.
"""

from __future__ import annotations

import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click
from msgspec import UNSET

from preflights_cli.common import each_given
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import decode_plain_json
from preflights_es.kernel.text import late_pattern
from preflights_es.system.files import new_file
from preflights_es.words.decisions import HOLDS, Hold, RejectedAlternative, StatedReasons

Answers = list[tuple[str, tuple[str, ...]]]

FILE_MAX: Final = 1_000_000  # bytes of an answers file

_KEYED = late_pattern(r"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)?)=(.*)", re.DOTALL)
_LABELLED = late_pattern(r"\s*(\w[^=\n]*?)\s*=(.*)", re.DOTALL)


def keyed(texts: tuple[str, ...]) -> Answers:
    """`KEY=VALUE` or `LABEL=VALUE` words; the same key again adds a value."""
    answers: dict[str, tuple[str, ...]] = {}
    for text in texts:
        found = _KEYED.fullmatch(text) or _LABELLED.fullmatch(text)
        if found is None:
            message = f"found {text!r}, expected KEY=VALUE such as auth_strategy=OAuth"
            raise click.UsageError(message)
        answers[found[1]] = (*answers.get(found[1], ()), found[2])
    return list(answers.items())


def parse_answer_words(texts: tuple[str, ...]) -> Answers:
    """`[KEY=]VALUE` words; those without a key answer the open question, whose key is ""."""
    without = tuple(text for text in texts if not _KEYED.fullmatch(text))
    with_key = keyed(tuple(text for text in texts if _KEYED.fullmatch(text)))
    return [("", without), *with_key] if without else with_key


def from_file(name: str) -> Answers:
    """A JSON object of key and text, or list of texts; `-` is stdin.

    Raises:
        Refused: it is not one.
    """
    import json

    where, raw = read_input_file(name, FILE_MAX)
    if len(raw) > FILE_MAX:
        raise Refused(f"{where} has more than {FILE_MAX:,} bytes: no answers are that long")
    try:
        plain = raw.removeprefix(BOM_UTF8)
        decode_plain_json(plain)  # strict: no NaN, no lone surrogate
        data = json.loads(plain, object_pairs_hook=_gathered)
    except ValueError as error:
        raise Refused(f"{where} is not JSON: {error}") from error
    except RecursionError as error:
        raise Refused(f"{where} is nested too deeply: it is an object of texts") from error
    if not isinstance(data, dict):
        raise Refused(f'{where}: expected an object such as {{"auth_strategy": "OAuth"}}')
    return [(key, _answer_texts_in_file(where, key, value)) for key, value in data.items()]


def read_input_file(name: str, most: int) -> tuple[str, bytes]:
    """What a message calls a file, `-` for stdin, and its content: a byte too many at most.

    Raises:
        Refused: it cannot be read.
    """
    where = "the standard input" if name == "-" else name
    try:
        if name == "-":
            return where, sys.stdin.buffer.read(most + 1)
        with Path(name).open("rb") as file:
            return where, file.read(most + 1)
    except OSError as error:
        raise Refused(f"{where} cannot be read: {error.strerror}") from error


def _gathered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which a key that stands twice has both values, as on the command line."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        both = [*_wrap_in_list(found[key]), *_wrap_in_list(value)] if key in found else value
        found[key] = both
    return found


def _wrap_in_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _answer_texts_in_file(where: str, key: str, value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(v, str) for v in values):
        raise Refused(f"{where}: the answer to {key!r} is neither a text nor a list of texts")
    return tuple(values)


Decorator = Callable[[Callable[..., int]], Callable[..., int]]


def grouped_options(make: Callable[..., dict[str, Any]], *options: Decorator) -> Decorator:
    """Options that a command takes as one value; above the one that opens the log.

    Args:
        make: what the command takes, from what was said with these options and others.
    """

    def wrapped(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def told(*args: Any, **said: Any) -> int:
            return command(*args, **make(**said))

        decorated: Callable[..., int] = told
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return wrapped


def _stated_reasons(
    because: str,
    consequences: tuple[str, ...],
    alternatives: tuple[str, ...],
    paths: tuple[str, ...],
    hold: Hold | None,
    **more: Any,
) -> dict[str, Any]:
    read = tuple(map(alternative, alternatives))
    said = StatedReasons(because, consequences, read, paths=paths or UNSET, hold=hold or UNSET)
    return {"reasons": None if said == StatedReasons() else said, **more}


with_reason_options: Final = grouped_options(
    _stated_reasons,
    click.option("--because", default="", metavar="TEXT", help="Why it is decided so."),
    click.option(
        "--consequence",
        "consequences",
        multiple=True,
        metavar="TEXT",
        help="What follows from the decision; repeatable.",
    ),
    click.option(
        "--alternative",
        "alternatives",
        multiple=True,
        metavar='"NAME: WHY NOT"',
        help="What was not chosen, and why; repeatable.",
    ),
    click.option(
        "--path",
        "paths",
        multiple=True,
        metavar="PATTERN",
        callback=each_given,
        help="Files for which it holds, such as 'src/db/**'; repeatable.",
    ),
    click.option(
        "--hold",
        type=click.Choice(HOLDS),
        help="When an agent edits such a file: tell it, ask a person, or deny the edit.",
    ),
)
"""Five options, given to the command as one `reasons`."""


def alternative(text: str) -> RejectedAlternative:
    """`NAME: why not`, or the name alone."""
    name, _, why_not = text.partition(": ")
    return RejectedAlternative(name.strip().removesuffix(":"), why_not.strip())


def mode_of(asked: Mapping[str, Any]) -> str:
    """`strict`, `drift`, `simulate` or `whatif`.

    Args:
        asked: the options by the names of their parameters.

    Raises:
        UsageError: the options contradict each other.
    """
    simulators = _names_of_given_options(("--seed", asked["seed_"]), ("--faults", asked["faults_"]))
    others = _names_of_given_options(
        ("--provider", asked["provider_"]),
        ("--model", asked["model_"]),
        ("--prompt", asked["prompts"]),
        ("--answer", asked["answered"]),
    )
    around = _names_of_given_options(("--from", asked["start"]), ("--live", asked["live"]))
    if asked["drift"] and asked["simulate"]:
        refuse("--drift runs on with the recorded responses, --simulate with others: give one")
    if asked["drift"] and (found := [*simulators, *others, *around]):
        refuse(f"--drift changes nothing of a session: leave {found[0]} out")
    if asked["simulate"] and (found := [*others, *around]):
        refuse(f"--simulate takes --seed and --faults alone: leave {found[0]} out, or it")
    if asked["drift"] or asked["simulate"]:
        return "drift" if asked["drift"] else "simulate"
    if simulators or others:
        return "whatif"
    if around:
        refuse(f"{around[0]} needs a change to test, for example --model")
    if asked["out"] is not None:
        refuse("--out keeps what was run again: a strict replay runs nothing")
    return "strict"


def _names_of_given_options(*options: tuple[str, Any]) -> list[str]:
    return [name for name, value in options if value not in (None, (), False)]


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
    said, new = f"Write a report: {', '.join(formats)}.", "Replace report files that exist."
    report = click.option("--report", "reports", multiple=True, metavar="FORMAT=FILE", help=said)
    replace = click.option("--replace", "replaces", is_flag=True, help=new)
    return lambda command: report(replace(command))


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
            to = "stdout" if file == "-" else file
            refuse(f"--report: two reports go to {to}: name two files")
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
