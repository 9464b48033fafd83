"""`replay` when a session runs again: drift, simulation, what-if."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.answer_options import keyed
from preflights_cli.common import Voice
from preflights_cli.divergences import say_divergence, value
from preflights_es.history.report import Rerun
from preflights_es.history.responders import KINDS, FailureKind
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import shown
from preflights_es.use.archives import SessionFile
from preflights_es.use.progress import Drawn
from preflights_es.use.request import Request
from preflights_es.use.reruns import Again, rerun

TITLES = {"drift": "drift", "simulate": "simulated", "whatif": "what if"}


def run(
    app: Request,
    voice: Voice,
    named: Sequence[str | SessionFile],
    mode: str,
    asked: Mapping[str, Any],
    *,
    everything: bool,
    drawn: Drawn,
) -> int:
    """Every session again, and what came of it."""
    again, out = _again(mode, asked), asked["out"]
    found = rerun(app, named, again, out=out, everything=everything, drawn=drawn)
    voice.json(found)
    for result in found.sessions:
        _say(voice, result, everything=everything)
    for result in found.sessions if out is not None else ():
        voice.say(shown(f"Kept as session {short(str(result.child_session_id))} in {out}."))
    return 0 if all(map(is_well, found.sessions)) else EXIT_REFUSED


def is_well(result: Rerun) -> bool:
    """Whether it came out as it should: a what-if when it ran to its end, the others identical."""
    if result.otherwise or result.mode == "whatif":
        return result.status in ("identical", "different")
    return result.status == "identical"


# 1. What changes -----------------------------------------------------------------------------


def _again(mode: str, asked: Mapping[str, Any]) -> Again:
    return Again(
        mode=cast("Any", mode),
        seed=asked["seed_"],
        faults=asked["faults_"],
        provider=asked["provider_"],
        model=asked["model_"],
        answers=keyed(asked["answered"]),
        prompts=[_pair("--prompt", text) for text in asked["prompts"]],
        failing=_faults(asked["failing"]),
        start=asked["start"] or "",
        live=asked["live"],
    )


def _pair(option: str, text: str) -> tuple[str, str]:
    example = {"--prompt": "clarify=v2", "--fault": "clarify-1=timeout"}[option]
    name, equals, given = text.rpartition("=")
    if not (name and equals and given):
        message = f"{option}: found {text!r}, expected a pair such as {example}"
        raise click.UsageError(message)
    return name, given


def _faults(texts: Sequence[str]) -> tuple[tuple[str, FailureKind], ...]:
    found = tuple(map(_fault, texts))
    if len({step for step, _ in found}) < len(found):
        message = "--fault: a step is named twice"
        raise click.UsageError(message)
    return found


def _fault(text: str) -> tuple[str, FailureKind]:
    step, kind = _pair("--fault", text)
    if kind not in KINDS:
        message = f"--fault: found {kind!r}, expected {', '.join(KINDS)}"
        raise click.UsageError(message)
    return step, kind


# 2. Saying it --------------------------------------------------------------------------------


def _say(voice: Voice, result: Rerun, *, everything: bool) -> None:
    id_ = short(result.session_id)
    title = ", ".join((TITLES[result.mode], *map(shown, result.otherwise)))
    ran = f"{result.child_events} events"
    if result.kept:
        ran += f", {result.kept} of them recorded"
    if result.mode == "drift":
        ran = f"{result.exact} of {result.exact + len(result.matches)} responses by digest"
    voice.say(f"{id_} {title}: {result.status}: {ran}, trace {result.child_trace}")
    _say_run(voice, result)
    for change in result.changes:
        voice.say(f"  {shown(change.pointer)}: {value(change.recorded)} -> {value(change.child)}")
    if not result.otherwise or everything:
        for divergence in result.divergences if everything else result.divergences[:1]:
            say_divergence(voice, id_, divergence)
        if result.differences > 1 and not everything:
            voice.hint(f"{result.differences - 1} more with --all.")


def _say_run(voice: Voice, result: Rerun) -> None:
    """What was met on the way."""
    for match in result.matches:
        causes = ", ".join(match.causes)
        voice.say(shown(f"  {match.call} had the response of {match.recorded}: {causes}"))
    if result.stopped:
        voice.say(shown(f"  it ends there: {result.stopped}"))
    if result.fault is not None:
        fault = result.fault
        voice.say(
            f"  raises in today's code at version {fault.version}: {fault.error}: "
            f"{shown(fault.message)} ({fault.file}, line {fault.line})"
        )
    for left in result.left:
        which = f"the Input at version {left.version}" if left.version else "an answer"
        voice.say(shown(f"  {which} ({left.type}) does not count: {left.reason}"))
    if result.asks and result.status != "identical":
        voice.say(shown(f"  it waits for an answer to {', '.join(result.asks)}"))
