"""What people do with notes, besides what they do with any session."""

from __future__ import annotations

from preflights_es.runtime.runner import Step
from preflights_es.services.extraction.notes import notes_of
from preflights_es.services.request import Request
from preflights_es.system import clock_ids
from preflights_es.workflows.extraction import WORKFLOW


def start(request: Request, text: str) -> Step:
    """Take a note."""
    when, zone = clock_ids.local(clock_ids.now())
    language = request.process.settings.language
    return notes_of(request).take(text, request.setup(WORKFLOW), language, when, zone)
