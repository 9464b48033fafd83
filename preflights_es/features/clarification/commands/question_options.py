"""The options of a question that the actor wrote, and what they say together."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from preflights_cli.common import given
from preflights_es.kernel.questions import Option, WrittenQuestion, written_question

R = TypeVar("R")


def question_options(command: Callable[..., R]) -> Callable[..., R]:
    """Eight options, given to the command as one `written`; `--scope` is the question's, too."""

    @wraps(command)
    def told(
        *args: Any,
        question: str | None,
        options: tuple[str, ...],
        described: tuple[str, ...],
        against: tuple[str, ...],
        recommend: str | None,
        topic: str | None,
        matters: str | None,
        evidence: tuple[str, ...],
        **more: Any,
    ) -> R:
        if question is None and (
            options or described or against or recommend or topic or matters or evidence
        ):
            message = (
                "--option, --describe, --against, --recommend, --topic, --matters and --evidence "
                "belong to a question: give --question too"
            )
            raise click.UsageError(message)
        written: WrittenQuestion | None = None
        if question is not None:
            labels = tuple(option.strip() for option in options)
            means = _each_about(described, labels, "--describe")
            flaws = _each_about(against, labels, "--against")
            written = written_question(
                question,
                [Option(one, means.get(one, ""), flaws.get(one, "")) for one in labels],
                topic or "",
                _about(recommend, labels, "--recommend") if recommend else None,
                matters or "",
                more["scope"] or "",
                evidence,
            )
        return command(*args, written=written, **more)

    for option in (
        click.option(
            "--evidence",
            multiple=True,
            metavar="PATH:LINES",
            help="A file that the question follows from, such as src/db.py:12-40.",
        ),
        click.option(
            "--matters", metavar="TEXT", callback=given, help="What depends on the answer."
        ),
        click.option(
            "--topic", metavar="TOPIC", callback=given, help="What the question is about."
        ),
        click.option(
            "--recommend",
            metavar="OPTION: WHY",
            callback=given,
            help="Recommend an option, with a reason.",
        ),
        click.option(
            "--against", multiple=True, metavar="OPTION: TEXT", help="What speaks against it."
        ),
        click.option(
            "--describe",
            "described",
            multiple=True,
            metavar="OPTION: TEXT",
            help="What an option means.",
        ),
        click.option(
            "--option", "options", multiple=True, metavar="TEXT", help="One of its options."
        ),
        click.option(
            "--question", metavar="TEXT", callback=given, help="Ask this question of yours."
        ),
    ):
        told = option(told)
    return told


def _each_about(said: tuple[str, ...], options: tuple[str, ...], name: str) -> dict[str, str]:
    """What is said of each option."""
    found: dict[str, str] = {}
    for option, text in (_about(one, options, name) for one in said):
        if option in found:
            message = f"{name}: {option!r} is given twice: say it in one sentence"
            raise click.UsageError(message)
        found[option] = text
    return found


def _about(said: str, options: tuple[str, ...], name: str) -> tuple[str, str]:
    """An option and what is said of it; an option may hold a colon itself."""
    for option in sorted(options, key=len, reverse=True):
        begun, colon = said.lstrip()[: len(option)], said.lstrip()[len(option) :].lstrip()
        if begun.casefold() == option.casefold() and colon.startswith(":"):
            return option, colon[1:].strip()
    option, colon, text = said.partition(":")
    if not colon:
        message = f"{name}: found {said!r}, expected OPTION: TEXT"
        raise click.UsageError(message)
    if name != "--recommend":
        message = f"{name}: there is no option {option.strip()!r}: give --option for it"
        raise click.UsageError(message)
    return option.strip(), text.strip()
