"""Why something is decided: recorded beside what else a call records."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Input
from preflights_es.kernel.questions import Refusal
from preflights_es.kernel.rationale import Reasons
from preflights_es.kernel.session import Workflow
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sanitizing import cleaned_fields
from preflights_es.runtime.sessions import Sessions


def taking(workflow: Workflow[Any], reasons: Reasons) -> type[Input]:
    """The Input that takes these reasons.

    Raises:
        Refused: a session of the workflow takes none, or a text cannot be recorded.
    """
    if workflow.reasons is None:
        message = f"a session of the workflow {workflow.name} takes no reasons"
        raise Refused(message, code="no_reasons", workflow=workflow.name)
    cleaned_fields(workflow.reasons, msgspec.structs.asdict(reasons))
    return workflow.reasons


def reasoned(
    sessions: Sessions,
    handle: Handle,
    reasons: Reasons,
    expect: int | None = None,
    by: str | None = None,
) -> Step:
    """Record reasons in a session.

    Args:
        by: the person who accepts, where the caller passes their word on.
        expect: the version at which the session was shown.

    Raises:
        SessionMoved: it is at another version.
        Refused: it takes no reasons any more, or a text cannot be recorded.
    """
    cls = taking(handle.workflow, reasons)
    said = msgspec.structs.asdict(reasons)
    return sessions.submitted(handle, cls, said, expect=expect, by=by)


def with_reasons(
    sessions: Sessions, step: Step, reasons: Reasons | None, by: str | None = None
) -> Step:
    """The step, and behind it what the reasons came to; a refused step takes none."""
    if reasons is None or any(isinstance(one, Refusal) for one in step.decisions):
        return step
    after = reasoned(sessions, step.handle, reasons, by=by)
    return replace(step, handle=after.handle, decisions=(*step.decisions, *after.decisions))
