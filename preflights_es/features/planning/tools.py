"""The plan of today."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.features.planning.use import today
from preflights_es.surfaces.mcp.call import Call
from preflights_es.surfaces.mcp.rounds import Given, Nothing, Tool
from preflights_es.use.request import Request


class Today(Given, frozen=True, kw_only=True):
    """The blocks of a day, in their order, and the tasks that have none."""

    day: str
    timeline: list[dict[str, Any]]
    not_planned: list[dict[str, Any]]
    reasoning: str = ""


async def _today(call: Call, _: Nothing) -> Today:
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


TOOLS: Final = (
    Tool(
        name="today",
        description="The plan of today.",
        run=_today,
        repeats=True,
    ),
)
