"""`replay`: recorded sessions through today's code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from preflights_cli import EXIT_ENVIRONMENT, EXIT_REFUSED
from preflights_cli.common import Voice, given, reading
from preflights_cli.divergences import say_divergence
from preflights_cli.progress import bar
from preflights_cli.replay_options import mode_of
from preflights_cli.transfer import BAR_BYTES, session_file
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import shown
from preflights_es.runtime.finder import LAST
from preflights_es.use.archives import SessionFile
from preflights_es.use.replays import Replayed, replays
from preflights_es.use.request import Request


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
    mode = mode_of(asked)
    named = [_named(typed) for typed in session or (LAST,)]
    drawn = bar(voice, "Reading", least=2 * BAR_BYTES)
    if mode != "strict":
        from preflights_cli import rerun

        return rerun.run(app, voice, named, mode, asked, everything=everything, drawn=drawn)
    found, unknown = replays(app, named, everything=everything, drawn=drawn)
    voice.json(found)
    for result in found.sessions:
        _say(voice, result)
    for one in unknown:
        voice.warn(f"session {short(one.session_id)} is not replayed: {one.why}")
    if any(result.status != "identical" for result in found.sessions):
        return EXIT_REFUSED
    return EXIT_ENVIRONMENT if unknown else 0


def _named(typed: str) -> str | SessionFile:
    """A session of the log, or a file."""
    if typed == "-" or typed.endswith(".jsonl") or _is_file(typed):
        return session_file(typed)
    return typed


def _is_file(typed: str) -> bool:
    """Whether it names a file; what is too long for a name does not."""
    try:
        return typed != LAST and Path(typed).is_file()
    except OSError:
        return False


def _say(voice: Voice, result: Replayed) -> None:
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
    if rest := result.differences - len(result.divergences):
        voice.hint(f"{rest} more with --all.")


def _say_generation(voice: Voice, result: Replayed) -> None:
    if result.generation:
        voice.hint(
            f"{shown(result.generation)} answered, which is not today's: "
            "its responses were not computed again."
        )
