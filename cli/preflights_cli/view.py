"""`view`: the pages that a browser on this machine shows."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Final

import click

from preflights_cli.advice import advised
from preflights_cli.common import Voice, is_terminal, reading_where
from preflights_cli.inbox import settling
from preflights_es.kernel.errors import SettingsError
from preflights_es.use.request import Request

PORT: Final = 8718
PORT_MAX: Final = 65_535
PACKAGES: Final = ("jinja2", "markupsafe", "starlette", "uvicorn")
NEEDED: Final = "the page needs the extra `view`: `pip install 'preflights-es[view]'`"


@click.command(short_help="Show decisions and sessions in a browser.")
@click.argument("session", required=False, metavar="[SESSION|FILE.jsonl]")
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    metavar="PORT",
    default=PORT,
    help=f"The port, {PORT} by default; 0 for any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--read-only", is_flag=True, help="Show only; nothing can be answered or accepted.")
@reading_where("read_only")
def view_command(
    session: str | None, port: int, no_browser: bool, read_only: bool, app: Request, voice: Voice
) -> int:
    """Show decisions, sessions and what waits for you in a browser on this machine.

    At a terminal of your own, what you accept in the browser counts as yours. Elsewhere, and with
    --read-only, the pages only show. With SESSION its timeline opens; the sessions of a file
    (FILE.jsonl, an export) are shown alone, and in no log.

    \b
    Examples:
      preflights view
      preflights view last
      preflights view bug.jsonl
      preflights view --no-browser --port 0
    """
    try:
        from preflights_es.surfaces.view import server
        from preflights_es.surfaces.view.guard import Keys
        from preflights_es.surfaces.view.rendering import Site
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise SettingsError(NEEDED) from error

    tell = partial(click.echo, err=True)
    with ExitStack() as stack:
        path, why = "/", _why_read_only(app, read_only)
        if session is not None:
            from preflights_cli.replay import session_or_file  # with all that replays
            from preflights_es.use.archives import opened_file

            named = session_or_file(session)
            if isinstance(named, str):
                path = f"/sessions/{app.reading.session(named).session_id}"
            else:
                app, newest = stack.enter_context(opened_file(app, named))
                path, why = f"/sessions/{newest}", f"it shows {named.name} alone"
        listening = stack.enter_context(server.bound(port))
        keys = Keys.new()
        site = Site(app, keys, listening.getsockname()[1], why, advised, settling)
        address = f"{site.address}{path}?token={keys.token}"
        tell(address)
        if why:
            voice.remark(f"read-only: {why}")
        voice.remark("Ctrl-C ends the server")
        file = stack.enter_context(server.opener(address))
        if not no_browser:
            import webbrowser

            webbrowser.open(file)
        server.serving(site).run(sockets=[listening])
    return 0


def _why_read_only(app: Request, asked: bool) -> str:
    """Why no word of a person can be taken here; empty where one can."""
    if asked:
        return "it was started with --read-only"
    if app.evidence.variables:
        return f"{app.evidence.set}, so an agent started it"
    if not is_terminal():
        return "no person started it at a terminal"
    return "" if app.actor.kind == "user" else f"it was started as {app.actor.kind}"
