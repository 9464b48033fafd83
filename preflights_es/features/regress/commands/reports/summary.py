"""Markdown for the summary of a job, which holds more than a comment."""

from __future__ import annotations

from preflights_es.features.regress.commands.reports import markdown
from preflights_es.features.regress.engine.results import Report


def render(report: Report) -> str:
    """At most what a host takes of one step."""
    return markdown.render(report, markdown.SUMMARY_MAX)
