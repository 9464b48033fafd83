"""A workflow whose code is not here: its sessions are listed, verified, exported and erased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from preflights_es.kernel.errors import WorkflowMissing
from preflights_es.kernel.events import Actor, Decision, Event, Input
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Workflow
from preflights_es.kernel.views import View

UNKNOWN: Final = "unknown"
"""The status of its sessions."""


class OpaqueInput(Input, frozen=True):
    """An Input of such a workflow; what it says is not known."""

    tag: ClassVar[str] = "opaque.input.v1"


class OpaqueDecision(Decision, frozen=True):
    """A Decision of such a workflow; what it says is not known."""

    tag: ClassVar[str] = "opaque.decision.v1"


class _Said(msgspec.Struct, frozen=True):
    """What the payload of every Input has."""

    actor: Actor


_DECISION: Final = OpaqueDecision()


def opaque_event(stored: Stored) -> Event:
    """What an event is that no class here describes, as far as its envelope says."""
    if stored.input_id is None:
        return _DECISION
    return OpaqueInput(at=stored.recorded_at, actor=_actor(stored))


def _actor(stored: Stored) -> Actor:
    try:
        return msgspec.json.decode(stored.data or b"", type=_Said).actor
    except (ValueError, RecursionError):  # a payload of others: its envelope says enough
        match stored.actor_kind:
            case "user" | "agent" as kind:
                return Actor(kind)
            case _:
                return Actor("script")


def known(workflows: Mapping[str, Workflow[Any]], name: str) -> Workflow[Any]:
    """The workflow of that name.

    Raises:
        WorkflowMissing: its code is not here.
    """
    try:
        return workflows[name]
    except WorkflowMissing:
        raise
    except KeyError:
        raise WorkflowMissing(name, "upgrade preflights") from None


def opaque_workflow(name: str, why: str) -> Workflow[None]:
    """In place of a workflow: folds to nothing, and takes no Input of the workflow's own.

    Args:
        why: why its code is not here, and what to do.
    """
    words = str(WorkflowMissing(name, why))

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
        view=lambda _state: View(status=UNKNOWN, intention=words),
        statuses=(UNKNOWN,),
        missing=why,
    )


def refuse_missing(workflow: Workflow[Any]) -> None:
    """See that the code of a workflow is here.

    Raises:
        WorkflowMissing: it is not; its sessions take nothing, and nothing is computed of them.
    """
    if workflow.missing:
        raise WorkflowMissing(workflow.name, workflow.missing)
