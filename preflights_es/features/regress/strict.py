"""What a strict replay comes to: a case, and the causes of what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import Final

from preflights_es.features.regress.results import (
    Case,
    Cause,
    CauseKind,
    Outcome,
    ValueDifference,
)
from preflights_es.history.child import Divergence, Fault, causes
from preflights_es.history.replayer import Replay
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.ports import Stored

Made = Callable[..., Case]
"""A case of one session: all that stays to be said is what came of it."""
DIFFERENCES_MAX: Final = 10  # of one session that a report shows; the rest are counted
ERASED: Final = "erased"
CANNOT_READ: Final = "this code cannot read "
"""Begins why a session is left out whose workflow's code does not take one of its events."""
UNDECIDED: Final = "its last Input is not decided"
REQUESTED: Final = CompletionRequested.tag
RESPONSES: Final = frozenset((CompletionReceived.tag, CompletionFailed.tag))

_KINDS: Final[dict[str, CauseKind]] = {
    "prompts": "prompt",
    "provider": "provider",
    "model": "model",
    "parameters": "parameter",
}
"""By the field of a request."""


def begin_session_case(stored: Sequence[Stored], source: str) -> Made:
    """A case of a session, without what came of it."""
    if not stored:
        return partial(Case, session_id="", workflow="", source=source, head="")
    last = stored[-1]
    return partial(
        Case,
        session_id=last.session_id,
        workflow=last.workflow,
        source=source,
        head=last.hash.hex(),
    )


# 1. A strict replay ----------------------------------------------------------------------------


def strict_case(replay: Replay, stored: Sequence[Stored], made: Made) -> Case:
    """What a strict replay comes to."""
    if replay.status == "identical" and not replay.undecided:
        return made(outcome="same")
    causes = strict_causes(replay.divergences, stored)
    shown = tuple(
        ValueDifference(
            version=one.version,
            type=one.type,
            pointer=one.pointer,
            expected=one.recorded,
            actual=one.computed,
        )
        for one in replay.divergences
    )
    outcome: Outcome
    if replay.fault is not None:
        message = fault_words(replay.fault)
        if not replay.fault.recorded:
            kinds = {one.kind for one in causes}
            causes += () if "code or data" in kinds else (code_or_data(message),)
        outcome = "faulted"
    elif replay.divergences:
        outcome, message = "changed", ""
    else:
        outcome, message = "open", UNDECIDED
        causes = (code_or_data(UNDECIDED),)
    return made(
        outcome=outcome,
        causes=causes,
        differences=shown[:DIFFERENCES_MAX],
        difference_count=len(shown),
        message=message,
        rest_digest=rest_digest(shown[DIFFERENCES_MAX:]),
    )


def rest_digest(rest: Sequence[ValueDifference]) -> str:
    """Of the differences that no report shows; empty where there are none."""
    return sha256(canonical_json(rest)).hexdigest() if rest else ""


def fault_words(fault: Fault) -> str:
    """One line: the exception and its place."""
    place = f"{fault.file.rpartition('/')[2]}:{fault.line}"
    said = " ".join(f"{fault.error}: {fault.message}".split())
    return f"event {fault.version}: {said} ({place})"


def code_or_data(detail: str) -> Cause:
    """What the rules decide otherwise: a run cannot tell today's code from an edited log."""
    return Cause(kind="code or data", detail=detail)


def strict_causes(divergences: Sequence[Divergence], stored: Sequence[Stored]) -> tuple[Cause, ...]:
    """Of a strict replay: what the requests say of themselves; all else is code or data.

    A response that code of ours would not give differs with its request, where that differs.
    """
    prompted = {one.version for one in divergences if one.pointer.startswith("/prompts/")}
    found: dict[CauseKind, Cause] = {}
    explained: set[str] = set()
    rest: list[Divergence] = []
    for one in divergences:
        kind = (
            _cause_kind_at(one.pointer, one.version in prompted) if one.type == REQUESTED else None
        )
        if kind is not None:
            said = one.cause.split(", ")
            detail = detail_of(kind, said) or one.cause
            found.setdefault(kind, Cause(kind=kind, detail=detail))
            explained.add(_call(stored, one.version))
        elif one.type in RESPONSES and _call(stored, one.version) in explained:
            continue
        else:
            rest.append(one)
    if rest:
        found["code or data"] = code_or_data(rest[0].cause or _describe_divergence(rest[0]))
    return tuple(found.values())


def _cause_kind_at(pointer: str, prompted: bool) -> CauseKind | None:
    """The words of a prompt that differs are a message too: the first."""
    field = pointer.split("/", 2)[1] if pointer else ""
    return "prompt" if prompted and pointer == "/messages/0/content" else _KINDS.get(field)


def detail_of(kind: CauseKind, said: Sequence[str]) -> str:
    """Of what requests differ in, the part of a kind; empty where none is."""
    return next((part for part in said if part.startswith(f"{kind} ")), "")


def _describe_divergence(one: Divergence) -> str:
    return f"event {one.version}, {one.type}{f', at {one.pointer}' if one.pointer else ''}"


def _call(stored: Sequence[Stored], version: int) -> str:
    data = stored[version - 1].data if version <= len(stored) else None
    return str(decode_plain_json(data).get("call", "")) if data is not None else ""


# 2. A child ----------------------------------------------------------------------------------


def request_causes(recorded: Sequence[Event], child: Sequence[Event]) -> tuple[str, ...]:
    """What the first request that differs differs in; empty where none does."""
    before, after = _requests(recorded), _requests(child)
    for call in {**before, **after}:
        if call not in before or call not in after:
            return ("a request is gone" if call in before else "a request is new",)
        if found := causes(before[call], after[call]):
            return found
    return ()


def _requests(events: Sequence[Event]) -> dict[str, CompletionRequested]:
    return {event.call: event for event in events if isinstance(event, CompletionRequested)}
