"""`replay`: recorded sessions through today's code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from preflights_cli.common import Voice, given, reading
from preflights_cli.divergences import say_divergence
from preflights_cli.main import EXIT_ENVIRONMENT, EXIT_REFUSED
from preflights_cli.replay_options import Asked, Stream
from preflights_cli.transfer import sessions_of
from preflights_es.core.errors import WorkflowMissing
from preflights_es.core.ids import short
from preflights_es.core.text import shown
from preflights_es.replay.replayer import Replay, Replayer
from preflights_es.runtime.finder import LAST
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.services.looking import looking
from preflights_es.services.replays import own_code
from preflights_es.services.request import Request


@click.command()
@click.argument("session", nargs=-1, metavar="[SESSION|FILE.jsonl]...")
@click.option(
    "--all", "everything", is_flag=True, help="Show every difference, not only the first."
)
@click.option("--drift", is_flag=True, help="Run today's code with the recorded responses.")
@click.option(
    "--simulate", is_flag=True, help="Run again with the simulator (see --seed, --faults)."
)
@click.option(
    "--provider", "provider_", metavar="NAME", callback=given, help="What if: another provider."
)
@click.option("--model", "model_", metavar="MODEL", callback=given, help="What if: another model.")
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=VERSION",
    help="What if: another prompt, such as clarify=v2.",
)
@click.option("--seed", "seed_", type=int, metavar="N", help="Seed of the simulator.")
@click.option(
    "--faults", "faults_", metavar="FAULTS", callback=given, help="Faults of the simulator."
)
@click.option(
    "--answer", "answered", multiple=True, metavar="KEY=VALUE", help="What if: another answer."
)
@click.option(
    "--fault",
    "failing",
    multiple=True,
    metavar="STEP=KIND",
    help="What if: a failed call, such as decide-2=timeout.",
)
@click.option(
    "--from",
    "start",
    metavar="STEP",
    callback=given,
    help="Step or event where the what-if begins.",
)
@click.option("--live", is_flag=True, help="Let a what-if ask a model; this costs money.")
@click.option(
    "--out", metavar="FILE.jsonl", callback=given, help="Write the new run to a new file."
)
@reading
def replay_command(
    session: tuple[str, ...], everything: bool, app: Request, voice: Voice, **asked: Any
) -> int:
    """Re-run recorded sessions and compare every decision; no model is asked.

    FILE is an export of `admin export`; - is stdin. With --drift, --simulate or a what-if
    (--provider to --fault) a session runs again outside the log; the run is not recorded.

    \b
    Examples:
      preflights replay
      preflights replay replays/*/*.jsonl
      preflights replay last --drift
      preflights replay last --simulate --seed 7
      preflights replay last --provider sim --from clarify-1
    """
    wanted = Asked(**asked)
    mode = wanted.mode()
    streams = (stream for typed in session or (LAST,) for stream in _streams(app, voice, typed))
    if mode == "strict":
        return _strict(streams, voice, everything=everything)
    from preflights_cli import rerun

    return rerun.run(app, voice, streams, wanted, everything=everything)


def _strict(streams: Iterable[Stream], voice: Voice, *, everything: bool) -> int:
    replayer = Replayer(WORKFLOWS, own_code())
    # What is not shown is not held: a file may have many sessions that differ in every event.
    results: list[tuple[Replay, int]] = []
    unknown: list[tuple[str, WorkflowMissing]] = []
    for stored, head in streams:
        try:
            results.append(_kept(replayer.replay(stored, head), everything))
        except WorkflowMissing as missing:
            unknown.append((stored[0].session_id, missing))
    if unknown and not results:
        raise unknown[0][1]
    voice.json({"format": "replay/1", "sessions": [_json(r, n) for r, n in results]})
    for result, differences in results:
        _say(voice, result, differences)
    for session_id, why in unknown:
        voice.warn(f"session {short(session_id)} is not replayed: {why}")
    if any(result.status != "identical" for result, _ in results):
        return EXIT_REFUSED
    return EXIT_ENVIRONMENT if unknown else 0


def _kept(result: Replay, everything: bool) -> tuple[Replay, int]:
    """What is shown of a replay, and how many differences it found."""
    found = result.divergences
    kept = result if everything else replace(result, divergences=found[:1])
    return kept, len(found)


def _streams(app: Request, voice: Voice, typed: str) -> Iterator[Stream]:
    """The sessions of a file, or the one session of the log that was named."""
    if typed == "-" or typed.endswith(".jsonl") or _is_file(typed):
        yield from ((events, None) for events in sessions_of(typed, voice))
        return
    app = looking(app, typed)
    session_id = app.sessions.resolved(typed)
    head = app.process.store.head(session_id)
    yield app.process.store.read(session_id), head.hash if head else None


def _is_file(typed: str) -> bool:
    """Whether it names a file; what is too long for a name does not."""
    try:
        return typed != LAST and Path(typed).is_file()
    except OSError:
        return False


def _json(result: Replay, differences: int) -> dict[str, Any]:
    return {**msgspec.to_builtins(result), "differences": differences}


def _say(voice: Voice, result: Replay, differences: int) -> None:
    id_ = short(result.session_id)
    if result.status == "erased":
        voice.say(f"{id_} was erased: its payloads are gone and cannot be replayed")
        return
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
    for divergence in result.divergences:
        say_divergence(voice, id_, divergence)
    if rest := differences - len(result.divergences):
        voice.hint(f"{rest} more with --all.")


def _say_generation(voice: Voice, result: Replay) -> None:
    if result.generation:
        voice.hint(
            f"{shown(result.generation)} answered, which is not today's: "
            "its responses were not computed again."
        )
