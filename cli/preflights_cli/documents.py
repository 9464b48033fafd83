"""`admin render`: the document of a session, as the log has it."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, reading_where
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import shown
from preflights_es.use.documents import InItsPlace, Rendered, render
from preflights_es.use.request import Request


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
    app.finish_pending()
    done, other = render(app, session, write=not check, prints=to_stdout)
    voice.json(done)
    if done.text is None:
        voice.say(shown(_said(done, other)))
    elif not voice.as_json:
        click.echo(done.text, nl=False)
    return EXIT_REFUSED if done.outcome in ("missing", "differs") else 0


def _said(done: Rendered, other: InItsPlace | None) -> str:
    if other and done.outcome in ("differs", "beside"):
        mend = "`preflights admin renumber` gives one of them another number"
        theirs = f"{other.path} is the document of session {short(other.session_id)}: {mend}."
        lies = f" The rebuilt text lies in {done.path}." if done.outcome == "beside" else ""
        return f"{theirs}{lies}"
    return {
        "written": f"Wrote {done.path}.",
        "same": f"{done.path} is as it should be.",
        "beside": f"The document was edited: the rebuilt text lies in {done.path}.",
        "missing": f"{done.path} is missing.",
        "differs": f"{done.path} differs from what the log says.",
    }[done.outcome]
