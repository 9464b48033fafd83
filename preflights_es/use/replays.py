"""Strict replays of sessions that are recorded here, or in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict, replace

from preflights_es.history.recording import Code
from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import LogDamaged, WorkflowMissing
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Workflow
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use.archives import SessionFile, sessions_of
from preflights_es.use.leads import GENERATION, simulated
from preflights_es.use.progress import Drawn, undrawn
from preflights_es.use.reading import looking
from preflights_es.use.request import Request
from preflights_es.use.results import Result

if TYPE_CHECKING:
    from preflights_es.providers.base import LLMProvider

Stream = tuple[Sequence[Stored], bytes | None]
"""A session's events, and the hash of its head where there is one to compare with."""


class Replayed(Replay, frozen=True, kw_only=True):
    """What came of a session, and how many differences there are, shown or not."""

    differences: int


class Replays(Result, frozen=True, tag_field="format", tag="replay/1"):
    """What came of several, in the order in which they were named."""

    sessions: tuple[Replayed, ...]


class Unknown(NamedTuple):
    """A session whose workflow is not here."""

    session_id: str
    why: WorkflowMissing


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
        WorkflowMissing: no session could be replayed.
        LogDamaged, AnotherVersion: as `Replayer.replay` says.
    """
    replayer = Replayer(WORKFLOWS, own_code())
    # What is not shown is not held: a file may have many sessions that differ in every event.
    found: list[Replayed] = []
    unknown: list[Unknown] = []
    for stored, head in streams(request, named, drawn):
        try:
            found.append(_kept(replayer.replay(stored, head), everything))
        except WorkflowMissing as missing:
            unknown.append(Unknown(stored[0].session_id, missing))
    if unknown and not found:
        raise unknown[0].why
    return Replays(sessions=tuple(found)), tuple(unknown)


def _kept(result: Replay, everything: bool) -> Replayed:
    shown = result if everything else replace(result, divergences=result.divergences[:1])
    return Replayed(**asdict(shown), differences=len(result.divergences))


def streams(
    request: Request, named: Sequence[str | SessionFile], drawn: Drawn = undrawn
) -> Iterator[Stream]:
    """The sessions of the log that are named, and those of files."""
    for one in named:
        if isinstance(one, SessionFile):
            yield from ((events, None) for events in sessions_of(one, drawn))
            continue
        at = looking(request, one)  # which opens the log for them alone: a file needs none
        store, session_id = at.process.store, at.sessions.resolved(one)
        head = store.head(session_id)
        yield store.read(session_id), head.hash if head else None


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


def _generation(request: CompletionRequested, workflow: Workflow[Any]) -> str | None:
    return {"sim": GENERATION, "mock": workflow.decider}.get(request.provider)
