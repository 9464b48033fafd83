"""`view` and `mcp`: the pages that a browser on this machine shows, and the server that coding
agents ask. Each imports its server when it starts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from shlex import quote
from typing import Final

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.advice import advised
from preflights_cli.common import (
    Voice,
    creating_command,
    is_terminal,
    reading_where,
    with_lead_options,
)
from preflights_cli.inbox import settling
from preflights_cli.names import SESSION
from preflights_es.kernel.errors import ExtraMissing
from preflights_es.kernel.text import count_in_words, escaped_text, shortened
from preflights_es.use.request import Request

PORT: Final = 8718
PORT_MAX: Final = 65_535
PORTS: Final = 10  # that are tried where the first is taken
NAMES_SHOWN: Final = 10
NAME_SHOWN: Final = 40  # characters
PACKAGES: Final = ("h11", "jinja2", "markdown_it", "markupsafe", "mdurl", "starlette", "uvicorn")


@click.command(short_help="Show decisions and sessions in a browser.")
@click.argument("session", type=SESSION, required=False, metavar="[SESSION|FILE.jsonl]")
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    metavar="PORT",
    help=f"The port; 0 for any that is free. Default: the first free one from {PORT} on.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--read-only", is_flag=True, help="Show only; nothing can be answered or accepted.")
@click.option(
    "--export", metavar="DIR", help="Write the accepted decisions as a site into this folder."
)
@click.option("--all", "everything", is_flag=True, help="With --export: every decision.")
@click.option(
    "--sessions", is_flag=True, help="With --export: also session files, with all that was said."
)
@click.option("--yes", is_flag=True, help="With --export: do not ask; needed without a terminal.")
@reading_where("read_only", "export")
def view_command(
    session: str | None,
    port: int | None,
    no_browser: bool,
    read_only: bool,
    export: str | None,
    everything: bool,
    sessions: bool,
    yes: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Show decisions, sessions and what waits for you in a browser on this machine.

    At a terminal of your own, what you accept in the browser counts as yours. Elsewhere, and with
    --read-only, the pages only show. With SESSION its timeline opens; the sessions of a file
    (FILE.jsonl, an export) are shown alone, and in no log.

    With --export nothing is served: the accepted decisions, their records and timelines become
    pages for any folder or host, which verify themselves in the reader's browser.

    \b
    Examples:
      preflights view
      preflights view last
      preflights view bug.jsonl
      preflights view --no-browser --port 0
      preflights view --export site
    """
    if export is None and (everything or sessions or yes):
        raise click.UsageError("--all, --sessions and --yes go with --export")
    if export is not None and session:
        raise click.UsageError("--export takes no session: it writes all decisions")
    if export is not None:
        return _exported(app, voice, export, everything=everything, sessions=sessions, yes=yes)
    with _require_view_extra():
        from preflights_es.surfaces.view import server
        from preflights_es.surfaces.view.rendering import Keys, Site

    tell = partial(click.echo, err=True)
    with ExitStack() as stack:
        path, why, imports = "/", _why_read_only(app, read_only), ""
        if session is not None:
            from preflights_cli.replaying import session_or_file  # with all that replays
            from preflights_es.use.archives import opened_file

            named = session_or_file(session)
            if isinstance(named, str):
                path = f"/sessions/{app.reading.session(named).session_id}"
            else:
                app, newest = stack.enter_context(opened_file(app, named))
                path, why = f"/sessions/{newest}", f"it shows {named.name} alone"
                imports = f"preflights admin import {quote(session)}"
        _ = app.process.project  # every page shows it
        bound = server.bound(PORT, PORTS) if port is None else server.bound(port)
        listening = stack.enter_context(bound)
        keys = Keys.new()
        site = Site(
            request=app,
            keys=keys,
            port=listening.getsockname()[1],
            read_only=why,
            worded=advised,
            settles=settling,
            imports=imports,
        )
        address = f"{site.address}{path}?token={keys.token}"
        tell(address)
        if why:
            voice.remark(f"read-only: {why}")
        voice.remark("Ctrl-C ends the server")
        file = stack.enter_context(server.opener(address))
        if not no_browser:
            import threading
            import webbrowser

            # A browser of the terminal returns when it ends: the server answers it meanwhile.
            threading.Thread(target=webbrowser.open, args=(file,), daemon=True).start()
        server.serving(site).run(sockets=[listening])
    return 0


@contextmanager
def _require_view_extra() -> Iterator[None]:
    """What the extra brings, imported within; what a page imports late is looked for at once.

    Raises:
        ExtraMissing: it is not installed.
    """
    if not all(map(find_spec, PACKAGES)):
        raise ExtraMissing("the page", "view")
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise ExtraMissing("the page", "view") from error


def _why_read_only(app: Request, asked: bool) -> str:
    """Why no word of a person can be taken here; empty where one can."""
    if asked:
        return "it was started with --read-only"
    if app.evidence.variables:
        return f"{app.evidence.set}, so an agent started it"
    if not is_terminal():
        return "no person started it at a terminal"
    return "" if app.actor.kind == "user" else f"it was started as {app.actor.kind}"


def _exported(
    app: Request, voice: Voice, name: str, *, everything: bool, sessions: bool, yes: bool
) -> int:
    """Write the site, once a person saw what it publishes."""
    with _require_view_extra():
        from preflights_es.surfaces.view.export import built
        from preflights_es.surfaces.view.site_folder import check_site_folder, write_site

    if not yes and (voice.as_json or not is_terminal()):
        raise click.UsageError("without a terminal, --export needs --yes")
    top = check_site_folder(name)
    with _require_view_extra():
        site = built(app, everything=everything, sessions=sessions)
    for why in site.left_out:
        voice.warn(f"left out: {escaped_text(why)}")
    names = ", ".join(escaped_text(shortened(one, NAME_SHOWN)) for one in site.names[:NAMES_SHOWN])
    more = ", ..." if len(site.names) > NAMES_SHOWN else ""
    records = f"{count_in_words(site.records, 'record')} of other tools, " if site.records else ""
    voice.say(
        f"The site publishes {count_in_words(site.decisions, 'decision')}, {records}"
        f"{count_in_words(len(site.names), 'name')}{f' ({names}{more})' if names else ''} "
        f"and the texts of {count_in_words(site.texts, 'event')}."
    )
    if site.whole:
        files = count_in_words(site.whole, "session file")
        voice.say(f"With {files}, it publishes all that was said.")
    if not yes and not click.confirm(f"Write it to {escaped_text(str(top))}?"):
        voice.say("Nothing was written.")
        return EXIT_REFUSED
    done = write_site(site, top)
    voice.json(done)
    left = done.files - done.written
    voice.say(
        f"Wrote {count_in_words(done.written, 'file')} to {escaped_text(done.folder)}; "
        f"{left:,} stayed as they were, {done.removed:,} went."
    )
    return 0


SDK: Final = ("mcp", "mcp_types")
NEEDED: Final = "the server (with version 2.3 of the SDK or a later one)"


@click.command(short_help="Serve coding agents by the Model Context Protocol.")
@with_lead_options
@creating_command
def mcp_command(app: Request, voice: Voice) -> int:
    """Serve the decisions of this project to coding agents, on stdin and stdout.

    \b
    Examples:
      preflights mcp
    """
    try:
        from preflights_es.surfaces.mcp_server import serve_stdio, server, threads
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in SDK:
            raise
        raise ExtraMissing(NEEDED, "mcp") from error

    with threads() as pool:
        made = server(app, pool, advised)
        said = voice.remark if sys.stdin.isatty() else voice.detail
        said("serving on stdin and stdout, which an agent reads and writes; Ctrl-C ends it")
        serve_stdio(made)
    return 0
