"""Asking what was decided, in the person's words."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.recall.domain.events import FoundRecord
from preflights_es.features.recall.domain.state import RecallView, Remembered
from preflights_es.features.recall.use import recall
from preflights_es.kernel.ids import short_session
from preflights_es.surfaces.mcp_calls import ToolCall
from preflights_es.surfaces.mcp_rounds import Arguments, Tool, ToolResult
from preflights_es.use.request import Request


class RecallQuestion(Arguments, frozen=True):
    """Of `recall`."""

    question: str


class RecalledDecisions(ToolResult, frozen=True, kw_only=True):
    """The decisions that a question is about, the best first."""

    decisions: list[dict[str, Any]]


async def _recall(call: ToolCall, given: RecallQuestion) -> RecalledDecisions:
    def asked(request: Request) -> RecalledDecisions:
        found = recall(request, given.question)
        assert isinstance(found, RecallView), "what a recall comes to"
        told = [*map(_remembered_for_agent, found.results), *map(_record_for_agent, found.records)]
        return RecalledDecisions(decisions=told, notices=found.warnings)

    return await call.run(asked)


def _remembered_for_agent(one: Remembered) -> dict[str, Any]:
    return {
        "session": short_session(one.session_id),
        "title": one.title,
        "status": one.status,
        "topic": one.category,
        "decided": dict(one.fields),
        "date": one.date[:10],
        **({"line": one.line} if one.line else {}),
    }


def _record_for_agent(one: FoundRecord) -> dict[str, Any]:
    """Of another tool."""
    return {"record": one.path, "title": one.title, "status": one.status, "date": one.date[:10]}


TOOLS: Final = (
    Tool(
        name="recall",
        description="Decisions that a question is about, also in other words.",
        run=_recall,
        reads=True,
    ),
)
