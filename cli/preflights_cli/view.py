"""`view`: the pages that a browser on this machine shows."""

from __future__ import annotations

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
def view_command(port: int, no_browser: bool, read_only: bool, app: Request, voice: Voice) -> int:
    """Show decisions, sessions and what waits for you in a browser on this machine.

    At a terminal of your own, what you accept in the browser counts as yours. Elsewhere, and with
    --read-only, the pages only show.

    \b
    Examples:
      preflights view
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
    why = _why_read_only(app, read_only)
    with server.bound(port) as listening:
        keys = Keys.new()
        site = Site(app, keys, listening.getsockname()[1], why, advised, settling)
        tell(f"{site.address}/?token={keys.token}")
        if why:
            voice.remark(f"read-only: {why}")
        voice.remark("Ctrl-C ends the server")
        with server.opener(f"{site.address}/?token={keys.token}") as file:
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
