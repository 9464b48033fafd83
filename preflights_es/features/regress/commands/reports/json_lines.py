"""JSON Lines: the report without its sessions on the first line, then a session a line."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.features.regress.engine.results import Report
from preflights_es.kernel.json import encoded


def render(report: Report) -> str:
    """As `docs/api.md` describes `regress/1`; the first line has no `cases`."""
    lines = (replace(report, cases=()), *report.cases)
    return "".join(f"{encoded(line).decode()}\n" for line in lines)
