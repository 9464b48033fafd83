"""`admin render`: the document of a session, as the log has it."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, finish_pending, reading_where
from preflights_cli.main import EXIT_REFUSED
from preflights_es.core.ids import short
from preflights_es.core.text import shown
from preflights_es.services.request import Request


@click.command()
@click.argument("session", default="last")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the document; write nothing.")
@click.option("--check", is_flag=True, help="Only compare; exit code 1 when the file differs.")
@reading_where("to_stdout", "check")
def render_command(session: str, to_stdout: bool, check: bool, app: Request, voice: Voice) -> int:
    """Rebuild the document of a session, byte for byte.

    A file that was edited is left alone; the text is written beside it as .new.

    \b
    Examples:
      preflights admin render last
      preflights admin render 3f9a12c4 --check
    """
    if check and to_stdout:
        message = "--check and --stdout exclude each other"
        raise click.UsageError(message)
    finish_pending(app, voice)
    handle = app.sessions.load(session)
    shape = {"format": "render/1", "session_id": handle.session_id}
    if to_stdout:
        due, text = app.process.documents.text(handle.session_id)
        voice.json({**shape, "path": due.path, "outcome": "printed", "text": text})
        if not voice.as_json:
            click.echo(text, nl=False)
        return 0
    app.sessions.refuse_elsewhere(handle)
    rendered = app.process.documents.rebuilt(handle, write=not check)
    due, _ = app.process.documents.text(handle.session_id)
    other = app.process.documents.other_at(handle.session_id, due.path)
    voice.json({**shape, "path": rendered.path, "outcome": rendered.outcome, "text": None})
    words = {
        "written": f"Wrote {rendered.path}.",
        "same": f"{rendered.path} is as it should be.",
        "beside": f"The document was edited: the rebuilt text lies in {rendered.path}.",
        "missing": f"{rendered.path} is missing.",
        "differs": f"{rendered.path} differs from what the log says.",
    }
    if other:
        mend = "`preflights admin renumber` gives one of them another number"
        theirs = f"{due.path} is the document of session {short(other)}: {mend}"
        words["differs"] = f"{theirs}."
        words["beside"] = f"{theirs}. The rebuilt text lies in {rendered.path}."
    voice.say(shown(words[rendered.outcome]))
    return EXIT_REFUSED if rendered.outcome in ("missing", "differs") else 0
