"""`calls record` and `calls replay` on the command line."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Final

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, creating_command, each_given, reading_command
from preflights_es.features.calls.playing import read_recorded_calls, replay_run
from preflights_es.features.calls.recording import Route, find_routes, record_run
from preflights_es.features.calls.serving import require_aiohttp
from preflights_es.features.calls.use import keep_calls_private, notice_where_calls_lie
from preflights_es.features.calls.writer import RunBegun
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import count_in_words, cut_at_word, escaped_text
from preflights_es.settings.load import surroundings
from preflights_es.use.request import Request

NUMBERS_MAX: Final = 60  # characters of the numbers of calls that were not made
Words = tuple[str, ...]


def _run_options(command: Callable[..., int]) -> Callable[..., int]:
    command = click.argument("command", nargs=-1, required=True, metavar="-- COMMAND")(command)
    command = click.option(
        "--var",
        "variables",
        multiple=True,
        metavar="VARIABLE",
        callback=each_given,
        help="From which the program takes that address; repeatable. Default: NAME_BASE_URL.",
    )(command)
    return click.option(
        "--route",
        "given",
        multiple=True,
        metavar="NAME=URL",
        callback=each_given,
        help="Another provider than OpenAI and Anthropic, and its address; repeatable.",
    )(command)


def _routes(given: Words, variables: Words, recorded: Iterable[str] = ()) -> list[Route]:
    """The routes of a run; in a replay those that were recorded need no address."""
    named = {}
    for one in given:
        name, _, url = one.partition("=")
        if not (url and re.fullmatch(r"[\w-]+", name, re.ASCII)):
            raise click.UsageError(f"--route: found {one!r}, expected NAME=URL")
        named[name] = url
    if len(variables) > len(named):
        message = f"--var {variables[len(named)]}: it belongs to a --route, name that first"
        raise click.UsageError(message)
    of_names = dict(zip(named, variables, strict=False))
    return find_routes({**dict.fromkeys(recorded, ""), **named}, of_names, surroundings())


@click.command("record", context_settings={"allow_interspersed_args": False})
@_run_options
@creating_command
def record_command(
    command: Words, given: Words, variables: Words, app: Request, voice: Voice
) -> int:
    """Run a program and record the calls of models that it makes.

    Its SDKs reach a proxy on this machine by OPENAI_BASE_URL and ANTHROPIC_BASE_URL. Secrets,
    e-mail addresses, phone numbers, cards and accounts are taken out before anything is recorded.
    The exit code is the program's; where that is 0, it is 1 if the log holds no call, or lacks one.

    \b
    Examples:
      preflights calls record -- python app.py
      preflights calls record --route groq=https://api.groq.com/openai/v1 -- node app.js
    """
    require_aiohttp()
    routes = _routes(given, variables)
    is_first = keep_calls_private(app)
    made = asyncio.run(record_run(_describe_run(app, command), command, routes, surroundings()))
    voice.json(made)
    if is_first and made.recorded:
        notice_where_calls_lie(app)
    if made.trouble:
        voice.warn(f"the log took nothing at the end: {made.trouble}")
    if made.missed:
        voice.warn(f"the log lacks {count_in_words(made.missed, 'call')}")
    if made.unanswered:
        told = "".join(f"; {url} does not answer" for url in made.not_answering)
        voice.warn(f"no whole answer came to {count_in_words(made.unanswered, 'call')}{told}")
    if made.recorded:
        session = short_session(made.session_id)
        voice.remark(f"Recorded {count_in_words(made.recorded, 'call')} in {session}.")
        named = zip(given, variables, strict=False)
        words = [word for url, name in named for word in ("--route", url, "--var", name)]
        again = escaped_text(shlex.join(["preflights", "calls", "replay", session, *words, "--"]))
        voice.remark(f"`{again} ...` gives these answers again.")
    if not made.recorded and not made.missed:
        names = ", ".join(route.variable for route in routes)
        voice.warn(f"nothing was recorded: the program called none of the addresses in {names}")
    return made.exit_code or (0 if made.recorded and not made.missed else EXIT_REFUSED)


def _describe_run(app: Request, command: Words) -> RunBegun:
    settings = app.process.settings
    return RunBegun(
        run=str(app.process.runner.new_id()),
        command=shlex.join(command),
        database=settings.database if settings.is_database_named else "",
        actor=app.actor,
    )


@click.command("replay")
@click.argument("session")
@_run_options
@reading_command
def replay_command(
    session: str, command: Words, given: Words, variables: Words, app: Request, voice: Voice
) -> int:
    """Run a program again with the answers that `calls record` recorded; no model is asked.

    A call that differs from each that is recorded gets status 422, and is named. The exit code is
    the program's; where that is 0, it is 1 if a call differs, or was not made.

    \b
    Examples:
      preflights calls replay last -- python app.py
      preflights calls replay 3f9a12c4 --json -- pytest tests/test_app.py
    """
    require_aiohttp()
    recorded = read_recorded_calls(app, session)
    used = {call.recorded.request.route for call in recorded.calls}
    routes = _routes(given, variables, used)
    made = asyncio.run(replay_run(app, recorded, command, routes=routes, env=surroundings()))
    voice.json(made)
    for why in made.differences:
        voice.warn(why)
    if more := made.not_recorded - len(made.differences):
        voice.warn(f"and {count_in_words(more, 'more call')} without a recorded answer")
    if made.not_asked:
        numbers = cut_at_word(", ".join(map(str, made.not_asked)), NUMBERS_MAX)
        told = count_in_words(len(made.not_asked), "recorded call")
        voice.warn(f"the program did not make {told}: {numbers}")
    if made.missed:
        voice.warn(f"the recording lacks {count_in_words(made.missed, 'call')}")
    whole = count_in_words(len(recorded.calls), "recorded call")
    voice.remark(f"Served {made.served:,} of {whole}.")
    is_equal = made.served and not (made.not_recorded or made.not_asked or made.missed)
    return made.exit_code or (0 if is_equal else EXIT_REFUSED)
