"""Every command by what it may do; a command that is in neither table fails a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from preflights_cli.main import preflights

Words = tuple[str, ...]

READS: Final[dict[str, tuple[Words, ...]]] = {
    "sessions": (("sessions", "-v"), ("sessions", "--all", "--any-project", "--json")),
    "show": (("show", "last"), ("show", "HARMFUL", "--json")),
    "log": (("log", "HARMFUL"),),
    "prompt": (("prompt", "HARMFUL"), ("prompt",), ("prompt", "--json")),
    "facts": (("facts",), ("facts", "--json")),
    "inbox": (("inbox",), ("inbox", "--json")),
    "prompts": (("prompts",), ("prompts", "clarify")),
    "note list": (("note", "list"), ("note", "list", "--all", "--json")),
    "replay": (
        ("replay", "last"),
        ("replay", "HARMFUL", "--simulate"),
        ("replay", "session.jsonl", "odd.jsonl", "--all"),
        ("replay", "session.jsonl.gz"),
    ),
    "diff": (("diff", "last", "HARMFUL"), ("diff", "session.jsonl", "last", "--all", "--json")),
    "regress": (
        ("regress", "last"),
        ("regress", "session.jsonl", "odd.jsonl", "session.jsonl.gz"),
        ("regress", ".", "--json"),
    ),
    "init": (
        ("init", "--ci", "github", "--print"),
        ("init", "--plans", "--print"),
        ("init", "--agent", "all", "--print"),
    ),
    "calls list": (("calls",), ("calls", "--all", "--json")),
    "calls show": (("calls", "show", "last"), ("calls", "show", "HARMFUL")),
    "artifacts list": (("artifacts",), ("artifacts", "--all", "--json")),
    "artifacts show": (("artifacts", "show", "3f9a12c4"),),
    "admin export": (("admin", "export", "--all"),),
    "admin render": (
        ("admin", "render", "DECIDED", "--check"),
        ("admin", "render", "DECIDED", "--stdout"),
    ),
    "admin renumber": (("admin", "renumber", "--check"),),
    "decisions": (("decisions", "--all"), ("decisions", "--at", "2026-11-22", "--json")),
    "why": (("why", "DECIDED"),),
    "check": (("check",), ("check", "--staged", "--json"), ("check", "--base", "HEAD")),
    "usage": (("usage",),),
    "doctor": (("doctor",), ("doctor", "--json")),
    "admin erase": (("admin", "erase", "DECIDED", "--dry-run"),),
    "audit trail": (("audit", "trail"), ("audit", "trail", "--json")),
    "audit verify": (("audit", "verify"), ("audit", "verify", "--against", "odd.jsonl")),
    "audit checkpoint": (("audit", "checkpoint", "-o", "-"),),
    "admin projections status": (("admin", "projections", "status"),),
    "admin projections rebuild": (("admin", "projections", "rebuild"),),
    "admin db status": (("admin", "db", "status"),),
    "admin completion": (("admin", "completion", "bash"),),
}
"""Commands that read, each in the ways in which it runs here.

`DECIDED` and `HARMFUL` stand for sessions of the log. A command that reads may still write what an
earlier command owes: a document, a row of a projection.
"""

RUNS: Final = {"admin completion": ("bash",)}
"""Programs that a command runs besides git: click asks bash for its version."""

OTHERS: Final = (("--help",), ("--version",), ("sessions", "--help"), ("nothing",))
"""What is no command."""

RECORDS: Final = frozenset(
    {
        "start",
        "approve",
        "reject",
        "lock tests",
        "plan project",
        "plan architecture",
        "plan scaffold",
        "plan tests",
        "plan impl",
        "plan refactor",
        "answer",
        "revise",
        "accept",
        "abandon",
        "recall",
        "resume",
        "sync",
        "today",
        "note take",
        "note add",
        "note done",
        "note cancel",
        "ask",
        "hook",
        "mcp",
        "view",
        "calls record",
        "calls replay",
        "admin import",
        "calls import",
        "calls judge",
        "calls erase",
        "admin db upgrade",
        "admin db backup",
    }
)
"""Commands that record, write the file that they are given, or run until they are stopped."""


def leaves() -> Iterator[str]:
    """Every command of the program, a group's by all of its words."""
    yield from _below(preflights, ())


def _below(group: click.Group, path: Words) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _below(command, (*path, name))
        else:
            yield " ".join((*path, name))


def readings(every: bool = True) -> list[Words]:
    """What is run in a clone: the program's commands that read, and what is no command.

    Args:
        every: each command in all of its ways; else in its first one.
    """
    known = set(leaves())
    found = [READS[name] if every else READS[name][:1] for name in READS if name in known]
    return [words for ways in found for words in ways] + list(OTHERS)
