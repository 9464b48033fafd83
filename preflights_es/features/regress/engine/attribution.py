"""Where differences come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from preflights_es.features.regress.engine.results import Cause, CauseKind
from preflights_es.history.child import Divergence, causes
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import decoded
from preflights_es.kernel.ports import Stored

REQUESTED: Final = CompletionRequested.tag
RESPONSES: Final = frozenset((CompletionReceived.tag, CompletionFailed.tag))

_KINDS: Final[dict[str, CauseKind]] = {
    "prompts": "prompt",
    "provider": "provider",
    "model": "model",
    "parameters": "parameter",
}
"""By the field of a request."""


def code_or_data(recorded_by: bool | None, detail: str = "") -> Cause:
    """What the rules decide otherwise.

    Args:
        recorded_by: whether the code that recorded it decides what the log says; None where it
            was not asked.
    """
    if recorded_by is None:
        return Cause(kind="code or data", detail=detail)
    return Cause(kind="code" if recorded_by else "data", detail=detail)


def strict_causes(
    divergences: Sequence[Divergence], stored: Sequence[Stored], recorded_by: bool | None
) -> tuple[Cause, ...]:
    """Of a strict replay: what the requests say of themselves; all else is code or data.

    A response that code of ours would not give differs with its request, where that differs.
    """
    prompted = {one.version for one in divergences if one.pointer.startswith("/prompts/")}
    found: dict[CauseKind, Cause] = {}
    explained: set[str] = set()
    rest: list[Divergence] = []
    for one in divergences:
        kind = _kind(one.pointer, one.version in prompted) if one.type == REQUESTED else None
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
        cause = code_or_data(recorded_by, rest[0].cause or _named(rest[0]))
        found[cause.kind] = cause
    return tuple(found.values())


def _kind(pointer: str, prompted: bool) -> CauseKind | None:
    """The words of a prompt that differs are a message too: the first."""
    field = pointer.split("/", 2)[1] if pointer else ""
    return "prompt" if prompted and pointer == "/messages/0/content" else _KINDS.get(field)


def detail_of(kind: CauseKind, said: Sequence[str]) -> str:
    """Of what requests differ in, the part of a kind; empty where none is."""
    return next((part for part in said if part.startswith(f"{kind} ")), "")


def _named(one: Divergence) -> str:
    return f"event {one.version}, {one.type}{f', at {one.pointer}' if one.pointer else ''}"


def _call(stored: Sequence[Stored], version: int) -> str:
    data = stored[version - 1].data if version <= len(stored) else None
    return str(decoded(data).get("call", "")) if data is not None else ""


# Of a child ----------------------------------------------------------------------------------


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
