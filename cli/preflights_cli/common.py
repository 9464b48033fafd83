"""What every command shares: its options, the program it opens, how it speaks, and how it shows
long work.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import click

from preflights_cli import EXIT_INTERRUPTED
from preflights_cli.advice import advised
from preflights_cli.table import coloured, folded_for
from preflights_es.kernel.errors import Notice, StoreUnavailable
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Access
from preflights_es.kernel.text import NAME_MAX, TAGS, escaped_text, late_pattern, problem, visible
from preflights_es.settings.file import OPTIONS
from preflights_es.settings.load import Options, agent_seen
from preflights_es.store.urls import parse_log_address, shown_url
from preflights_es.use import bootstrap as composition
from preflights_es.use.request import Request

if TYPE_CHECKING:
    from preflights_es.use.results import Drawn, Update


P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

# What JSON may hold as it is, but a terminal obeys or hides: C1 controls, turns of direction, tags.
_OBEYED: Final = late_pattern(f"[\x7f-\x9f\u2028\u2029\ufeff\u202a-\u202e\u2066-\u2069{TAGS}]")

DETAILS: Final = ("document_finished", "document_left")
"""Notices that most do not want to read."""
WAITING_MAX: Final = 70  # characters of the line that is shown while a model is at work
REMARKS: Final = ("calls_private", "folder_found", "record_removed", "sessions_kept")
"""Notices that warn of nothing; `-q` leaves them out."""
SAID: Final = ("contradicts",)
"""Notices that are said as they are, also with `-q`."""
PAGE: Final = 65_536  # bytes of a long list that are written at once


class Voice:
    """How a command speaks: text or JSON on stdout, everything else on stderr."""

    def __init__(self, *, as_json: bool, quiet: bool, verbose: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        self.is_german = False
        """Whether a German session goes on: then notices are German where they have words."""

    def say(self, text: str = "", *, is_copied: bool = False) -> None:
        """The command's result, as text; what people copy keeps its lines."""
        if not self.as_json:
            shown = text if is_copied else folded_for(sys.stdout, text)
            click.echo(shown, color=coloured(sys.stdout))

    def paged(self, text: Iterable[str]) -> None:
        """A long result, in the user's pager; as it is where no person sits at a terminal."""
        colour = coloured(sys.stdout)
        if not is_terminal() or agent_seen()[0]:
            for part in text:
                click.echo(part, nl=False, color=colour)
            return
        os.environ.setdefault("LESS", "FRX")  # noqa: TID251  as git does: a short one needs no key
        click.echo_via_pager(text, color=colour)

    def hint(self, text: str) -> None:
        """What may come next; `-q` leaves it out."""
        if not (self.as_json or self.quiet):
            click.echo(self.dim(folded_for(sys.stdout, text)), color=coloured(sys.stdout))

    def warn(self, text: str) -> None:
        """Something to know, on stderr."""
        click.echo(folded_for(sys.stderr, f"warning: {escaped_text(text)}"), err=True)

    def remark(self, text: str) -> None:
        """Something to know once, on stderr; `-q` leaves it out."""
        if not self.quiet:
            click.echo(folded_for(sys.stderr, escaped_text(text)), err=True)

    def detail(self, text: str) -> None:
        """More than most want to know: with `-v`, on stderr."""
        if self.verbose:
            click.echo(escaped_text(text), err=True)

    def waiting(self, lead: Lead, seconds: int | None) -> None:
        """Who is asked and for how long, on one line of stderr; None takes the line away."""
        who = escaped_text(" ".join(filter(None, (lead.provider, lead.model))))
        line = "" if seconds is None else f"asking {who} ... {seconds} s"[:WAITING_MAX]
        click.echo(f"\r{line:<{WAITING_MAX}}\r{line}", nl=False, err=True)

    def notice(self, notice: Notice) -> None:
        """What a service has to say besides its result."""
        say = self.detail if notice.code in DETAILS else self.warn
        say = self.remark if notice.code in REMARKS else say
        text = advised(notice.text, notice.code, notice.fields)
        if self.is_german:
            from preflights_cli.german import NOTICES  # few sessions need it

            if notice.code in NOTICES:
                text = NOTICES[notice.code].format(**notice.fields)
        if notice.code in SAID:
            click.echo(escaped_text(text), err=True)
        else:
            say(text)

    def json(self, value: Any) -> None:
        """The command's result, as one line of JSON; UTF-8 on every terminal."""
        if self.as_json:
            sys.stdout.buffer.write(escaped(canonical_json(value)) + b"\n")

    def listed(self, value: object, name: str, rows: Iterable[Any]) -> None:
        """As `json`, of a value with a long list: its rows are encoded as they come.

        Args:
            name: of the field that holds the list; it is empty in the value.
        """
        if not self.as_json:
            return
        before, field, after = canonical_json(value).partition(f'"{name}":['.encode())
        assert field, "the value has the list"
        page = bytearray(before + field)
        for number, row in enumerate(rows):
            page += (b"," if number else b"") + canonical_json(row)
            if len(page) >= PAGE:
                sys.stdout.buffer.write(escaped(page))
                page.clear()
        sys.stdout.buffer.write(escaped(page + after) + b"\n")

    def lines(self, content: bytes) -> None:
        """Events as they are stored; on a terminal, what it would obey is escaped."""
        raw = escaped(content) if sys.stdout.isatty() else content
        sys.stdout.buffer.write(raw)

    def bold(self, text: str) -> str:
        """Text to see first."""
        return click.style(text, bold=True)

    def dim(self, text: str) -> str:
        """Text of less weight."""
        return click.style(text, dim=True)


def escaped(json: bytes | bytearray) -> bytes:
    """The same JSON, with nothing in it that a terminal would obey or hide."""
    text = json.decode()
    return bytes(json) if text.isprintable() else _OBEYED.sub(_as_json, text).encode()


def _as_json(found: re.Match[str]) -> str:
    return re.sub("(.{4})", r"\\u\1", found.group().encode("utf-16-be").hex())


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def require_quoted_text(
    _ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> str | None:
    """A text of several words, refused where the quotes around it are missing."""
    if len(value) > 1:
        found = f"the {parameter.name} has {len(value)} parts"
        raise click.UsageError(f"{found}: put quotes around the whole of it")
    return value[0] if value else None


def require_option_value(
    _ctx: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The value of an option, refused where it is blank: a script's variable that is not set.

    Raises:
        BadParameter: it is.
    """
    if value is not None and not value.strip():
        message = "it is empty: leave the option out, or give it a value"
        raise click.BadParameter(message, param=parameter)
    return value


def text_option(*names: str, **known: Any) -> Callable[[F], F]:
    """An option that takes a text, which must not be blank."""
    return click.option(*names, callback=require_option_value, **known)


def each_given(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """As `given`, of an option that is repeatable."""
    for one in values:
        require_option_value(ctx, parameter, one)
    return values


def _person(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A name that can stand in a record."""
    from preflights_es.redaction.masking import redact

    if name := require_option_value(ctx, parameter, value):
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

sign_option = click.option(
    "--sign/--no-sign",
    default=None,
    help="Sign it with your key, or do not; [sign] in your settings says the default.",
)
"""Of commands by which a person accepts, approves, rejects or erases."""


def _setting(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The option that says a setting."""
    one = OPTIONS[name]
    return click.option(f"--{name.replace('_', '-')}", metavar=one.metavar, help=one.help)


language_option = _setting("language")
PROVIDER_OPTIONS = ("provider", "model", "base_url", "seed", "faults")


def _require_nameable_key(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """A text that can be named when it is refused."""
    if (key := require_option_value(ctx, parameter, value)) and (found := problem(key, NAME_MAX)):
        raise click.BadParameter(f"it {found}", param=parameter)
    return value


key_option = click.option(
    "--key",
    metavar="KEY",
    callback=_require_nameable_key,
    help="Idempotency key: repeated runs record once.",
)
"""For commands that record something on behalf of a script that may be run again."""


def with_lead_options(command: Callable[P, R]) -> Callable[P, R]:
    """The options that choose who leads a session; above the one that opens the log."""
    for name in reversed(PROVIDER_OPTIONS):
        command = _setting(name)(command)
    return command


def reading_command(command: Callable[P, R]) -> Callable[..., R]:
    """`--json`, `-q`, `-v`, `--db` and `--debug`; hands over `app`, which reads, and `voice`."""
    return _opening(command, lambda _: Access.READ)


def writing_command(command: Callable[P, R]) -> Callable[..., R]:
    """As `reading_command`, for a command that also writes."""
    return _opening(command, lambda _: Access.WRITE)


def creating_command(command: Callable[P, R]) -> Callable[..., R]:
    """As `writing_command`, for a command that makes the log where there is none."""
    return _opening(command, lambda _: Access.CREATE)


def writing_where(flag: str) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """As `writing_command` with this flag; without, as `reading_command`."""
    return lambda command: _opening(
        command, lambda said: Access.WRITE if said[flag] else Access.READ
    )


def reading_where(
    *flags: str, creates_where: str = ""
) -> Callable[[Callable[P, R]], Callable[..., R]]:
    """As `writing_command`; with one of these flags, as `reading_command`.

    Args:
        creates_where: the argument with which it is as `creating_command`.
    """

    def access(said: Mapping[str, Any]) -> Access:
        if any(said[flag] for flag in flags):
            return Access.READ
        return Access.CREATE if said.get(creates_where) else Access.WRITE

    return lambda command: _opening(command, access)


def _opening(
    command: Callable[P, R], access_of: Callable[[Mapping[str, Any]], Access]
) -> Callable[..., R]:
    @click.option("--json", "as_json", is_flag=True, help="Print JSON; ask no question.")
    @click.option("-q", "--quiet", is_flag=True, help="Leave hints out.")
    @click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.")
    @text_option("--db", metavar="URL", help="The log's database.")
    @text_option("--as", "who", metavar="ACTOR", help="Who acts, as KIND:NAME.")
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
        who, signs = options.pop("who"), options.pop("sign", None)
        with open_program(
            voice=voice,
            database=database,
            asked=asked,
            language=language,
            who=who,
            key=key or "",
            access=access_of(options),
        ) as app:
            if signs is not None:
                app.signs = signs
            try:
                return command(*args, app=app, voice=voice, **options)  # type: ignore[arg-type]  # P lacks them
            except KeyboardInterrupt:
                if not app.asking_for:
                    raise
                say_saved(app.asking_for)
                ctx.exit(EXIT_INTERRUPTED)

    return wrapped


def say_saved(session_id: str, say: Callable[..., str] = str.format) -> None:
    """Where a person leaves: what was said is recorded, and how to go on.

    Args:
        say: how the dialogue speaks.
    """
    said = say("Saved. Go on with: preflights resume {id}", id=short_session(session_id))
    click.echo(f"\n{said}", err=True)


@contextlib.contextmanager
def open_program(
    voice: Voice,
    database: str | None,
    asked: Options,
    access: Access,
    language: str | None = None,
    who: str | None = None,
    key: str = "",
) -> Iterator[Request]:
    """The program in the current folder, given back at the end."""
    program = composition.opened_process(
        current_folder(),
        terminal=is_terminal(),
        asks=not voice.as_json,
        database=database,
        options=asked,
        language=language,
        who=who,
        access=access,
        tell=voice.notice,
    )
    app = program.request(key=key)
    app.tell = voice.notice
    if sys.stderr.isatty() and not (voice.as_json or voice.quiet):
        app.watch = voice.waiting
        app.process.drawn = bar(voice, "Preparing tables", least=PREPARED_FROM)
    if voice.verbose:
        if app.actor.kind == "agent":
            voice.detail(f"acting as the agent {app.actor.name}")
        # A shared log knows the project by its sessions, once it is opened.
        told = app.process.settings
        project = "" if told.shares_log else f"project {told.project}, "
        log = shown_url(parse_log_address(told.database))  # never with a password
        voice.detail(f"{project}log {log}")
    for file in filter(None, (app.process.settings.source, app.process.settings.own)):
        voice.detail(f"settings from {file}")
    try:
        yield app
    finally:
        app.close()


def current_folder() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise StoreUnavailable("the current folder is gone: change to another one") from error


def tell_behind(app: Request, voice: Voice) -> bool:
    """Say so where rows of a projection may be older than the log; for `behind` in JSON."""
    if app.process.projector.behind:
        voice.notice(app.process.projector.behind)
    return bool(app.process.projector.behind)


def hint_other_projects(app: Request, voice: Voice) -> None:
    """Where a project has no session yet: that the log holds those of others."""
    project, store = app.process.project, app.process.store
    if store.heads(None, 1) and not store.heads(project, 1):
        todo = "`preflights sessions --any-project --all-workflows` lists them."
        voice.hint(f"This is the project {project}; the log holds sessions of others: {todo}")


BAR_FROM: Final = 200  # sessions: fewer are done before a bar is drawn
PREPARED_FROM: Final = 1_000  # sessions: tables of fewer are made within a second


def bar(voice: Voice, label: str, *, least: int = BAR_FROM) -> Drawn:
    """A bar on stderr, where that is a terminal and there is time to look at it.

    Args:
        least: a length below which there is none.
    """

    @contextmanager
    def drawn(length: int) -> Iterator[Update]:
        hidden = length < least or not sys.stderr.isatty() or voice.quiet
        with click.progressbar(length=length, label=label, hidden=hidden, file=sys.stderr) as made:
            yield made.update

    return drawn


def tell_scrubbed(app: Request, voice: Voice, *, scrubbed: bool) -> None:
    """Warn where erased bytes are not overwritten yet."""
    if not scrubbed:
        voice.warn(app.process.store.database.keeps)
