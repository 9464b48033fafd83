"""What every command shares: its options, the program it opens, and how it speaks."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click

from preflights_es import app as composition
from preflights_es.app import App
from preflights_es.core.errors import PreflightsError
from preflights_es.core.json import encoded
from preflights_es.core.text import shown

P = ParamSpec("P")
R = TypeVar("R")


class Voice:
    """How a command speaks: text or JSON on stdout, everything else on stderr."""

    def __init__(self, *, as_json: bool, quiet: bool, verbose: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose

    def say(self, text: str = "") -> None:
        """The command's result, as text."""
        if not self.as_json:
            click.echo(text, color=_coloured(sys.stdout))

    def hint(self, text: str) -> None:
        """What may come next; `-q` leaves it out."""
        if not (self.as_json or self.quiet):
            click.echo(self.dim(text), color=_coloured(sys.stdout))

    def warn(self, text: str) -> None:
        """Something to know, on stderr."""
        click.echo(f"warning: {shown(text)}", err=True)

    def detail(self, text: str) -> None:
        """More than most want to know: with `-v`, on stderr."""
        if self.verbose:
            click.echo(shown(text), err=True)

    def json(self, value: Any) -> None:
        """The command's result, as one line of JSON."""
        if self.as_json:
            click.echo(encoded(value).decode())

    def bold(self, text: str) -> str:
        """For what is looked for first."""
        return click.style(text, bold=True)

    def dim(self, text: str) -> str:
        """For what can be passed over."""
        return click.style(text, dim=True)


def _coloured(stream: Any) -> bool:
    """Colour only on a terminal; NO_COLOR and FORCE_COLOR decide before that."""
    environment = os.environ  # noqa: TID251  a matter of the terminal, not of settings
    if environment.get("NO_COLOR"):
        return False
    return bool(environment.get("FORCE_COLOR")) or stream.isatty()


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def common(command: Callable[P, R]) -> Callable[..., R]:
    """`--json`, `-q`, `-v`, `--db` and `--debug`; hands over `app` and `voice`."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/api.md), never ask.")
    @click.option("-q", "--quiet", is_flag=True, help="Leave hints out.")
    @click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")
    @click.option("--db", metavar="URL", help="The log's database.")
    @click.option("--debug", is_flag=True, help="Show the traceback of a bug.")
    @click.pass_context
    @wraps(command)
    def wrapped(ctx: click.Context, /, *args: Any, **options: Any) -> R:
        voice = Voice(
            as_json=options.pop("as_json"),
            quiet=options.pop("quiet"),
            verbose=options.pop("verbose"),
        )
        options.pop("debug")
        database = options.pop("db") or (ctx.obj or {}).get("db")
        with opened(voice, database) as app:
            return command(*args, app=app, voice=voice, **options)  # type: ignore[arg-type]

    return wrapped


@contextlib.contextmanager
def opened(voice: Voice, database: str | None) -> Iterator[App]:
    """The program in the current folder, given back at the end."""
    terminal = is_terminal() and not voice.as_json
    app = composition.opened(Path.cwd(), terminal=terminal, database=database)
    voice.detail(f"project {app.settings.project}, log {app.settings.database}")
    if app.settings.source:
        voice.detail(f"settings from {app.settings.source}")
    try:
        yield app
    finally:
        app.close()


def finish_pending(app: App, voice: Voice) -> None:
    """Documents that an earlier command left open; trouble with one is no reason to stop."""
    try:
        for handle in app.finish_pending():
            written = handle.workflow.view(handle.session.state).written
            voice.detail(f"finished {written.path if written else handle.session_id}")
    except PreflightsError as error:
        voice.warn(f"an earlier document is still open: {error}")
