"""Markdown for the summary of a job, which holds more than a comment."""

from __future__ import annotations

from preflights_cli.reports import markdown
from preflights_es.replay.regress.results import Report


def render(report: Report) -> str:
    """At most what a host takes of one step."""
    return markdown.render(report, markdown.SUMMARY_MAX)
