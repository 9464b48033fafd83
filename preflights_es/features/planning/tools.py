"""The plan of today."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.features.planning.use import today
from preflights_es.surfaces.mcp_calls import ToolCall
from preflights_es.surfaces.mcp_rounds import Nothing, Tool, ToolResult
from preflights_es.use.request import Request


class Today(ToolResult, frozen=True, kw_only=True):
    """The blocks of a day, in their order, and the tasks that have none."""

    day: str
    timeline: list[dict[str, Any]]
    not_planned: list[dict[str, Any]]
    reasoning: str = ""


async def _today(call: ToolCall, _: Nothing) -> Today:
    def planned(request: Request) -> Today:
        told: Any = today(request)
        return Today(
            day=told.day,
            timeline=msgspec.to_builtins(told.timeline),
            not_planned=msgspec.to_builtins(told.not_planned),
            reasoning=told.reasoning,
            notices=told.warnings,
        )

    return await call.run(planned)


TOOLS: Final = (Tool(name="today", description="The plan of today.", run=_today, repeats=True),)
