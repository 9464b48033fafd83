"""Every command by name, with its module and one line of help; groups import a command to run it.

Only click is imported here: `--help`, `admin` and a completion read this table and no command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from preflights_es.runtime.features import FEATURES
from preflights_es.system.interpreter import import_msgspec

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from preflights_es.kernel.feature import Feature


Entry = tuple[str, str]
"""Where a command is, `module:name`, and one line of help."""

SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Decide": ("start", "answer", "revise", "accept", "resume", "abandon"),
    "Look": ("show", "log", "inbox", "sessions", "decisions", "recall", "why", "check", "view"),
    "Replay": ("replay", "diff", "regress", "calls", "prompts"),
    "For agents": ("prompt", "facts", "init", "mcp", "hook"),
    "More in the same log": (
        "note",
        "today",
        "ask",
        "plan",
        "artifacts",
        "approve",
        "reject",
        "lock",
    ),
    "Manage": ("usage", "audit", "sync", "doctor", "admin"),
}
"""The commands of `preflights --help`, in order. A feature's command in no section stands last."""

SHARED: Final[dict[tuple[str, ...], str]] = {
    ("answer", "revise"): "Answer the open question, or change an answer.",
    ("resume", "abandon"): "Continue a session, or give it up.",
    ("show", "log"): "Show a session, or its events.",
    ("sessions", "decisions"): "List the sessions, or the decisions in force.",
    ("replay", "diff", "regress"): "Run sessions again, compare two, and judge a change.",
    ("prompt", "facts"): "Print the brief for an agent, or the facts of the repository.",
    ("mcp", "hook"): "Serve coding agents, or answer their events.",
    ("note", "today"): "Write down tasks, events and ideas, and plan the day.",
    ("plan", "artifacts"): "Make structured plans from documents, and list them.",
    ("approve", "reject", "lock"): "Approve or reject a plan, lock the TestPlan.",
    ("usage", "audit"): "Sum up model calls, or verify the log.",
    ("sync", "doctor"): "Bring log and session files together, or say what to mend.",
}
"""Neighbours of a section that stand in one row, so that `preflights --help` fits a screen."""

_COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "answer": ("answer", "Answer the open question of a session."),
    "revise": ("answer", "Change an answer that is not accepted yet."),
    "resume": ("answer", "Continue a session."),
    "abandon": ("answer", "Decline a proposal, or give up a session."),
    "show": ("sessions", "Show a session."),
    "inbox": ("inbox", "List what waits for you, and the command that settles it."),
    "sessions": ("session_list", "List the sessions of this project."),
    "decisions": ("decisions", "List the decisions in force, today or on another day."),
    "why": ("why", "Show where a decided value came from."),
    "prompt": ("sessions", "Print the brief for a coding agent."),
    "facts": ("models", "Show what the repository says of itself."),
    "log": ("sessions", "Show the events of a session."),
    "usage": ("models", "Sum up model calls: tokens, time, cost."),
    "audit": ("audit", "Verify the log, and show who did what."),
    "view": ("servers", "Show decisions and sessions in a browser."),
    "replay": ("replaying", "Run recorded sessions again and compare every decision."),
    "diff": ("replaying", "Show where two recorded sessions differ."),
    "prompts": ("models", "List the prompts in use, or print one."),
    "mcp": ("servers", "Serve coding agents by the Model Context Protocol."),
    "sync": ("recordings", "Bring the log and the session files together."),
    "doctor": ("doctor", "Say how the installation stands, and what has to be mended."),
    "admin": ("commands", "Manage the log: its database, projections and files."),
    "admin db": ("upkeep", "Manage the log's database."),
    "admin projections": ("upkeep", "Manage projections (derived tables)."),
    "admin render": ("upkeep", "Rebuild the document of a session."),
    "admin erase": ("upkeep", "Erase the contents of sessions; the log keeps who erased them."),
    "admin export": ("recordings", "Write a session as JSON Lines."),
    "admin import": ("recordings", "Import sessions from a file."),
    "admin completion": ("commands", "Print the completion script for a shell."),
}
"""Module and one line of help; a command of a group by both words."""

MEANT: Final = {
    "status": "`preflights inbox` lists what waits, `preflights sessions` every session",
    "new": '`preflights start "what you want to build"` begins a session',
    "list": "`preflights decisions` lists the decisions in force, `preflights sessions` every "
    "session",
    "search": '`preflights recall "what you look for"` finds decisions',
    "supersede": "`preflights start INTENTION --supersedes DECISION` begins what replaces it",
    "decline": "`preflights abandon SESSION` declines a proposal",
    "delete": "`preflights abandon SESSION` gives a session up, `preflights admin erase SESSION` "
    "erases its contents",
    "help": "`preflights --help` lists the commands, `preflights COMMAND --help` explains one",
}
"""Words that people try and that are no commands, each with the commands that do it."""


@cache
def commands() -> Mapping[str, Entry]:
    """Every command: those of the house, and what each feature of our folder adds."""
    return {words: _house_entry(words) for words in _COMMANDS} | _brought(FEATURES.values())


def _house_entry(words: str) -> Entry:
    module, line = _COMMANDS[words]
    return f"preflights_cli.{module}:{words.rpartition(' ')[2]}_command", line


def _find_entry(words: str) -> Entry | None:
    """One of the same; only the features before the one that brings it are read."""
    if words in _COMMANDS:
        return _house_entry(words)
    bringing = (one for one in FEATURES.values() if words in one.commands)
    return next((_brought([one])[words] for one in bringing), None)


def _brought(features: Iterable[Feature]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for one in features:
        for words, (where, line) in one.commands.items():
            found[words] = (f"{one.package}.{where}".replace(".:", ":"), line)
    return found


def rows_of(names: Iterable[str], table: Mapping[str, Entry]) -> dict[str, str]:
    """Sentences by the names that share them."""
    shared = {name: group for group in SHARED for name in group if table.keys() >= {*group}}
    groups = dict.fromkeys(shared.get(name, (name,)) for name in names)
    return {", ".join(group): SHARED.get(group, table[group[0]][1]) for group in groups}


class Lazy(click.Group):
    """A group whose commands are imported when they run.

    Args:
        under: its own name, before the names of its commands; empty for the program itself.
    """

    def __init__(self, *args: Any, under: str = "", **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._prefix = f"{under} ".lstrip()

    def table(self) -> dict[str, Entry]:
        """Its commands by name."""
        return self._below(commands())

    def _below(self, found: Mapping[str, Entry]) -> dict[str, Entry]:
        prefix = self._prefix
        inside = [(n.removeprefix(prefix), one) for n, one in found.items() if n.startswith(prefix)]
        return {name: entry for name, entry in inside if " " not in name}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(self.table())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = None if " " in cmd_name else _find_entry(self._prefix + cmd_name)
        if entry is None:
            if ctx.resilient_parsing or cmd_name.startswith("-"):
                return None
            from preflights_es.kernel.text import escaped_text

            # Only now: looking through all that is installed takes longer than most commands.
            others = self._below(_brought(FEATURES.installed()))
            if cmd_name not in others:
                for name in filter(FEATURES.is_foreign, FEATURES.missing):
                    what = f"the feature {name} is left out: {FEATURES.missing[name]}"
                    click.echo(f"warning: {escaped_text(what)}", err=True)
                raise click.NoSuchCommand(cmd_name, possibilities=self.table(), ctx=ctx)
            entry = others[cmd_name]
        import_msgspec()
        module, _, name = entry[0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's
        table = self.table()
        for title, names in self.sections(table).items():
            rows = rows_of(names, table)
            width = max(map(len, rows)) + 2
            with formatter.section(title):
                for name, line in rows.items():
                    # Written as it is: wrapping lines that fit costs a tenth of the whole help.
                    formatter.write(f"  {name:<{width}}{line}\n")

    def sections(self, table: Mapping[str, Entry]) -> dict[str, list[str]]:
        """Names of the commands by the heading that they stand under."""
        return {"Commands": list(table)}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """From the table: a key press must not import every command."""
        from click.shell_completion import CompletionItem

        texts = {name: text for name, (_, text) in self.table().items()}
        fitting = [name for name in texts if name.startswith(incomplete)]
        found = [CompletionItem(name, help=texts[name]) for name in fitting]
        return found + click.Command.shell_complete(self, ctx, incomplete)


class Program(Lazy):
    """The commands in sections."""

    def table(self) -> dict[str, Entry]:
        table = super().table()
        order = [name for names in self.sections(table).values() for name in names]
        return {name: table[name] for name in order}

    def sections(self, table: Mapping[str, Entry]) -> dict[str, list[str]]:
        found = {title: [n for n in names if n in table] for title, names in SECTIONS.items()}
        named = {name for names in found.values() for name in names}
        if others := [name for name in table if name not in named]:
            found["More"] = others
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line; the help of each command explains them."""
        records = filter(None, (one.get_help_record(ctx) for one in self.get_params(ctx)))
        formatter.write(f"\nOptions: {', '.join(names for names, _ in records)}\n")
        self.format_commands(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and (meant := MEANT.get(args[0])) and not ctx.resilient_parsing:
            raise click.UsageError(f"there is no command {args[0]!r}: {meant}")
        if args and " " in args[0] and not ctx.resilient_parsing:
            message = "this is no command: to decide about it, put `start` before it"
            raise click.UsageError(f"found {args[0]!r}, and {message}")
        return super().resolve_command(ctx, args)


@click.command(cls=Lazy, under="admin")
def admin_command() -> None:
    """Manage the log: its database, projections and files.

    \b
    Examples:
      preflights admin db status
      preflights admin export --all
      preflights admin render last --check
    """


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for a shell.

    \b
    Examples:
      eval "$(preflights admin completion bash)"
      preflights admin completion fish > ~/.config/fish/completions/preflights.fish
    """
    from click.shell_completion import get_completion_class

    cls = get_completion_class(shell)
    assert cls is not None, "click knows the shells it offers"
    root = ctx.find_root().command
    click.echo(cls(root, {}, "preflights", "_PREFLIGHTS_COMPLETE").source())
    return 0
