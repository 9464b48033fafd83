"""What people do with clarifications, besides what they do with any session."""

from __future__ import annotations

from preflights_es.runtime.runner import Handle, Step
from preflights_es.services.clarification.clarifications import clarifications_of
from preflights_es.services.request import Request
from preflights_es.workflows.clarification import WORKFLOW


def start(request: Request, text: str) -> Step:
    """Begin one with an intention."""
    settings = request.process.settings
    return clarifications_of(request).open(
        text,
        request.setup(WORKFLOW),
        settings.of(WORKFLOW),
        language=settings.language if settings.is_language_said else None,
    )


def accept(request: Request, handle: Handle, *, by: str | None, expect: int | None) -> Step:
    """Accept what is proposed."""
    return clarifications_of(request).accept(handle.session_id, by=by, expect=expect)
