"""Every command by name, with its module and one line of help; groups import a command to run it.

Only click is imported here: `--help` and a completion read this table and no command.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from preflights_es.system.interpreter import import_msgspec

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Decide": ("start", "answer", "revise", "accept", "resume", "abandon"),
    "Plan": ("plan", "artifacts", "approve", "reject", "lock"),
    "Look": (
        "show",
        "inbox",
        "sessions",
        "decisions",
        "recall",
        "why",
        "prompt",
        "facts",
        "log",
        "usage",
        "audit",
    ),
    "Replay": ("replay", "regress", "prompts"),
    "Notes": ("note", "today"),
    "Questions about data": ("ask",),
    "Set up": ("init", "mcp", "hook", "transcripts", "sync", "trust", "admin"),
}
"""The commands of `preflights --help`, in order. A workflow's command in no section stands last."""

_COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "answer": ("answer", "Answer the open question of a session."),
    "revise": ("answer", "Change an answer that is not accepted yet."),
    "resume": ("answer", "Continue a session."),
    "abandon": ("answer", "Give up a session."),
    "show": ("sessions", "Show a session."),
    "inbox": ("inbox", "List what waits for you, with the command that settles it."),
    "sessions": ("sessions", "List the sessions of this project."),
    "decisions": ("decisions", "List the decisions in force, today or on another day."),
    "why": ("why", "Show where a decided value came from."),
    "prompt": ("sessions", "Print the brief for a coding agent."),
    "facts": ("facts", "Show what the repository says of itself."),
    "log": ("log", "Show the events of a session."),
    "usage": ("usage", "Sum up provider calls: tokens, time, cost."),
    "audit": ("audit", "Verify the log, and show who did what."),
    "replay": ("replay", "Run recorded sessions again and compare every decision."),
    "regress": ("regress", "Run recorded sessions with today's code, or a change, and judge."),
    "prompts": ("prompts", "List the prompts in use, or print one."),
    "hook": ("hook", "Answer an event of a coding agent."),
    "init": ("init", "Write files for coding agents, for a CI, or for plans."),
    "mcp": ("mcp", "Serve coding agents by the Model Context Protocol."),
    "sync": ("sync", "Bring the log and the session files together."),
    "trust": ("trust", "Trust the settings file of a repository."),
    "admin": ("admin", "Manage the log: its database, projections and files."),
    "admin db": ("db", "Manage the log's database."),
    "admin projections": ("projections", "Manage projections (derived tables)."),
    "admin render": ("documents", "Rebuild the document of a session."),
    "admin erase": ("erase", "Erase the contents of sessions; the log keeps who erased them."),
    "admin export": ("transfer", "Write a session as JSON Lines."),
    "admin import": ("transfer", "Import sessions from a file."),
    "admin completion": ("admin", "Print the completion script for a shell."),
}
"""Module and one line of help; a command of a group by both words."""

MOVED: Final = {
    "db": "admin db",
    "projections": "admin projections",
    "render": "admin render",
    "renumber": "admin renumber",
    "erase": "admin erase",
    "export": "admin export",
    "import": "admin import",
    "completion": "admin completion",
    "notes": "note list",
    "tasks": "note tasks",
    "events": "note events",
    "ideas": "note ideas",
    "task done": "note done",
    "task cancel": "note cancel",
    "task edit": "note edit",
    "task --help": "note --help",
    "task -h": "note -h",
}
"""Old names and new ones. The old names go in the next release."""

MEANT: Final = {
    "status": "`preflights inbox` lists what waits, `preflights sessions` every session",
    "new": '`preflights start "what you want to build"` begins a session',
    "list": "`preflights decisions` lists the decisions in force, `preflights sessions` every "
    "session",
    "search": '`preflights recall "what you look for"` finds decisions',
    "supersede": "`preflights start INTENTION --supersedes DECISION` begins what replaces it",
    "delete": "`preflights abandon SESSION` gives a session up, `preflights admin erase SESSION` "
    "erases its contents",
    "help": "`preflights --help` lists the commands, `preflights COMMAND --help` explains one",
}
"""Words that people try and that are no commands, each with the commands that do it."""


@cache
def workflows() -> tuple[str, ...]:
    """Names of the workflows that have a folder of commands."""
    # Not by pathlib: it imports more, before the search path is freed of the current folder.
    here = f"{os.path.dirname(__file__)}{os.sep}workflows"
    names = sorted(os.listdir(here))
    return tuple(name for name in names if os.path.exists(f"{here}/{name}/__init__.py"))


@cache
def commands() -> Mapping[str, tuple[str, str]]:
    """Every command: those of all workflows, and what each workflow adds."""
    found = dict(_COMMANDS)
    for name in workflows():
        found |= import_module(f"preflights_cli.workflows.{name}").COMMANDS
    return found


class Lazy(click.Group):
    """A group whose commands are imported when they run.

    Args:
        under: its own name, before the names of its commands; empty for the program itself.
    """

    def __init__(self, *args: Any, under: str = "", **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._prefix = f"{under} ".lstrip()

    def table(self) -> dict[str, tuple[str, str]]:
        """Its commands by name."""
        prefix = self._prefix
        return {
            name.removeprefix(prefix): entry
            for name, entry in commands().items()
            if name.startswith(prefix) and " " not in name.removeprefix(prefix)
        }

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(self.table())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        table = self.table()
        if cmd_name not in table:
            if ctx.resilient_parsing or cmd_name.startswith("-"):
                return None
            raise click.NoSuchCommand(cmd_name, possibilities=table, ctx=ctx)
        import_msgspec()
        module = import_module(f"preflights_cli.{table[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's
        table = self.table()
        width = max(map(len, table)) + 2
        for title, names in self.sections(table).items():
            with formatter.section(title):
                for name in names:
                    # Written as it is: wrapping lines that fit costs a tenth of the whole help.
                    formatter.write(f"  {name:<{width}}{table[name][1]}\n")

    def sections(self, table: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
        """Names of the commands by the heading that they stand under."""
        return {"Commands": list(table)}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """From the table: a key press must not import every command."""
        from click.shell_completion import CompletionItem

        return [
            *(
                CompletionItem(name, help=text)
                for name, (_, text) in self.table().items()
                if name.startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]


class Program(Lazy):
    """The commands in sections, and their old names."""

    def table(self) -> dict[str, tuple[str, str]]:
        table = super().table()
        order = [name for names in self.sections(table).values() for name in names]
        return {name: table[name] for name in order}

    def sections(self, table: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
        found = {title: [n for n in names if n in table] for title, names in SECTIONS.items()}
        named = {name for names in found.values() for name in names}
        if others := [name for name in table if name not in named]:
            found["More"] = others
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        for length in (1, 2):
            old = " ".join(args[:length])
            if len(args) >= length and (new := MOVED.get(old)):
                if not ctx.resilient_parsing:
                    message = f"`preflights {old}` is now `preflights {new}`: use the new name, "
                    click.echo(f"{message}the next release removes the old name", err=True)
                args = [*new.split(), *args[length:]]
                break
        if args and (meant := MEANT.get(args[0])) and not ctx.resilient_parsing:
            message = f"there is no command {args[0]!r}: {meant}"
            raise click.UsageError(message)
        if args and " " in args[0] and not ctx.resilient_parsing:
            message = "this is no command: to decide about it, put `start` before it"
            raise click.UsageError(f"found {args[0]!r}, and {message}")
        return super().resolve_command(ctx, args)
