"""Every command by what it may do; a command that is in neither table fails a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from preflights_cli.main import COMMANDS, preflights

Words = tuple[str, ...]

READS: Final[dict[str, tuple[Words, ...]]] = {
    "sessions": (("sessions", "-v"), ("sessions", "--all", "--any-project", "--json")),
    "show": (("show", "last"), ("show", "HARMFUL", "--json")),
    "log": (("log", "HARMFUL"),),
    "prompt": (("prompt", "HARMFUL"),),
    "notes": (("notes",),),
    "tasks": (("tasks", "--all"),),
    "events": (("events",),),
    "ideas": (("ideas", "--json"),),
    "replay": (
        ("replay", "last"),
        ("replay", "HARMFUL", "--simulate"),
        ("replay", "session.jsonl", "odd.jsonl", "--all"),
        ("replay", "session.jsonl.gz"),
    ),
    "export": (("export", "--all"),),
    "render": (("render", "DECIDED", "--check"), ("render", "DECIDED", "--stdout")),
    "renumber": (("renumber", "--check"),),
    "decisions": (("decisions", "--all"), ("decisions", "--at", "2026-11-22", "--json")),
    "why": (("why", "DECIDED"),),
    "usage": (("usage",),),
    "erase": (("erase", "DECIDED", "--dry-run"),),
    "audit trail": (("audit", "trail"), ("audit", "trail", "--format", "csv")),
    "audit verify": (("audit", "verify"), ("audit", "verify", "--against", "odd.jsonl")),
    "audit checkpoint": (("audit", "checkpoint", "-o", "-"),),
    "projections status": (("projections", "status"),),
    "projections rebuild": (("projections", "rebuild", "--jobs", "2"),),
    "db status": (("db", "status"),),
    "completion": (("completion", "bash"),),
    "trust": (("trust", "--list"),),
}
"""Commands that read, each in the ways in which it runs here.

`DECIDED` and `HARMFUL` stand for sessions of the log. A command that reads may still write what an
earlier command owes: a document, a row of a projection.
"""

RUNS: Final = {"completion": ("bash",)}
"""Programs that a command runs besides git: click asks bash for its version."""

OTHERS: Final = (("--help",), ("--version",), ("sessions", "--help"), ("nothing",))
"""What is no command."""

RECORDS: Final = frozenset(
    {
        "start",
        "answer",
        "revise",
        "accept",
        "abandon",
        "resume",
        "note take",
        "note add",
        "task done",
        "task cancel",
        "task edit",
        "import",
        "db upgrade",
        "db backup",
        "projections follow",
    }
)
"""Commands that record, write the file that they are given, or run until they are stopped."""


def leaves() -> Iterator[str]:
    """Every command of the program, a group's by both words."""
    context = click.Context(preflights)
    for name in COMMANDS:
        command = preflights.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {below}" for below in command.list_commands(context))
        else:
            yield name


def readings(every: bool = True) -> list[Words]:
    """What is run in a clone: the program's commands that read, and what is no command.

    Args:
        every: each command in all of its ways; else in its first one.
    """
    known = set(leaves())
    found = [READS[name] if every else READS[name][:1] for name in READS if name in known]
    return [words for ways in found for words in ways] + list(OTHERS)
