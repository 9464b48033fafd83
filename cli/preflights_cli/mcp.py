"""`mcp`: the server that coding agents ask."""

from __future__ import annotations

import sys
from typing import Final

import click

from preflights_cli.advice import advised
from preflights_cli.common import Voice, creating_command, with_lead_options
from preflights_es.kernel.errors import ExtraMissing
from preflights_es.use.request import Request

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
        from preflights_es.surfaces.mcp.server import serve_stdio, server, threads
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
