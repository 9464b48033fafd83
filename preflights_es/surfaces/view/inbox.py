"""What waits for a person."""

from __future__ import annotations

from typing import Final

from preflights_es.surfaces.view.rendering import Asked, Page
from preflights_es.surfaces.view.server import page
from preflights_es.use.inbox import inbox


def waiting(asked: Asked) -> Page:
    """All that waits."""
    values = {"title": "Inbox", "section": "inbox", "found": inbox(asked.request)}
    return Page("inbox.html", values, "preflights inbox")


ROUTES: Final = (page("/inbox", waiting),)
