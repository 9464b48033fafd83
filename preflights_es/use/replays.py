"""Recorded sessions decided again, or run again with something changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import islice
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import asdict, replace

from preflights_es.history.alignment import EventPair, align_sessions
from preflights_es.history.child import Child, sealed_as
from preflights_es.history.recording import Code, Recording, driven, recording
from preflights_es.history.replayer import Replay, Replayer, Rerun, drift
from preflights_es.history.whatif import Misused, Otherwise, Simulating, simulate, what_if
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import (
    LogDamaged,
    Refused,
    SettingsError,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.lead import WRITERS, Lead
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Decider
from preflights_es.providers.base import LLMProvider
from preflights_es.providers.faults import FaultConfig
from preflights_es.redaction.patterns import SECRETS
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.settings.load import Options
from preflights_es.store import jsonl
from preflights_es.store.stored_events import Codec, verified
from preflights_es.system import clock_ids
from preflights_es.system.files import new_file
from preflights_es.use.answers import addressed
from preflights_es.use.archives import SessionFile, sessions_of
from preflights_es.use.leads import GENERATION, Leads, simulated
from preflights_es.use.prompt_changes import candidate_texts, changed_versions, read_prompt_changes
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn, Result, undrawn
from preflights_es.words.workflow import Workflow, find_known_workflow

Stream = tuple[Sequence[Stored], bytes | None]
"""A session's events, and the hash of its head where there is one to compare with."""


class Replayed(Replay, frozen=True, kw_only=True):
    """What came of a session, and how many differences there are, shown or not."""

    differences: int


class Replays(Result, frozen=True, tag_field="format", tag="replay/1"):
    """What came of several, in the order in which they were named."""

    sessions: tuple[Replayed, ...]


class Unknown(NamedTuple):
    """A session whose code is not here, or cannot read it."""

    session_id: str
    why: WorkflowMissing | UnreadableEvent


def replay(request: Request, session: str) -> Replay:
    """Decide a recorded session again and compare every decision; no provider is asked."""
    stored, head = next(streams(request, [session]))
    return Replayer(WORKFLOWS, own_code()).replay(stored, head)


def replays(
    request: Request,
    named: Sequence[str | SessionFile],
    *,
    everything: bool = False,
    drawn: Drawn = undrawn,
) -> tuple[Replays, tuple[Unknown, ...]]:
    """The same of several sessions, and of those in files; and which could not be replayed.

    Args:
        everything: whether all differences are kept, and not only the first of each session.

    Raises:
        WorkflowMissing, UnreadableEvent: no session could be replayed.
        LogDamaged, AnotherVersion: as `Replayer.replay` says.
    """
    replayer = Replayer(WORKFLOWS, own_code())
    # What is not shown is not held: a file may have many sessions that differ in every event.
    found: list[Replayed] = []
    unknown: list[Unknown] = []
    for stored, head in streams(request, named, drawn):
        try:
            found.append(_summarize_replay(replayer.replay(stored, head), everything))
        except (WorkflowMissing, UnreadableEvent) as missing:
            unknown.append(Unknown(stored[0].session_id, missing))
    if unknown and not found:
        raise unknown[0].why
    return Replays(sessions=tuple(found)), tuple(unknown)


def _summarize_replay(result: Replay, everything: bool) -> Replayed:
    shown = result if everything else replace(result, divergences=result.divergences[:1])
    return Replayed(**asdict(shown), differences=len(result.divergences))


def streams(
    request: Request, named: Sequence[str | SessionFile], drawn: Drawn = undrawn
) -> Iterator[Stream]:
    """The sessions of the log that are named, and those of files."""
    for session in named:
        if isinstance(session, SessionFile):
            yield from ((events, None) for events in sessions_of(session, drawn))
            continue
        # It opens the log for them alone: a file needs none.
        found = request.reading.session(session)
        head = found.head
        yield found.process.store.read(found.session_id), head.hash if head else None


def own_code() -> Code:
    """The providers that are code of ours, for a replay to ask again."""
    return Code(_generation, _made_again)


def _made_again(lead: Lead) -> LLMProvider:
    """Raises:
    LogDamaged: the lead is not one that this program records.
    """
    try:
        return simulated(lead)
    except (LookupError, ValueError) as error:
        found = f"the recorded parameters do not fit the provider {lead.provider}: {error}"
        raise LogDamaged("the session", 0, found) from error


def _generation(request: CompletionRequested, decider: Decider[Any]) -> str | None:
    return {"sim": GENERATION, "mock": decider.version}.get(request.provider)


class SessionDiff(Result, frozen=True, kw_only=True, tag_field="format", tag="diff/1"):
    """Two sessions side by side."""

    a: str
    b: str
    workflow: str
    status: Literal["same", "different"]
    same: int
    """Pairs of events that are the same, but for their time and the sessions' own ids."""
    types_only: bool
    """Whether payloads were erased, so that only the types and the order of events are compared."""
    events: tuple[EventPair, ...]


def compare_sessions(request: Request, a: str | SessionFile, b: str | SessionFile) -> SessionDiff:
    """Two recorded sessions, aligned by their Inputs and Decisions; nothing is decided again.

    Raises:
        Misused: they are of two workflows, or a file holds several.
    """
    found = [*islice(streams(request, [a, b]), 3)]
    if len(found) != 2:
        raise Misused("two sessions are compared, found more: name a file that holds one")
    (one, _), (two, _) = found
    for stored, head in found:
        verified(stored, head)
    if one[0].workflow != two[0].workflow:
        names = f"{one[0].workflow} and {two[0].workflow}"
        raise Misused(f"sessions of two workflows cannot be compared, found {names}")
    types_only = any(event.data is None for event in (*one, *two))
    codec = Codec(find_known_workflow(WORKFLOWS, one[0].workflow).decider)
    pairs = tuple(align_sessions(codec, one, two, types_only=types_only))
    same = sum(not pair.differences for pair in pairs)
    return SessionDiff(
        a=one[0].session_id,
        b=two[0].session_id,
        workflow=one[0].workflow,
        status="same" if same == len(pairs) else "different",
        same=same,
        types_only=types_only,
        events=pairs,
    )


class Reran(Rerun, frozen=True, kw_only=True):
    """What came of a session, and under which id the new run is kept in a file."""

    child_session_id: str | None


class Reruns(Result, frozen=True, tag_field="format", tag="rerun/1"):
    """What came of several, in the order in which they were named."""

    sessions: tuple[Reran, ...]


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions run again."""

    mode: Literal["drift", "simulate", "whatif"]
    seed: int | None = None
    """Of the simulator."""
    faults: str | None = None
    """Of the simulator."""
    provider: str | None = None
    model: str | None = None
    answers: Sequence[tuple[str, Sequence[str]]] = ()
    """Pairs of key and values."""
    prompts: Sequence[tuple[str, str]] = ()
    """Pairs of name, and version or file; a version may be written `v2` or whole."""
    start: str = ""
    """Step or event where the what-if begins."""
    live: bool = False
    """Whether a model may be asked, which costs money."""


def rerun(
    request: Request,
    named: Sequence[str | SessionFile],
    again: Again,
    *,
    out: str | None = None,
    everything: bool = False,
    drawn: Drawn = undrawn,
) -> Reruns:
    """Run sessions again, outside of the log.

    Args:
        out: a new file that keeps the new runs as sessions of their own.
        everything: whether all differences are kept, and not only the first of each session.

    Raises:
        Refused: the file exists.
        SettingsError: the change does not fit the session, or a model may not be asked.
    """
    found = streams(request, named, drawn)
    if again.mode == "whatif":
        first = list(islice(found, 2))
        if len(first) > 1:
            raise Misused("a what-if is about one session, found more: name one")
        found = iter(first)
    if out is not None and os.path.lexists(out):
        raise Refused(f"{out} exists: name a new file")
    results: list[Rerun] = []
    children: list[Child] = []
    for stream in found:
        result, child = _run_recording_again(request.leads, recording(WORKFLOWS, *stream), again)
        results.append(result)
        if out is not None:
            children.append(child)
    ids = {} if out is None else _write_children(out, children)
    return Reruns(sessions=tuple(_reran(one, ids, everything) for one in results))


def _run_recording_again(leads: Leads, recorded: Recording, again: Again) -> tuple[Rerun, Child]:
    match again.mode:
        case "drift":
            return driven(drift(recorded))
        case "simulate":
            leading = simulating(again.seed, again.faults)
            return driven(simulate(recorded, own_code(), leading))
        case _:
            return _what_if(leads, recorded, _otherwise(leads, recorded, again), live=again.live)


def _otherwise(leads: Leads, recorded: Recording, again: Again) -> Otherwise:
    workflow = recorded.workflow
    seed = None if again.seed is None else str(again.seed)
    said = Options(provider=again.provider, model=again.model, seed=seed, faults=again.faults)
    leads = leads.saying(said)
    asked = workflow.asked.answerable(recorded.session.state)
    sanitizer = Sanitizer((*SECRETS, *leads.settings.redact))
    prompts = (*read_prompt_changes(tuple(again.prompts), [workflow]),)
    answers, redacted = sanitizer.cleaned_answers(addressed(again.answers, asked))
    return Otherwise(
        lead=_led_otherwise(leads, workflow) if leads.named else None,
        prompts=changed_versions(prompts, workflow),
        candidates=candidate_texts(prompts, workflow),
        answers=answers,
        redacted=redacted,
        start=again.start,
    )


def _write_children(out: str, children: Sequence[Child]) -> dict[str, str]:
    """Write children as sessions of their own; their ids by the recorded session's."""
    ids = {child.recording.session_id: child.new_id() for child in children}
    content = jsonl.encode_event_file(
        event
        for c in children
        for event in sealed_as(ids[c.recording.session_id], c.stored, clock_ids.salt)
    )
    with new_file(out) as file:
        file.write(content)
    return ids


def _reran(result: Rerun, ids: dict[str, str], everything: bool) -> Reran:
    shown = result if everything else replace(result, divergences=result.divergences[:1])
    return Reran(**asdict(shown), child_session_id=ids.get(result.session_id))


# What changes --------------------------------------------------------------------------------


def simulating(seed: int | None = None, faults: str | None = None) -> Simulating:
    """Who leads a session that is run again against the simulator, given who led.

    A lead that is code of ours, or the rules, leads again, unless a seed or faults are given.
    The writer of a question stays its writer.

    Raises:
        SettingsError: the simulator does not know these faults.
    """
    try:
        wanted = None if faults is None else FaultConfig.parsed(faults)
    except ValueError as error:
        raise SettingsError(f"--faults: {error}") from None

    def is_ours(lead: Lead) -> bool:
        return lead.provider == "mock" or (lead.provider, lead.model) == ("sim", GENERATION)

    def lead(before: Lead | None) -> Lead | None:
        if before is not None and before.provider in WRITERS:
            return before
        if seed is None and wanted is None and (before is None or is_ours(before)):
            return before
        said = dict(before.parameters) if before and before.provider == "sim" else {}
        failing = said.get("faults", "none")
        if wanted is not None and FaultConfig.parsed(failing) != wanted:
            failing = wanted.text()
        numbered = said.get("seed", "0") if seed is None else str(seed)
        strict = before is not None and before.strict
        return Lead("sim", GENERATION, (("seed", numbered), ("faults", failing)), strict)

    return lead


def _led_otherwise(leads: Leads, workflow: Workflow[Any]) -> Simulating:
    """Who leads in place of the recorded lead, as the command line says; the rest stays."""

    def lead(before: Lead | None) -> Lead | None:
        if not leads.names_provider and (before is None or before.provider in WRITERS):
            who = f"the {before.provider} wrote the question" if before else "the rules lead"
            raise SettingsError(f"{who}: name a --provider")
        strict = before is not None and before.strict
        return leads.over(before).configured(workflow, strict=strict)

    return lead


def _what_if(
    leads: Leads, recorded: Recording, otherwise: Otherwise, *, live: bool
) -> tuple[Rerun, Child]:
    """A child of a session, with a change.

    Args:
        live: whether a model may be asked, which costs money.

    Raises:
        SettingsError: the change does not fit the session, or a model may not be asked.
    """
    import asyncio

    async def played() -> tuple[Rerun, Child]:
        made: dict[tuple[str, str], LLMProvider] = {}
        async with AsyncExitStack() as stack:

            def asked(request: CompletionRequested) -> LLMProvider:
                key = (request.provider, request.model)
                if key not in made:
                    address = leads.address_for(recorded.lead, request.provider)
                    lead = Lead(*key, request.parameters, address=address)
                    made[key] = leads.provider_for(lead)
                    stack.push_async_callback(made[key].aclose)
                return made[key]

            return await what_if(recorded, otherwise, own_code(), asked if live else None)

    return asyncio.run(played())
