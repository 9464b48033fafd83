"""`hook`: coding agents call it at their events, with JSON on stdin, and read JSON on stdout.

It never breaks the agent that calls it: an error ends with exit code 0, an empty answer and a line
in `hooks.log`. It imports what an event needs only when that event comes.
"""

from __future__ import annotations

import contextlib
import os
import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from preflights_es.features.agents.hook_events import HookEvent, Kind, Output
    from preflights_es.settings.load import Settings


INPUT_MAX: Final = 16_000_000  # bytes of an event; an agent's edit of a file is far smaller


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("event", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--agent",
    metavar="NAME",
    is_flag=False,
    flag_value="",  # without a name it is no usage error: that would be a veto
    default="",
    help="The agent that calls, such as claude.",
)
@click.pass_context
def hook_command(ctx: click.Context, event: tuple[str, ...], agent: str) -> int:
    """Answer an event of a coding agent: JSON on stdin, JSON on stdout.

    At the start of a session and after a compaction the agent gets the brief. Before an edit that a
    decision concerns, the agent is told, the person is asked, or the edit is refused. After the
    agent asked its person something, the question and the answer are recorded. `preflights init
    --agent` sets it up.

    Whatever goes wrong, the exit code is 0, and a line in hooks.log beside the log says why.

    \b
    Examples:
      preflights hook SessionStart --agent claude < event.json
      preflights hook PreToolUse --agent claude < event.json
    """
    name = " ".join(event)
    try:
        said = _Hook(agent, name, (ctx.obj or {}).get("db")).answered()
    except Exception as error:  # a bug of ours is no reason to stop an agent
        _note(None, agent, name, f"{type(error).__name__}: {error}")
        said = b""
    _write_hook_output(said or b"{}\n")
    return 0


def _write_hook_output(said: bytes) -> None:
    """Say it; an agent that does not read any more, or a full disk, is no trouble of the agent."""
    try:
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()
    except OSError:  # what stays in the buffer would be tried again at the end
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Hook:
    """One event of an agent."""

    def __init__(self, agent: str, name: str, database: str | None) -> None:
        self._agent = agent
        self._name = name
        self._database = database
        self._settings: Settings | None = None

    def answered(self) -> bytes:
        """JSON for the agent; empty where there is nothing to say."""
        content = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(INPUT_MAX + 1)
        if len(content) > INPUT_MAX:
            self._note(f"the event has more than {INPUT_MAX:,} bytes")
            return b""
        import msgspec

        from preflights_es.features.agents.hook_events import KINDS, event_of, normalize_hook_name

        try:
            event = event_of(content.removeprefix(BOM_UTF8))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._note(f"the event is no JSON of a hook: {error}")
            return b""
        self._name = self._name or event.hook_event_name
        kind = KINDS.get(normalize_hook_name(self._name))
        if kind is None:
            self._note("preflights has nothing to do at this event")
            return b""
        said = self._said(kind, event)
        return msgspec.json.encode(said) + b"\n" if said else b""

    def _said(self, kind: Kind, event: HookEvent) -> Output:
        from preflights_es.features.agents.hook_events import concerns

        if not concerns(kind, event.tool_name) or (kind == "edits" and self._is_idle(event)):
            return {}
        from preflights_es.kernel.errors import PreflightsError

        try:
            return self._opened(kind, event)
        except (PreflightsError, OSError) as error:
            self._note(f"{type(error).__name__}: {error}")
            return {}

    @staticmethod
    def _is_idle(event: HookEvent) -> bool:
        """Whether a tool gives a shell what installs and edits nothing, as most commands do."""
        from preflights_es.features.agents.hook_edits import holds_patch, shell_command_of_call

        said = shell_command_of_call(event.tool_name, event.tool_input)
        if not said or holds_patch(said):
            return False
        from preflights_es.runtime.features import FEATURES

        return not FEATURES.port("installs")(said)

    def _opened(self, kind: Kind, event: HookEvent) -> Output:
        from preflights_es.kernel.ports import Access
        from preflights_es.settings.load import beside_log, surroundings
        from preflights_es.use import bootstrap

        access = Access.CREATE_AT_ONCE if kind in ("asked", "failed") else Access.READ
        program = bootstrap.opened_process(Path.cwd(), database=self._database, access=access)
        self._settings = program.process.settings
        try:
            app = program.request()
            if kind == "edits":
                from preflights_es.features.agents.hook_edits import before_edit

                folder = beside_log(self._settings)
                return before_edit(app, self._agent, event, folder, environment=surroundings())
            from preflights_es.features.agents import hook_questions

            if kind == "begins":
                return hook_questions.brief_for_agent(app, self._agent, self._name)
            for trouble in hook_questions.record_asked(app, self._agent, event, kind):
                self._note(trouble)
            return {}
        finally:
            program.process.close()

    def _note(self, text: str) -> None:
        _note(self._settings, self._agent, self._name, text)


# `hooks.log` ---------------------------------------------------------------------------------

FILE: Final = "hooks.log"
SIZE_MAX: Final = 256_000  # bytes; the file of before stays as `hooks.log.1`
LINE_MAX: Final = 400  # characters
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
_OPEN: Final = _FLAGS | getattr(os, "O_NONBLOCK", 0)  # a fifo without a reader would block


def _note(settings: Settings | None, agent: str, name: str, text: str) -> None:
    """What went wrong, in a line: the agent that calls must not know; where that fails, no line."""
    try:
        from preflights_es.settings.load import beside_log, own_place

        folder = beside_log(settings) if settings else own_place(Path.cwd())
        line = _format_hook_line(agent, name, text)
        path = folder / FILE
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.path.lexists(path) and os.lstat(path).st_size > SIZE_MAX:
            os.replace(path, folder / f"{FILE}.1")
        handle = os.open(path, _OPEN, 0o600)
        try:
            os.write(handle, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(handle)
    except Exception:  # noqa: S110  as above
        pass


def _format_hook_line(agent: str, event: str, text: str) -> str:
    from preflights_es.kernel.ids import iso
    from preflights_es.kernel.text import escaped_text, one_line, shortened
    from preflights_es.redaction.masking import redact_hidden
    from preflights_es.system import clock_ids

    bare = shortened(escaped_text(one_line(text[: 4 * LINE_MAX])), LINE_MAX)
    who = shortened(escaped_text(one_line(f"{agent or '-'} {event or '-'}")), LINE_MAX)
    return f"{iso(clock_ids.now())} {redact_hidden(f'{who}: {bare}').text}\n"
