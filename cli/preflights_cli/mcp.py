"""`mcp`: the server that coding agents ask."""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

import click

from preflights_cli.advice import advised
from preflights_cli.common import Voice, led, recording
from preflights_es.kernel.errors import SettingsError
from preflights_es.settings.load import surroundings
from preflights_es.use.request import Request

PORT: Final = 8717
PORT_MAX: Final = 65_535
SDK: Final = ("mcp", "mcp_types")
NEEDED: Final = (
    "the server needs the extra `mcp`, with version 2.3 of the SDK or a later one: "
    "`pip install 'preflights-es[mcp]'`"
)
TOKEN: Final = "PREFLIGHTS_MCP_TOKEN"  # noqa: S105  the variable's name


@click.command(short_help="Serve coding agents by the Model Context Protocol.")
@click.option("--http", "is_http", is_flag=True, help="Serve on a port of this machine, not stdio.")
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    metavar="PORT",
    help=f"The port of --http, {PORT} by default; 0 for any that is free.",
)
@led
@recording
def mcp_command(is_http: bool, port: int | None, app: Request, voice: Voice) -> int:
    """Serve the decisions of this project to coding agents, on stdin and stdout.

    With --http it serves http://127.0.0.1:PORT/mcp to programs of this machine that show the
    token of PREFLIGHTS_MCP_TOKEN, or the one that it prints on stderr.

    \b
    Examples:
      preflights mcp
      preflights mcp --http --port 8717
    """
    if port is not None and not is_http:
        raise click.UsageError("--port goes with --http")
    try:
        from preflights_es.surfaces.mcp import server as serving
        from preflights_es.surfaces.mcp.server import server, threads
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in SDK:
            raise
        raise SettingsError(NEEDED) from error

    with threads() as pool:
        made = server(app, pool, advised)
        if is_http:
            serving.http(
                made,
                PORT if port is None else port,
                surroundings().get(TOKEN, ""),
                partial(click.echo, err=True),
            )
        else:
            said = voice.remark if sys.stdin.isatty() else voice.detail
            said("serving on stdin and stdout, which an agent reads and writes; Ctrl-C ends it")
            serving.stdio(made)
    return 0
