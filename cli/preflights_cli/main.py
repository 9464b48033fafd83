"""The `preflights` command: it runs one command, and turns errors into words.

Only click is imported here; `--help` and `--version` load nothing else.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

import click

from preflights_cli import (
    EXIT_BUG,
    EXIT_DAMAGED,
    EXIT_ENVIRONMENT,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_UNREAD,
    EXIT_USAGE,
)
from preflights_cli.commands import Program, commands
from preflights_es.kernel import __version__
from preflights_es.system.interpreter import (
    collect_no_more,
    collect_seldom,
    keep_to_absolute_folders,
)

MESSAGE_MAX = 1_000  # characters of an error: what was typed may be much longer


class UnreadOutput(Exception):
    """The reader of a command's output closed the pipe."""


@contextlib.contextmanager
def _raise_unread_output() -> Iterator[None]:
    """click would end with 1 where a pipe is closed, which means something else here."""
    try:
        yield
    except BrokenPipeError as error:
        raise UnreadOutput from error


class _Main(Program):
    """The whole program: a closed pipe is no error."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _raise_unread_output():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _raise_unread_output():
            return super().invoke(ctx)


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"preflights {__version__}")
        ctx.exit()


@click.command(
    cls=_Main,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A session is named by its id, any end or beginning of it, or `last`.",
)
@click.option("--db", metavar="URL", help="The log's database, instead of the configured one.")
@click.option("--debug", is_flag=True, help="Show the traceback of a bug.")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def preflights(ctx: click.Context, db: str | None, debug: bool) -> None:
    """The flight recorder before take-off: decisions and model calls, replayable.

    \b
    Examples:
      preflights start "Add OAuth login"
      preflights why last
      preflights init --agent claude
    """
    if db is not None and not db.strip():
        message = "it is empty: leave the option out, or give it a value"
        raise click.BadParameter(message, ctx=ctx, param_hint="'--db'")
    ctx.obj = {"db": db, "debug": debug}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    keep_to_absolute_folders(os.environ)  # noqa: TID251  handed to every process of ours
    collect_seldom()
    _open_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    _leave(run_command_line(list(sys.argv[1:] if arguments is None else arguments)))


def _leave(code: int) -> NoReturn:
    """End the process without taking the interpreter apart, which costs a twelfth of a command."""
    collect_no_more()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except OSError:
        sys.exit(code)
    if threading.active_count() > 1:  # Python waits for them
        sys.exit(code)
    atexit._run_exitfuncs()  # such as the one that removes temporary folders
    os._exit(code)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    """Ctrl-C, once in words; a second one ends the program without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise KeyboardInterrupt


def _open_streams() -> None:
    """Three standard streams that are open, and that take any text.

    A stream that was closed before we began would lend its number to the next file: the log.
    """
    while (null := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(null)
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  likewise
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115  likewise
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run_command_line(arguments: list[str]) -> int:
    """The exit code of one command; every error ends here, in one line on stderr."""
    try:
        code = _ran(arguments)
        _warn_of_packages()
        return code
    except (UnreadOutput, BrokenPipeError):
        # What a shell says of any program that is stopped by it; not 0, since a command that was
        # cut short knows nothing of the rest. The signal itself stays ignored: it would also end us
        # for a line to a server that broke.
        _drop_output()
        return EXIT_UNREAD


def _warn_of_packages() -> None:
    """Name what was installed and cannot be read, where the command came across it."""
    features = sys.modules.get("preflights_es.runtime.features")
    for folder, why in features.unread.items() if features is not None else ():
        from preflights_es.kernel.text import escaped_text

        what = f"the installed package {folder} cannot be read ({why}): install it again"
        click.echo(escaped_text(f"warning: {what}, or remove that folder"), err=True)


def _ran(arguments: list[str]) -> int:
    try:
        result = preflights.main(arguments, prog_name="preflights", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _misused(error, arguments)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except (UnreadOutput, BrokenPipeError):
        raise
    except OSError as error:
        _drop_output()
        return _environment_failed(error)
    except OverflowError as error:  # also of click and of Python's own modules
        return _report_failure(_clock_error() or error, arguments)
    except Exception as error:  # said in words, or shown as the bug it is
        return _report_failure(error, arguments)
    return result if isinstance(result, int) else 0


def _clock_error() -> Exception | None:
    """Why the clock cannot be read, such as a year that Python cannot count; or nothing."""
    from preflights_es.kernel.errors import StoreUnavailable
    from preflights_es.system.clock_ids import now

    try:
        now()
    except StoreUnavailable as error:
        return error
    return None


def _drop_output() -> None:
    """What could not be written would be tried again at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _misused(error: click.ClickException, arguments: Iterable[str]) -> int:
    """click's own words, on one line, and where to read on."""
    from preflights_cli.table import folded_for
    from preflights_es.kernel.text import escaped_text, one_line, shortened

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = ""
    for word in arguments:
        longer = f"{command} {word}".lstrip()
        command = longer if longer in commands() else command
    path = context.command_path if context else f"preflights {command}".rstrip()
    words = _misplaced(error) or one_line(error.format_message())
    for kind, plain in (("integer", "integer"), ("float", "number")):  # click's names of the types
        words = words.replace(f"a valid {kind} range", f"a valid {plain}")
    message = shortened(escaped_text(words), MESSAGE_MAX).removesuffix(".")
    click.echo(folded_for(sys.stderr, f"preflights: {message} (see `{path} --help`)"), err=True)
    return error.exit_code


def _misplaced(error: click.ClickException) -> str:
    """What to do where an option of the commands stands in front of the command; or nothing."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None or error.ctx.parent:
        return ""
    option = error.option_name
    if option not in ("-q", "--quiet", "-v", "--verbose", "--json"):
        return ""
    return f"{option} stands behind the command: preflights COMMAND {option}"


def _environment_failed(error: OSError) -> int:
    """A failing file, folder or stream that no caller has reported in its own words."""
    from preflights_es.kernel.text import escaped_text, shortened

    what = f"{shortened(error.filename, 200)}: " if isinstance(error.filename, str) else ""
    click.echo(f"preflights: {escaped_text(what)}{error.strerror or error}", err=True)
    return _exit_code_of_error(error)


def _report_failure(error: Exception, arguments: Sequence[str]) -> int:
    from preflights_cli.advice import error_with_advice
    from preflights_cli.table import folded_for
    from preflights_es.kernel.errors import PreflightsError, SessionFaulted
    from preflights_es.kernel.text import escaped_text, shortened

    if isinstance(error, SessionFaulted):
        replay = f"preflights replay {error.session_id[-8:]}"
        return _bug(error.error, arguments, replay, error.workflow)
    if not isinstance(error, PreflightsError):
        return _bug(error, arguments)
    message = error_with_advice(error)
    said = f"preflights: {shortened(escaped_text(message), MESSAGE_MAX)}"
    click.echo(folded_for(sys.stderr, said), err=True)
    if "--json" in arguments:
        import json  # ASCII, whatever was typed: also what is no text at all

        shape = {"format": "error/1", "code": error.code, "message": message}
        text = json.dumps({**shape, "fields": error.fields}, default=str)
        click.echo(text.replace("\x7f", "\\u007f"), err=True)
    return _exit_code_of_error(error)


def _exit_code_of_error(error: Exception) -> int:
    from preflights_es.kernel import errors

    codes = (
        (errors.Refused, EXIT_REFUSED),
        ((errors.ProviderMissing, errors.WorkflowMissing), EXIT_ENVIRONMENT),
        ((errors.UnreadableEvent, errors.RoundsExhausted), EXIT_ENVIRONMENT),
        ((errors.SettingsError, errors.ArtifactOutside), EXIT_USAGE),
        ((errors.LogDamaged, errors.AnotherVersion), EXIT_DAMAGED),
        ((errors.StoreError, errors.LLMError, OSError), EXIT_ENVIRONMENT),
    )
    return next((code for kinds, code in codes if isinstance(error, kinds)), EXIT_BUG)


def _bug(
    error: BaseException, arguments: Sequence[str], replay: str = "", workflow: str = ""
) -> int:
    """Whose bug it is, type, message, place, and how to see it again."""
    from preflights_cli.advice import bug_of
    from preflights_es.kernel.text import escaped_text, shown_lines

    whose, place = bug_of(error, workflow)
    what = f"{type(error).__name__}: {escaped_text(str(error))}{escaped_text(place)}"
    click.echo(f"preflights: a bug {whose}: {what}", err=True)
    if replay:
        click.echo(f"The Input is recorded; see it again with: {replay}", err=True)
    if "--debug" in arguments:
        import traceback

        text = "".join(traceback.format_exception(error))
        click.echo(shown_lines(text), err=True, nl=False)
    else:
        click.echo("Run it again with --debug for the traceback.", err=True)
    return EXIT_BUG
