"""A workflow whose code is not here: its sessions are listed, verified, exported and erased."""

from __future__ import annotations

from typing import ClassVar, Final

from preflights_es.core.events import Actor, Decision, Event, Input
from preflights_es.core.ports import Stored
from preflights_es.core.session import Workflow
from preflights_es.core.views import View


class OpaqueInput(Input, frozen=True):
    """An Input of such a workflow; what it says is not known."""

    tag: ClassVar[str] = "opaque.input.v1"


class OpaqueDecision(Decision, frozen=True):
    """A Decision of such a workflow; what it says is not known."""

    tag: ClassVar[str] = "opaque.decision.v1"


_DECISION: Final = OpaqueDecision()


def opaque_event(stored: Stored) -> Event:
    """What an event is that no class here describes, as far as its envelope says."""
    if stored.input_id is None:
        return _DECISION
    match stored.actor_kind:
        case "user" | "agent" | "script" as kind:
            return OpaqueInput(at=stored.recorded_at, actor=Actor(kind))
        case _:
            return OpaqueInput(at=stored.recorded_at, actor=Actor("script"))


def opaque_workflow(name: str, why: str) -> Workflow[None]:
    """In place of a workflow: folds to nothing, and takes no Input of the workflow's own.

    Args:
        why: why its code is not here, and what to do.
    """
    words = f"the workflow {name!r} is not known here: {why}"

    def decide(_state: None, _new: Input) -> tuple[Decision, ...]:
        raise AssertionError("the runner records nothing of a workflow that is not here")

    return Workflow(
        name=name,
        decider=f"{name}/0",
        events=(),
        initial=None,
        decide=decide,
        evolve=lambda state, _event: state,
        is_terminal=lambda _state: False,
        view=lambda _state: View(
            status="unknown", intention=words, ended=f"takes nothing: {words}"
        ),
        statuses=("unknown",),
        missing=words,
    )
