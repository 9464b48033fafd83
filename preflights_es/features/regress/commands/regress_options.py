"""What the options of `regress` ask for."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NoReturn

import click

from preflights_es.features.regress.engine.results import Report
from preflights_es.features.regress.use.changes import Asked
from preflights_es.features.regress.use.regress import Options
from preflights_es.features.regress.use.selection import Selection
from preflights_es.kernel.errors import Refused
from preflights_es.system.files import new_file

FORMATS: Final = {
    "json": "",
    "jsonl": "json_lines",
    "junit": "junit",
    "markdown": "markdown",
    "summary": "summary",
    "annotations": "annotations",
    "html": "html",
}
"""Names of reports, and their modules; JSON is the report itself."""

EXAMPLES: Final = {
    "--prompt": "clarify=v2 or clarify=new.md",
    "--parameter": "temperature=0.2",
    "--report": "junit=regress.xml",
}


def selection_of(asked: Mapping[str, Any]) -> Selection:
    """Which sessions."""
    return Selection(**{name: asked[name] for name in Selection.__struct_fields__})


def change_asked(asked: Mapping[str, Any]) -> Asked:
    """The change."""
    return Asked(
        prompts=pairs("--prompt", asked["prompts"]),
        provider=asked["provider_"],
        model=asked["model_"],
        parameters=pairs("--parameter", asked["parameters"]),
        seed=asked["seed_"],
    )


def options_of(asked: Mapping[str, Any]) -> Options:
    """How the run goes."""
    if asked["calls_max"] is not None and not asked["is_live"]:
        _refuse("--max-calls limits what --live asks: give --live, or leave it out")
    if not asked["repeat"] % 2:
        _refuse(f"--repeat: found {asked['repeat']}, expected an odd number, such as 3")
    if not asked["is_live"] and (asked["repeat"] > 1 or asked["is_recorded"]):
        _refuse("--repeat and --recorded say how --live asks: give --live, too")
    if math.isnan(asked["margin"]):
        _refuse("--margin: found nan, expected a share between 0 and 1")
    if asked["is_fresh"] and asked["resumes"]:
        _refuse("--resume uses the results of the run before, --fresh none: give one")
    given = {name: asked[name] for name in Options.__struct_fields__ if name in asked}
    given |= {name: asked[name] or "" for name in ("scheduler", "code", "against", "baseline")}
    return Options(**given, repeating=_repeating(asked))


def _repeating(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The change as it was typed."""
    many = {"--prompt": asked["prompts"], "--parameter": asked["parameters"]}
    once = {
        "--provider": asked["provider_"],
        "--model": asked["model_"],
        "--seed": asked["seed_"],
        "--code": asked["code"],
        "--against": asked["against"],
    }
    words = [word for name, values in many.items() for value in values for word in (name, value)]
    for name, value in once.items():
        words += () if value is None else (name, str(value))
    words += ["--live"] * asked["is_live"] + ["--recorded"] * asked["is_recorded"]
    return (*words, *(("--repeat", str(asked["repeat"])) if asked["repeat"] > 1 else ()))


# Reports -------------------------------------------------------------------------------------


def reports_of(typed: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of format and file.

    Raises:
        UsageError: there is no such format.
    """
    found = list(pairs("--report", typed))
    for name, _ in found:
        if name not in FORMATS:
            _refuse(f"--report: found {name!r}, expected one of {', '.join(FORMATS)}")
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
            _refuse(
                f"--report: two reports go to {'stdout' if file == '-' else file}: name two files"
            )
        if file != "-" and not replacing and os.path.lexists(file):
            raise Refused(f"{file} exists: name a new file, or give --replace")


def write(report: Report, wanted: Sequence[tuple[str, str]], *, replacing: bool) -> None:
    """The report in files; - is stdout.

    Raises:
        Refused: a file exists, and is not to be replaced.
        StoreUnavailable: it cannot be written.
    """
    for name, file in wanted:
        content = rendered(report, name)
        if file == "-":
            click.echo(content, nl=False)
            continue
        with new_file(file, replacing=replacing) as made:
            made.write(content.encode())


def rendered(report: Report, name: str) -> str:
    """The report in a format."""
    if not FORMATS[name]:
        from preflights_es.kernel.json import encoded

        return encoded(report).decode() + "\n"
    module: ModuleType = import_module(
        f"preflights_es.features.regress.commands.reports.{FORMATS[name]}"
    )
    text: str = module.render(report)
    return text


def pairs(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What is typed as NAME=VALUE.

    Raises:
        UsageError: a text has no name or no value.
    """
    found = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            _refuse(f"{option}: found {text!r}, expected a pair such as {EXAMPLES[option]}")
        found.append((name, value))
    return tuple(found)


def _refuse(message: str) -> NoReturn:
    raise click.UsageError(message)
