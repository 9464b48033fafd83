"""`replay`: recorded sessions through today's code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from preflights_cli.common import Voice, common
from preflights_cli.main import EXIT_REFUSED
from preflights_cli.transfer import lines_of, name_of
from preflights_es.app import WORKFLOWS, App, own_code
from preflights_es.core.errors import LogDamaged
from preflights_es.core.ids import short
from preflights_es.core.json import encoded
from preflights_es.core.ports import Stored
from preflights_es.core.text import shortened, shown
from preflights_es.replay.divergence import ABSENT_TEXT, Divergence
from preflights_es.replay.replayer import Replay, Replayer
from preflights_es.runtime.sessions import LAST
from preflights_es.store import chain, jsonl

BAR_FROM = 50  # sessions: fewer are done before a bar is drawn


@click.command()
@click.argument("session", nargs=-1, required=True, metavar="SESSION|FILE.jsonl...")
@click.option("--all", "everything", is_flag=True, help="Every difference, not only the first.")
@common
def replay_command(session: tuple[str, ...], everything: bool, app: App, voice: Voice) -> int:
    """Re-run recorded sessions and compare every decision; no provider is asked.

    A file is one that `export` wrote; - is stdin.

    \b
    Examples:
      preflights replay last
      preflights replay replays/clarification/*.jsonl
      preflights replay 3f9a12c4 --all --json
    """
    streams = [stream for typed in session for stream in _streams(app, typed)]
    replayer = Replayer(WORKFLOWS, own_code())
    results: list[Replay] = []
    with click.progressbar(
        streams,
        label="Replaying",
        file=sys.stderr,
        hidden=not sys.stderr.isatty() or voice.quiet or len(streams) < BAR_FROM,
    ) as bar:
        results.extend(replayer.replay(stored, head) for stored, head in bar)
    voice.json({"format": "replay/1", "sessions": [_json(r, everything) for r in results]})
    for result in results:
        _say(voice, result, everything=everything)
    return 0 if all(r.status == "identical" for r in results) else EXIT_REFUSED


def _streams(app: App, typed: str) -> Iterator[tuple[list[Stored] | tuple[Stored, ...], Any]]:
    """The sessions of a file, or the one session of the log that was named."""
    if typed == "-" or typed.endswith(".jsonl") or _is_file(typed):
        streams = chain.sessions(jsonl.stored(lines_of(typed), name_of(typed)))
        if not streams:
            raise LogDamaged(name_of(typed), 0, "it holds no events")
        yield from ((events, None) for events in streams.values())
        return
    session_id = app.sessions.resolved(typed)
    head = app.store.head(session_id)
    yield app.store.read(session_id), head.hash if head else None


def _is_file(typed: str) -> bool:
    """Whether it names a file; what is too long for a name does not."""
    try:
        return typed != LAST and Path(typed).is_file()
    except OSError:
        return False


def _json(result: Replay, everything: bool) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.to_builtins(result)
    if not everything:
        shape["divergences"] = shape["divergences"][:1]
    shape["differences"] = len(result.divergences)
    return shape


def _say(voice: Voice, result: Replay, *, everything: bool) -> None:
    id_ = short(result.session_id)
    if result.status == "identical":
        voice.say(f"{id_} identical: {result.events} events, trace {result.trace}")
        if result.undecided:
            voice.hint(f"Its last Input is undecided: preflights resume {id_} decides it.")
        _say_generation(voice, result)
        return
    if result.fault is not None:
        fault = result.fault
        what = "raises again" if fault.recorded else "raises in today's code"
        voice.say(
            f"{id_} {what} at version {fault.version}: {fault.error}: {shown(fault.message)} "
            f"({fault.file}, line {fault.line})"
        )
    shown_ones = result.divergences if everything else result.divergences[:1]
    for divergence in shown_ones:
        _say_divergence(voice, id_, divergence)
    if len(result.divergences) > len(shown_ones):
        rest = len(result.divergences) - len(shown_ones)
        voice.hint(f"{rest} more with --all.")


def _say_generation(voice: Voice, result: Replay) -> None:
    if result.generation:
        voice.hint(
            f"{shown(result.generation)} answered, which is not today's: "
            "its responses were not computed again."
        )


def _say_divergence(voice: Voice, id_: str, divergence: Divergence) -> None:
    where = divergence.pointer or "the whole event"
    voice.say(
        f"{id_} differs at version {divergence.version}, {shown(divergence.type)}, {shown(where)}"
    )
    if divergence.cause:
        voice.say(f"  cause:    {shown(divergence.cause)}")
    voice.say(f"  recorded: {_value(divergence.recorded)}")
    voice.say(f"  computed: {_value(divergence.computed)}")


def _value(value: Any) -> str:
    text = value if value == ABSENT_TEXT else encoded(value).decode()
    return shortened(shown(text), 400)
