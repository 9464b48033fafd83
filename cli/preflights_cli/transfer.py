"""`export` and `import`: sessions travel as JSON Lines."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from preflights_cli.common import Voice, common
from preflights_es.app import App
from preflights_es.core.errors import Refused, StoreUnavailable
from preflights_es.core.ids import short
from preflights_es.core.text import shown

IMPORT_MAX = 512 * 1024 * 1024  # bytes of a file: it is verified as a whole before it is taken


@click.command()
@click.argument("session")
@click.option("-o", "--output", metavar="FILE", help="A new file; - is stdout.")
@common
def export_command(session: str, output: str | None, app: App, voice: Voice) -> int:
    """Write a session as JSON Lines, one event a line.

    \b
    Examples:
      preflights export last > session.jsonl
      preflights export 3f9a12c4 -o bug-report.jsonl
    """
    session_id = app.sessions.resolved(session)
    content = app.exported(session_id)
    if output in (None, "-"):
        voice.lines(content)
        return 0
    try:
        _write_new(Path(output), content)
    except FileExistsError as error:
        raise Refused(f"{output} exists: name a new file") from error
    except OSError as error:
        raise StoreUnavailable(f"{output} cannot be written: {error.strerror}") from error
    count = content.count(b"\n")
    shape = {"format": "export/1", "session_id": session_id, "events": count, "file": output}
    voice.json(shape)
    voice.say(shown(f"Wrote {count} events to {output}."))
    return 0


def _write_new(path: Path, content: bytes) -> None:
    """All of it, or no file."""
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except OSError:
            path.unlink()
            raise


@click.command()
@click.argument("file")
@common
def import_command(file: str, app: App, voice: Voice) -> int:
    """Take over the sessions of a file (- is stdin); every event is verified first.

    \b
    Examples:
      preflights import session.jsonl
      preflights export last | preflights import - --db copy.db
    """
    taken = app.imported(lines_of(file), name_of(file))
    voice.json(
        {
            "format": "import/1",
            "sessions": [
                {"session_id": h.session_id, "version": h.version, "new_events": n}
                for h, n in taken
            ],
        }
    )
    for head, new in taken:
        what = f"{new} new events" if new else "nothing new"
        id_ = short(head.session_id)
        voice.say(f"{id_} ({shown(head.project)}): {what}, version {head.version}")
    return 0


def name_of(file: str) -> str:
    """For messages."""
    return "the standard input" if file == "-" else file


def lines_of(file: str) -> list[bytes]:
    """The lines of a file of sessions, or of the standard input.

    Raises:
        Refused: it cannot be read, or is too large.
    """
    try:
        if file == "-":
            content = sys.stdin.buffer.read(IMPORT_MAX + 1)
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(IMPORT_MAX + 1)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}") from error
    if len(content) > IMPORT_MAX:
        raise Refused(f"{name_of(file)} has more than {IMPORT_MAX:,} bytes: split it by session")
    return content.splitlines()
