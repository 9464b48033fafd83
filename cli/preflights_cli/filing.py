"""After a step: its documents are written, and what a person has to know is said."""

from __future__ import annotations

from preflights_cli.common import Voice, finish_pending
from preflights_cli.rendering import shown_of
from preflights_es.core.errors import PreflightsError
from preflights_es.runtime.runner import Handle
from preflights_es.services.request import Request


def filed(app: Request, voice: Voice, handle: Handle) -> Handle:
    """The session after its documents were written, and those that its step left to others.

    Raises:
        PreflightsError: the document cannot be written; the decision stands all the same.
    """
    if handle.project != app.process.project:
        return handle  # its documents are that project's to write
    try:
        handle = app.process.documents.finish(handle)
    except PreflightsError:
        voice.warn("it is recorded; the next command writes its document")
        raise
    finish_pending(app, voice)
    shown_of(handle.workflow.name).filed(app, voice, handle)
    return handle
