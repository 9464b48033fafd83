"""The decisions of the project: the list, and one of them."""

from __future__ import annotations

from typing import Final

from preflights_es.surfaces.view.rendering import Asked, Page
from preflights_es.surfaces.view.server import page
from preflights_es.use.decisions import listing


def decided(asked: Asked) -> Page:
    """Those in force."""
    found = listing(asked.request)
    values = {"title": "Decisions", "section": "decisions", "rows": tuple(found.rows)}
    return Page("decisions.html", values, "preflights decisions")


ROUTES: Final = (page("/", decided),)
