"""What every command shares: its options, the program it opens, and how it speaks."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import click

from preflights_es import bootstrap as composition
from preflights_es.core.errors import (
    LogBusy,
    PreflightsError,
    Refused,
    StoreUnavailable,
    UnknownSession,
)
from preflights_es.core.json import encoded
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.text import NAME_MAX, TAGS, problem, shown, visible
from preflights_es.runtime.sessions import RECORD
from preflights_es.services.request import Request
from preflights_es.settings.load import Options
from preflights_es.store.urls import parsed, shown_url

if TYPE_CHECKING:
    from preflights_es.services.records import ForeignShown

P = ParamSpec("P")
R = TypeVar("R")

# What JSON may hold as it is, but a terminal obeys or hides: C1 controls, turns of direction, tags.
_OBEYED: Final = late_pattern(f"[\x7f-\x9f\u2028\u2029\ufeff\u202a-\u202e\u2066-\u2069{TAGS}]")

PAGE: Final = 65_536  # bytes of a long list that are written at once


class Voice:
    """How a command speaks: text or JSON on stdout, everything else on stderr."""

    def __init__(self, *, as_json: bool, quiet: bool, verbose: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose

    def say(self, text: str = "") -> None:
        """The command's result, as text."""
        if not self.as_json:
            click.echo(text, color=coloured(sys.stdout))

    def hint(self, text: str) -> None:
        """What may come next; `-q` leaves it out."""
        if not (self.as_json or self.quiet):
            click.echo(self.dim(text), color=coloured(sys.stdout))

    def warn(self, text: str) -> None:
        """Something to know, on stderr."""
        click.echo(f"warning: {shown(text)}", err=True)

    def detail(self, text: str) -> None:
        """More than most want to know: with `-v`, on stderr."""
        if self.verbose:
            click.echo(shown(text), err=True)

    def json(self, value: Any) -> None:
        """The command's result, as one line of JSON; UTF-8 whatever the terminal speaks."""
        if self.as_json:
            sys.stdout.buffer.write(escaped(encoded(value)) + b"\n")

    def listed(self, value: dict[str, Any], name: str, rows: Iterable[Any]) -> None:
        """As `json`, of a value with a long list: its rows are encoded as they come.

        Args:
            name: of the field that holds the list; it is empty in the value.
        """
        if not self.as_json:
            return
        before, field, after = encoded(value).partition(f'"{name}":['.encode())
        assert field, "the value has the list"
        page = bytearray(before + field)
        for number, row in enumerate(rows):
            page += (b"," if number else b"") + encoded(row)
            if len(page) >= PAGE:
                sys.stdout.buffer.write(escaped(page))
                page.clear()
        sys.stdout.buffer.write(escaped(page + after) + b"\n")

    def lines(self, content: bytes) -> None:
        """Events as they are stored; on a terminal, what it would obey is escaped."""
        raw = escaped(content) if sys.stdout.isatty() else content
        sys.stdout.buffer.write(raw)

    def bold(self, text: str) -> str:
        """For what is looked for first."""
        return click.style(text, bold=True)

    def dim(self, text: str) -> str:
        """For what can be passed over."""
        return click.style(text, dim=True)


def escaped(json: bytes | bytearray) -> bytes:
    """The same JSON, with nothing in it that a terminal would obey or hide."""
    text = json.decode()
    return bytes(json) if text.isprintable() else _OBEYED.sub(_as_json, text).encode()


def _as_json(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be").hex()
    return re.sub("(.{4})", r"\\u\1", units)


def coloured(stream: Any) -> bool:
    """Colour only on a terminal; NO_COLOR and FORCE_COLOR decide before that."""
    environment = os.environ  # noqa: TID251  a matter of the terminal, not of settings
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and environment.get("TERM") != "dumb"


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def given(_ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The value of an option, refused where it is blank: a script's variable that is not set.

    Raises:
        BadParameter: it is.
    """
    if value is not None and not value.strip():
        message = "it is empty: leave the option out, or give it a value"
        raise click.BadParameter(message, param=parameter)
    return value


def _person(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A name that can stand in a record."""
    from preflights_es.redaction import redact

    if name := given(ctx, parameter, value):
        if found := problem(name.strip(), NAME_MAX):
            raise click.BadParameter(f"it {found}", param=parameter)
        if not visible(name):
            raise click.BadParameter("nothing of it can be seen: give a name", param=parameter)
        if kinds := redact(name).kinds:
            message = f"what looks like a secret ({', '.join(kinds)}) is not recorded: give a name"
            raise click.BadParameter(message, param=parameter)
    return value


by_option = click.option(
    "--by",
    metavar="NAME",
    callback=_person,
    help="Name the person who accepts; needed without a terminal.",
)


language_option = click.option(
    "--language", metavar="LANGUAGE", help="Language of sentences: de or en; default: the locale."
)

PROVIDER_OPTIONS = ("provider", "model", "base_url", "seed", "faults")


def _key(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A text that can be named when it is refused."""
    if (key := given(ctx, parameter, value)) and (found := problem(key, NAME_MAX)):
        raise click.BadParameter(f"it {found}", param=parameter)
    return value


key_option = click.option(
    "--key", metavar="KEY", callback=_key, help="Idempotency key: repeated runs record once."
)
"""For commands that record something on behalf of a script that may be run again."""


def led(command: Callable[P, R]) -> Callable[P, R]:
    """The options that choose who leads a session; above `common` or `recording`."""
    for option in (
        click.option(
            "--faults", metavar="FAULTS", help="Faults of the simulator: timeout=0.2,error=0.1"
        ),
        click.option("--seed", metavar="N", help="Seed of the simulator."),
        click.option("--base-url", metavar="URL", help="Address of a server with OpenAI's API."),
        click.option("--model", metavar="MODEL", help="Model; default: the provider's own."),
        click.option(
            "--provider",
            metavar="NAME",
            help="mock (rules, the default), sim, anthropic, openai or openrouter.",
        ),
    ):
        command = option(command)
    return command


def common(command: Callable[P, R]) -> Callable[..., R]:
    """`--json`, `-q`, `-v`, `--db` and `--debug`; hands over `app` and `voice`."""
    return _opening(command)


def recording(command: Callable[P, R]) -> Callable[..., R]:
    """As `common`, for a command that makes the log where there is none."""
    return _opening(command, creates=True)


def reading(command: Callable[P, R]) -> Callable[..., R]:
    """As `common`, for a command that only reads the log: it does not wait for those who write."""
    return _opening(command, reads=True)


def reading_where(*flags: str) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """As `common`; with one of these flags, as `reading`."""
    return lambda command: _opening(command, reads_where=flags)


def _opening(
    command: Callable[P, R],
    *,
    creates: bool = False,
    reads: bool = False,
    reads_where: Sequence[str] = (),
) -> Callable[..., R]:
    @click.option(
        "--json", "as_json", is_flag=True, help="Print JSON (docs/api.md); ask no question."
    )
    @click.option("-q", "--quiet", is_flag=True, help="Leave hints out.")
    @click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")
    @click.option("--db", metavar="URL", callback=given, help="The log's database.")
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
        asked = Options(**{n: options.pop(n) for n in PROVIDER_OPTIONS if n in options})
        language, key = options.pop("language", None), options.pop("key", None)
        looks = reads or any(options[flag] for flag in reads_where)
        with opened(voice, database, asked, language, key or "", creates, looks) as app:
            return command(*args, app=app, voice=voice, **options)  # type: ignore[arg-type]  # P lacks them

    return wrapped


@contextlib.contextmanager
def opened(
    voice: Voice,
    database: str | None,
    asked: Options,
    language: str | None = None,
    key: str = "",
    creates: bool = False,
    reads: bool = False,
) -> Iterator[Request]:
    """The program in the current folder, given back at the end."""
    terminal = is_terminal() and not voice.as_json
    app = composition.opened(
        folder(),
        terminal=terminal,
        database=database,
        options=asked,
        language=language,
        key=key,
        creates=creates,
        reads=reads,
    )
    app.process.tell = voice.warn
    if voice.verbose:
        # A log that is shared says the project's name itself, once it is opened.
        told = app.process.settings
        project = "" if told.repository else f"project {told.project}, "
        log = shown_url(parsed(told.database))  # never with a password
        voice.detail(f"{project}log {log}")
    for file in filter(None, (app.process.settings.source, app.process.settings.own)):
        voice.detail(f"settings from {file}")
    try:
        yield app
    except UnknownSession as error:
        if (record := record_without_session(app, error)) is None:
            raise
        message = f"{error.typed} has no session: it is the record {record.path!r}"
        raise Refused(f"{message}; `preflights show {error.typed}` shows it") from error
    finally:
        app.close()


def record_without_session(app: Request, error: UnknownSession) -> ForeignShown | None:
    """What a person meant who typed the number of a record that Preflights did not write."""
    typed = RECORD.fullmatch(error.typed.strip())
    if typed is None:
        return None
    from preflights_es.services.records import foreign_record_of

    return foreign_record_of(app.process, int(typed[1]))


def folder() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        message = "the current folder is gone: change to another one"
        raise StoreUnavailable(message) from error


def finish_pending(app: Request, voice: Voice) -> None:
    """Documents that an earlier command left open; trouble with one is no reason to stop.

    Raises:
        PreflightsError: the log itself cannot be opened.
    """
    _ = app.process.store  # what is wrong with the log as a whole is no matter of one document
    try:
        for handle in app.process.finish_pending():
            written = handle.view.written
            voice.detail(f"finished {written.path if written else handle.session_id}")
    except LogBusy as error:
        voice.detail(f"an earlier document is left to the next command: {error}")
    except PreflightsError as error:
        voice.warn(f"an earlier document is still open: {error}")


def tell_behind(app: Request, voice: Voice) -> bool:
    """Say so where rows of a projection may be older than the log; for `behind` in JSON."""
    if app.process.projector.behind:
        voice.warn(app.process.projector.behind)
    return bool(app.process.projector.behind)


def tell_redacted(voice: Voice, what: str, text: str) -> None:
    """Say that a text which no session shows is recorded without its secrets."""
    from preflights_es.redaction import redact

    if kinds := redact(text).kinds:
        voice.warn(f"{what} is recorded without what looks like a secret ({', '.join(kinds)})")


def tell_name(app: Request, voice: Voice) -> None:
    """Warn where the name of the person at work looks like a secret: an e-mail address does."""
    tell_redacted(voice, "your name (PREFLIGHTS_ACTOR, or as git knows it)", app.actor.name)
