"""`admin export` and `admin import`: sessions travel as JSON Lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

import click
import msgspec

from preflights_cli.common import Voice, given, reading, recording
from preflights_cli.consent import Consent
from preflights_cli.progress import bar, counted, tell_scrubbed
from preflights_es.archive.number_collisions import Collision, Collisions
from preflights_es.archive.transfer import Taken
from preflights_es.archive.two_pass_reader import Passes
from preflights_es.core.errors import LogDamaged, Refused
from preflights_es.core.ids import short
from preflights_es.core.ports import Head, Stored
from preflights_es.core.text import shown
from preflights_es.runtime.finder import LAST
from preflights_es.services.request import Request
from preflights_es.store import jsonl
from preflights_es.system.output_file import new_file

COPY_MAX: Final = 4 * 1024**3  # bytes of a pipe that are copied to disk, to be read twice
BAR_BYTES: Final = 16 * 1024 * 1024  # a smaller file is taken before a bar is drawn
SHOWN_MAX: Final = 20  # sessions of a file that are named one by one
COMPRESSED: Final = ".gz"


@click.command()
@click.argument("session", required=False)
@click.option(
    "-o", "--output", metavar="FILE", callback=given, help="Write to this new file; - is stdout."
)
@click.option("--all", "everything", is_flag=True, help="Every session of this project.")
@click.option("--any-project", is_flag=True, help="Every session of every project in this log.")
@reading
def export_command(
    session: str | None,
    output: str | None,
    everything: bool,
    any_project: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Write sessions as JSON Lines, one event a line; compressed where FILE ends with .gz.

    \b
    Examples:
      preflights admin export > session.jsonl
      preflights admin export 3f9a12c4 -o bug-report.jsonl
      preflights admin export --all -o project.jsonl.gz
    """
    many = everything or any_project
    if many and session is not None:
        message = "name a session, or give --all or --any-project"
        raise click.UsageError(message)
    heads = _heads(app, None if many else session or LAST, any_project=any_project)
    if output in (None, "-"):
        for content in app.process.transfer.all(heads):
            voice.lines(content)
        return 0
    events = _written(app, voice, heads, str(output))
    shape = {
        "format": "export/1",
        "session_id": None if many else heads[0].session_id,
        "sessions": len(heads),
        "events": events,
        "file": output,
    }
    voice.json(shape)
    of = f" of {counted(len(heads), 'session')}" if many else ""
    voice.say(shown(f"Wrote {counted(events, 'event')}{of} to {output}."))
    return 0


def _heads(app: Request, session: str | None, *, any_project: bool) -> Sequence[Head]:
    if session is None:
        heads = app.process.store.heads(None if any_project else app.process.project)
        if not heads:
            raise Refused("there is no session to export")
        return heads
    head = app.process.store.head(app.sessions.resolved(session))
    assert head is not None, "it was resolved"
    return [head]


def _written(app: Request, voice: Voice, heads: Sequence[Head], name: str) -> int:
    """The number of events in a new file."""
    events = 0
    with (
        new_file(name) as raw,
        _packed(raw, name) as file,
        bar(len(heads), voice, "Exporting") as progress,
    ):
        for content in app.process.transfer.all(heads):
            file.write(content)
            events += content.count(b"\n")
            progress.update(1)
    return events


@contextmanager
def _packed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    if not name.endswith(COMPRESSED):
        yield raw
        return
    with jsonl.packed(raw) as file:
        yield file


@click.command()
@click.argument("file")
@click.option("--extend", is_flag=True, help="Extend sessions of this log without asking.")
@click.option("--erase", is_flag=True, help="Erase sessions of this log that the file has erased.")
@recording
def import_command(file: str, extend: bool, erase: bool, app: Request, voice: Voice) -> int:
    """Import the sessions of a file (- is stdin); every hash chain is verified first.

    A chain shows that no event was changed after it was hashed. `replay FILE` checks that the
    decisions follow from the Inputs. The import skips known sessions: you can import a file again,
    also after an interruption. The file may be compressed by gzip.

    If the file has more events of a session in this log, the command lists them and asks first;
    without a terminal they need --extend. An erasure always needs --erase.

    \b
    Examples:
      preflights admin import session.jsonl
      preflights admin import project.jsonl.gz --extend
      preflights admin export last | preflights admin import - --db copy.db
    """
    told, collisions = Telling(voice), Collisions(app.process.runner)
    consent = Consent(voice, extend=extend, erase=erase)
    with _opened(file) as (source, size):
        where = name_of(file)
        with bar(2 * size, voice, "Importing", least=2 * BAR_BYTES) as progress:
            passes = _Passes(source, progress)
            lines = passes.lines(where)
            for one in app.process.transfer.imported(lines, where, passes.progress, consent.agrees):
                told.tell(one)
                collisions.look(one)
    if told.erased:
        tell_scrubbed(app, voice, scrubbed=app.process.store.scrubbed())
    twice = list(collisions.found())
    shape = {"format": "import/1", "sessions": told.shapes}
    twice_shape = {"collisions": msgspec.to_builtins(twice)}
    voice.json({**shape, **twice_shape, **consent.shape()})
    if consent.refused:
        raise Refused(f"{consent.refused}; nothing was imported")
    if told.sessions > 1:
        voice.say(f"{counted(told.sessions, 'session')}, {counted(told.new, 'new event')}.")
    warn_twice(voice, twice)
    return 0


def warn_twice(voice: Voice, twice: Sequence[Collision]) -> None:
    for one in twice[:SHOWN_MAX]:
        ids = ", ".join(map(short, one.session_ids[:SHOWN_MAX]))
        voice.warn(f"the number {one.number:04d} of {one.project} is used twice now: {ids}")
    if more := len(twice) - SHOWN_MAX if len(twice) > SHOWN_MAX else 0:
        voice.warn(f"and so do {counted(more, 'other number')}")
    if twice:
        voice.warn(
            "`preflights admin renumber` mends it where the records of both lie in the folder; "
            "`preflights admin render SESSION` writes one that does not"
        )


class Telling:
    """What came of the sessions so far; the shapes only where JSON is wanted: they take memory."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.shapes: list[dict[str, Any]] = []
        self.sessions = 0
        self.new = 0
        self.erased = False

    def tell(self, one: Taken) -> None:
        self.sessions += 1
        self.new += one.new
        self.erased |= one.erased and one.new > 0
        if self._voice.as_json:
            self.shapes.append(_json(one))
        elif self.sessions <= SHOWN_MAX:
            _say(self._voice, one)


def _json(one: Taken) -> dict[str, Any]:
    return {
        "session_id": one.head.session_id,
        "version": one.head.version,
        "new_events": one.new,
        "erased": one.erased,
    }


def _say(voice: Voice, one: Taken) -> None:
    what = counted(one.new, "new event") if one.new else "nothing new"
    erased = ", erased" if one.erased else ""
    head = one.head
    voice.say(
        f"{short(head.session_id)} ({shown(head.project)}): {what}, version {head.version}{erased}"
    )


class _Passes:
    """A file that is read from its beginning more than once, and how far that went."""

    def __init__(self, file: BinaryIO, bar: Any) -> None:
        self._file = file
        self._bar = bar
        self._at = 0

    def lines(self, where: str) -> Any:
        """What opens another pass."""
        return lambda: jsonl.lines_in(self._file, where)

    def progress(self) -> None:
        """Move the bar along."""
        at = self._file.tell()
        if at > self._at:
            self._bar.update(at - self._at)
        self._at = at


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, int]]:
    """A file that can be read twice, and its length in bytes; what cannot is copied to disk.

    Raises:
        Refused: it cannot be read.
    """
    with ExitStack() as stack:
        try:
            if file == "-":
                source: BinaryIO = sys.stdin.buffer
            else:
                source = stack.enter_context(Path(file).open("rb", jsonl.BLOCK))
            if file == "-" or not source.seekable():
                copy: BinaryIO = stack.enter_context(TemporaryFile("w+b"))
                _copy(source, copy, file)
                source = copy
            size = source.seek(0, 2)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise Refused(f"{name_of(file)} cannot be read: {why}") from error
        yield source, size


def _copy(source: BinaryIO, copy: BinaryIO, file: str) -> None:
    size = 0
    while block := source.read(jsonl.BLOCK):
        size += len(block)
        if size > COPY_MAX:
            found = f"{name_of(file)} has more than {COPY_MAX:,} bytes"
            raise Refused(f"{found}: save it in a file and name that")
        copy.write(block)


def name_of(file: str) -> str:
    """For messages."""
    return "the standard input" if file == "-" else file


def sessions_of(file: str, voice: Voice) -> Iterator[Sequence[Stored]]:
    """The sessions of a file, or of the standard input, one after the other, as they come there.

    Raises:
        Refused: it cannot be read, or is too large.
        LogDamaged: a line is no event, or there is none.
        LogFromFuture: a newer version wrote it.
    """
    where = name_of(file)
    with (
        _opened(file) as (source, size),
        bar(2 * size, voice, "Reading", least=2 * BAR_BYTES) as progress,
    ):
        lines = _Passes(source, progress)
        passes = Passes(lines.lines(where), where)
        passes.is_mixed()
        is_empty = True
        for events, _ in passes.first():
            is_empty = False
            lines.progress()
            yield events
        if is_empty:
            raise LogDamaged(where, 0, "it holds no events")
