"""`replay` when a session runs again: drift, simulation, what-if."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, cast

import click
import msgspec

from preflights_cli.answer_options import keyed
from preflights_cli.common import Voice
from preflights_cli.divergences import say_divergence, value
from preflights_cli.main import EXIT_REFUSED
from preflights_cli.replay_options import Asked, Stream
from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.core.text import shown
from preflights_es.replay.child import Child
from preflights_es.replay.drift import drift
from preflights_es.replay.recompute import driven
from preflights_es.replay.recording import Recording, recording
from preflights_es.replay.report import Rerun
from preflights_es.replay.responders import KINDS, FailureKind
from preflights_es.replay.sealing import sealed_as
from preflights_es.replay.simulate import simulate
from preflights_es.replay.whatif_plan import Otherwise
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.sanitizing import cleaned_answers
from preflights_es.services import replays
from preflights_es.services.request import Request
from preflights_es.settings.load import Options
from preflights_es.store import jsonl
from preflights_es.system import clock_ids
from preflights_es.system.output_file import new_file

RerunResult = tuple[Rerun, Child]

TITLES = {"drift": "drift", "simulate": "simulated", "whatif": "what if"}


def run(
    app: Request, voice: Voice, streams: Iterable[Stream], asked: Asked, *, everything: bool
) -> int:
    """Every session again, and what came of it."""
    mode = asked.mode()
    if mode == "whatif":
        streams = _one(streams)
    if asked.out is not None and os.path.lexists(asked.out):
        raise Refused(f"{asked.out} exists: name a new file")
    results: list[Rerun] = []
    children: list[Child] = []
    for stream in streams:
        result, child = _run(app, mode, recording(WORKFLOWS, *stream), asked)
        results.append(result)
        if asked.out is not None:
            children.append(child)
    kept = _keep(asked.out, children) if asked.out is not None else {}
    shapes = [_json(result, kept, everything=everything) for result in results]
    voice.json({"format": "rerun/1", "sessions": shapes})
    for result in results:
        _say(voice, result, everything=everything)
    if asked.out is not None:
        for result in results:
            voice.say(shown(f"Kept as session {short(kept[result.session_id])} in {asked.out}."))
    return 0 if all(map(is_well, results)) else EXIT_REFUSED


def _one(streams: Iterable[Stream]) -> list[Stream]:
    """The one session that there is.

    Raises:
        UsageError: there are more.
    """
    found = list(islice(streams, 2))
    if len(found) > 1:
        message = "a what-if is about one session, found more: name one"
        raise click.UsageError(message)
    return found


def is_well(result: Rerun) -> bool:
    """Whether it came out as it should: a what-if when it ran to its end, the others identical."""
    if result.otherwise or result.mode == "whatif":
        return result.status in ("identical", "different")
    return result.status == "identical"


def _run(app: Request, mode: str, recorded: Recording, asked: Asked) -> RerunResult:
    if mode == "drift":
        return driven(drift(recorded))
    if mode == "simulate":
        simulating = replays.simulating(asked.seed_, asked.faults_)
        return driven(simulate(recorded, replays.own_code(), simulating))
    return replays.what_if(app.leads, recorded, _otherwise(app, recorded, asked), live=asked.live)


# 1. What changes -----------------------------------------------------------------------------


def _otherwise(app: Request, recorded: Recording, asked: Asked) -> Otherwise:
    workflow = recorded.workflow
    options = Options(
        provider=asked.provider_,
        model=asked.model_,
        seed=None if asked.seed_ is None else str(asked.seed_),
        faults=asked.faults_,
    )
    leads = app.leads.saying(options)
    answers, redacted = cleaned_answers(keyed(asked.answered))
    return Otherwise(
        lead=replays.led_otherwise(leads, workflow) if leads.named else None,
        prompts=replays.prompts_named(workflow, map(_pair("--prompt"), asked.prompts)),
        answers=answers,
        redacted=redacted,
        faults=_faults(asked.failing),
        start=asked.start or "",
    )


def _pair(option: str) -> Any:
    example = {"--prompt": "clarify=v2", "--fault": "clarify-1=timeout"}[option]

    def pair(text: str) -> tuple[str, str]:
        name, equals, given = text.rpartition("=")
        if not (name and equals and given):
            message = f"{option}: found {text!r}, expected a pair such as {example}"
            raise click.UsageError(message)
        return name, given

    return pair


def _faults(texts: Sequence[str]) -> tuple[tuple[str, FailureKind], ...]:
    found = tuple(map(_fault, texts))
    if len({step for step, _ in found}) < len(found):
        message = "--fault: a step is named twice"
        raise click.UsageError(message)
    return found


def _fault(text: str) -> tuple[str, FailureKind]:
    step, kind = _pair("--fault")(text)
    if kind not in KINDS:
        message = f"--fault: found {kind!r}, expected {', '.join(KINDS)}"
        raise click.UsageError(message)
    return step, cast("FailureKind", kind)


# 2. Keeping it -------------------------------------------------------------------------------


def _keep(out: str, children: Sequence[Child]) -> dict[str, str]:
    """Write children as sessions of their own; their ids by the recorded session's."""
    ids = {child.recording.session_id: child.new_id() for child in children}
    content = b"".join(
        jsonl.lines(sealed_as(ids[c.recording.session_id], c.stored, clock_ids.salt))
        for c in children
    )
    with new_file(out) as file:
        file.write(content)
    return ids


# 3. Saying it --------------------------------------------------------------------------------


def _json(result: Rerun, kept: dict[str, str], *, everything: bool) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.to_builtins(result)
    if not everything:
        shape["divergences"] = shape["divergences"][:1]
    shape["child_session_id"] = kept.get(result.session_id)
    return shape


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
